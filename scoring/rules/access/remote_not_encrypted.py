"""Rule `remote-not-encrypted`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_remote
from scoring.results.outcome import Severity
from scoring.scopes.base import Remote
from scoring.text.evidence_path import clip_text

_LOOPBACK = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(:|/|$)")


@rule(
    "remote-not-encrypted",
    scope=Remote,
    reads="registration",
    severity=Severity.ERROR,
    title="The URL of a remote is not HTTPS",
    remedy="Serve the remote over TLS, and set `url` of the remote in the registration to its HTTPS URL.",
    since="2026.1",
    version=1,
    fix=(build_remote(url="http://notes.example/mcp"), build_remote()),
    good=[build_remote(url="http://localhost:8080/mcp")],
    bad=[build_remote(url="http://localhost.notes.example/mcp"), build_remote(url=None)],
)
def remote_not_encrypted(remote: Remote) -> Iterator[str]:
    """Over plain HTTP any intermediary can read tokens and change responses."""
    url = remote.text("url").lower()
    if not url.startswith("https://") and not _LOOPBACK.match(url):
        yield f"{clip_text(url) or 'no URL'}, HTTPS expected"
