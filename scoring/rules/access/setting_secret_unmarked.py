"""Rule `setting-secret-unmarked`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_setting
from scoring.results.outcome import Severity
from scoring.scopes.base import Setting
from scoring.text.secret_names import is_secret_name


@rule(
    "setting-secret-unmarked",
    scope=Setting,
    reads="registration",
    severity=Severity.WARNING,
    title="A secret is not declared as a secret",
    remedy="Set `isSecret` to `true` for this environment variable or header in the registration.",
    since="2026.1",
    version=1,
    fix=(
        build_setting("NOTES_API_KEY", description="Key of your account."),
        build_setting("NOTES_API_KEY", description="Key of your account.", isSecret=True),
    ),
    good=[build_setting("NOTES_API_KEY", isSecret=True), build_setting("MAX_TOKENS"), build_setting("KEYBOARD")],
    bad=[
        build_setting("NOTES_API_KEY"),
        build_setting("Authorization"),
        build_setting("githubToken"),
        build_setting("DB_PASSWORD", isSecret=False),
    ],
)
def setting_secret_unmarked(setting: Setting) -> Iterator[str]:
    """A value that is marked `isSecret` is kept out of files, logs and screens by clients.

    Clients treat an unmarked value like any other text.
    """
    marked = setting.raw.get("isSecret") is True or setting.raw.get("is_secret") is True
    if is_secret_name(setting.text("name")) and not marked:
        yield "the name is that of a secret, and isSecret is not true"
