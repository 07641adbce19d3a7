"""Rule `address-takes-token`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.access_scope import Access
from scoring.accessing import locked, looked
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import Answer, must, rule
from scoring.secret_names import is_secret_name


@rule(
    "address-takes-token",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="The registered address takes a token in its query",
    since="2026.2",
    version=1,
    checks=must("AUTH-14", "BCDE", "basic/authorization#token-requirements"),
    good=[looked(), looked(registered="https://notes.example/mcp?lang=[removed]"), locked()],
    bad=[
        looked(registered="https://notes.example/mcp?api_key=[removed]"),
        locked(registered="https://notes.example/mcp?a=b&token=[removed]"),
    ],
    unjudged=[locked(revision="2024-11-05", step="list-tools")],
)
def address_takes_token(access: Access) -> Iterator[Answer]:
    """Addresses end up in logs, histories and error reports, so a token must not be in one.

    Take it in the `Authorization` header.
    """
    query = access.seen.registered.partition("?")[2].partition("#")[0]
    for part in query.split("&"):
        name = part.partition("=")[0]
        if is_secret_name(name):
            yield f"query parameter {clip(name)}"
