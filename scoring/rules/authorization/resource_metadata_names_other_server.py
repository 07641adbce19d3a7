"""Rule `resource-metadata-names-other-server`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    ISSUER,
    URL,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
)
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.server_access import Access
from scoring.text.evidence_path import clip_text

_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_PORTS: Final = {"https": ":443", "http": ":80"}


@rule(
    "resource-metadata-names-other-server",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="Resource metadata names another server",
    remedy="Set `resource` in the protected resource metadata to the registered URL of the server, with the same "
    "scheme, host, port and path. Configure the public URL if the server is behind a proxy.",
    since="2026.2",
    version=1,
    checks=must("AUTH-04", "CDE", "basic/authorization/authorization-server-discovery#authorization-server-location"),
    fix=write_snippet(
        Language.JSON,
        "Protected resource metadata of `https://notes.example/mcp`",
        before="""
        {
          "resource": "http://localhost:8080/mcp",
          "authorization_servers": ["https://login.example"]
        }
        """,
        after="""
        {
          "resource": "https://notes.example/mcp",
          "authorization_servers": ["https://login.example"]
        }
        """,
    ),
    good=[
        build_protected_access(resource=build_resource_metadata()),
        build_protected_access(resource=build_resource_metadata(resource="HTTPS://Notes.example:443/mcp")),
        build_protected_access(resource=build_resource_metadata(), registered=f"{URL}?key=[removed]"),
    ],
    bad=[
        build_protected_access(resource=build_resource_metadata(resource="https://other.example/mcp")),
        build_protected_access(resource=build_resource_metadata(resource="http://notes.example/mcp")),
        build_protected_access(resource=build_resource_metadata(resource="https://notes.example/sse")),
        build_protected_access(resource=build_resource_metadata(resource="https://notes.example/mcp/")),
        build_protected_access(resource=build_resource_metadata(resource="https://notes.example")),
    ],
    unjudged=[build_open_access(), build_protected_access(resource={"authorization_servers": [ISSUER]})],
)
def resource_metadata_names_other_server(access: Access) -> Iterator[Answer]:
    """`resource` must be the URL that the client uses (RFC 9728, section 3.3), or the client discards the document.

    Otherwise a token for one server could be requested in the name of another. Behind a proxy, configure the public
    URL. A difference in the last slash is tolerated, and so is a `resource` that is the origin or a parent of the URL:
    clients accept both.
    """
    named = access.resource.get("resource")
    if not isinstance(named, str):
        raise Inapplicable("no resource is named")
    expected, found = _parts(access.seen.registered), _parts(named)
    if found == expected:
        return
    if found[0] == expected[0] and f"{expected[1]}/".startswith(f"{found[1].rstrip('/')}/"):
        yield Tolerated(f"{clip_text(named)}, {clip_text(access.seen.registered)} expected", "resource")
    else:
        yield "resource", f"{clip_text(named)}, {clip_text(access.seen.registered)} expected"


def _parts(address: str) -> tuple[str, str]:
    """Origin and path of an address in normal form (RFC 3986, section 6.2); its query is masked and left out."""
    match = _ADDRESS.match(address)
    if match is None:
        return address, ""
    scheme, host, path = match[1].lower(), match[2].lower(), match[3]
    return f"{scheme}://{host.removesuffix(_PORTS.get(scheme, ':'))}", "" if path == "/" else path
