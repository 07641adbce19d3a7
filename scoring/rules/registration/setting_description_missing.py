"""Rule `setting-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_setting
from scoring.results.outcome import Severity
from scoring.scopes.base import Setting


@rule(
    "setting-description-missing",
    scope=Setting,
    reads="registration",
    severity=Severity.WARNING,
    title="A setting is not explained",
    remedy="Add `description` to the variable or header in the registry entry. State what the value is and where the "
    "user gets it.",
    since="2026.1",
    version=1,
    fix=(build_setting(description=UNDEFINED), build_setting()),
    bad=[build_setting(description=None), build_setting(description=" ")],
)
def setting_description_missing(setting: Setting) -> Iterator[str]:
    """A user who installs the server must provide this value and needs to know what it is and where to get it."""
    if not setting.text("description"):
        yield "no description"
