"""Rule `resource-metadata-incomplete`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    URL,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
    metadata_request,
)
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access


@rule(
    "resource-metadata-incomplete",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="Resource metadata names no resource or no authorization server",
    remedy="Set `resource` in the protected resource metadata to the URL of the MCP server, and "
    "`authorization_servers` to a list of at least one issuer URL.",
    since="2026.2",
    version=1,
    checks=must("AUTH-03", "CDE", "basic/authorization/authorization-server-discovery#authorization-server-location"),
    fix=write_snippet(
        Language.JSON,
        "Protected resource metadata",
        before='{"resource": "https://notes.example/mcp", "authorization_servers": []}',
        after="""
        {
          "resource": "https://notes.example/mcp",
          "authorization_servers": ["https://login.example"]
        }
        """,
    ),
    good=[build_protected_access(resource=build_resource_metadata())],
    bad=[
        build_protected_access(resource={"resource": URL}),
        build_protected_access(resource=build_resource_metadata(authorization_servers=[])),
        build_protected_access(resource=build_resource_metadata(resource=7)),
        build_protected_access(resource=build_resource_metadata(authorization_servers="https://login.example")),
    ],
    unjudged=[
        build_open_access(),
        build_protected_access(),
        build_protected_access(resource_metadata=[metadata_request(429)]),
    ],
)
def resource_metadata_incomplete(access: Access) -> Iterator[Answer]:
    """`resource` identifies the protected resource, and `authorization_servers` lists the issuers of its tokens.

    RFC 9728 makes the second member optional; MCP requires at least one authorization server.
    """
    document = access.resource
    resource, servers = document.get("resource"), document.get("authorization_servers")
    if not isinstance(resource, str) or not resource:
        yield "resource", "a non-empty string expected"
    if not isinstance(servers, list) or not any(isinstance(one, str) and one for one in servers):
        yield "authorization_servers", "a list of at least one URL expected"
