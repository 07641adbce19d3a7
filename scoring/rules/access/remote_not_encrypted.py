"""Rule `remote-not-encrypted`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.examples import remote
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import rule
from scoring.scope import Remote

_LOOPBACK = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(:|/|$)")


@rule(
    "remote-not-encrypted",
    scope=Remote,
    reads="registration",
    severity=Severity.ERROR,
    title="Remote is not reached over HTTPS",
    since="2026.1",
    version=1,
    good=[remote(url="https://notes.example/mcp"), remote(url="http://localhost:8080/mcp")],
    bad=[remote(url="http://notes.example/mcp"), remote(url="http://localhost.notes.example/mcp"), remote(url=None)],
)
def remote_not_encrypted(remote: Remote) -> Iterator[str]:
    """Over plain HTTP anybody on the way can read tokens and change answers."""
    url = remote.text("url").lower()
    if not url.startswith("https://") and not _LOOPBACK.match(url):
        yield f"{clip(url) or 'no url'}, https expected"
