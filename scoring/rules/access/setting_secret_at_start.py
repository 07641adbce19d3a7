"""Rule `setting-secret-at-start`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_setting
from scoring.results.outcome import Severity
from scoring.scopes.base import Setting
from scoring.text.secret_names import is_secret_name


@rule(
    "setting-secret-at-start",
    scope=Setting,
    reads="registration",
    severity=Severity.WARNING,
    title="A credential is set when the server starts",
    remedy="Accept the credential in the `Authorization` header of each HTTP request. Remove the environment "
    "variable from the registration.",
    since="2026.1",
    version=1,
    fix=(
        build_setting("NOTES_API_KEY", description="Key of your account.", isSecret=True),
        build_setting("Authorization", description="`Bearer` and the key of your account.", isSecret=True),
    ),
    good=[build_setting("NOTES_FOLDER"), build_setting("Authorization", isSecret=True)],
    bad=[build_setting("NOTES_API_KEY", isSecret=True)],
)
def setting_secret_at_start(setting: Setting) -> Iterator[str]:
    """A credential in the environment is the same for all users, and a change of it needs a restart.

    Read the credential from each request, as MCP defines.
    """
    name = setting.text("name")
    secret = setting.raw.get("isSecret") is True or is_secret_name(name)
    if secret and name == name.upper() and "-" not in name:
        yield "an environment variable holds a credential"
