"""Rule `setting-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.examples import setting
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Setting


@rule(
    "setting-description-missing",
    scope=Setting,
    reads="registration",
    severity=Severity.WARNING,
    title="A setting is not explained",
    since="2026.1",
    version=1,
    good=[setting(description="Folder that holds the notes.")],
    bad=[setting(description=None), setting(description=" ")],
)
def setting_description_missing(setting: Setting) -> Iterator[str]:
    """Whoever sets the server up has to provide this value and needs to know what it is and where to get it."""
    if not setting.text("description"):
        yield "no description"
