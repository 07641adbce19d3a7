"""Rule `remote-secret-in-url`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_remote
from scoring.results.outcome import Severity
from scoring.scopes.base import Remote
from scoring.text.evidence_path import clip_text
from scoring.text.secret_names import is_secret_name


@rule(
    "remote-secret-in-url",
    scope=Remote,
    reads="registration",
    severity=Severity.WARNING,
    title="A secret is in the URL of a remote",
    remedy="Remove the secret from the query of the `url`. Use OAuth, or accept the credential in a header that "
    '`headers` of the remote declares with `"isSecret": true`.',
    since="2026.1",
    version=1,
    fix=(
        build_remote(url="https://notes.example/mcp?api_key={key}"),
        build_remote(headers=[{"name": "Authorization", "isRequired": True, "isSecret": True}]),
    ),
    good=[build_remote(url="https://notes.example/mcp?lang=en"), build_remote(url="https://notes.example/api_key/mcp")],
)
def remote_secret_in_url(remote: Remote) -> Iterator[str]:
    """URLs are written to logs, browser histories and error reports, so a secret must not be in one.
    Send credentials in a header, or use OAuth.
    """
    query = remote.text("url").partition("?")[2]
    names = [part.partition("=")[0] for part in query.split("&")]
    for name in names:
        if is_secret_name(name):
            yield f"the query parameter {clip_text(name)} has the name of a secret"
