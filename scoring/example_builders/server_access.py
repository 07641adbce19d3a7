"""Builders for the examples of authorization rules: short access bodies, read through the same view as evidence.

locked(challenge(scope="read"), resource=document(), issuer=metadata())
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evidence.kinds import access as kind
from evidence.kinds.exchanges import LEGACY, MODERN, REVISIONS
from scoring.scopes.server_access import Access

URL: Final = "https://notes.example/mcp"
ISSUER: Final = "https://login.example"
HEADER_URL: Final = "https://notes.example/.well-known/oauth-protected-resource/mcp"


def build_open_access(access_class: str = "open", **members: Any) -> Access:
    """The access evidence of a server without authorization; keywords are members of the body."""
    defaults: dict[str, Any] = {
        "registered": URL,
        "class": access_class,
        "gate": None,
        "versions": {"legacy": "2025-11-25"} if access_class in {"open", "gated_at_list"} else {},
        "answers": [],
        "challenges": [],
        "resource_metadata": [],
        "authorization_servers": [],
        "bogus": None,
        "cut": [],
    }
    return Access(at="access", seen=kind.Access.parse(json.dumps({**defaults, **members}).encode()))


def build_protected_access(
    *challenges: Mapping[str, Any],
    status: int | None = 401,
    reason: str = "oauth_required",
    step: str = "initialize",
    revision: str | None = None,
    resource: Mapping[str, Any] | None = None,
    issuer: Mapping[str, Any] | None = None,
    bogus: tuple[int, str] | None = (401, "oauth_required"),
    **members: Any,
) -> Access:
    """A server that asks for credentials; `resource` and `issuer` are metadata documents, `revision` is a version."""
    where = {"step": step, "status": status, "detail": ""}
    era = MODERN if revision == REVISIONS["E"] else LEGACY
    body = {
        "gate": {**where, "era": "legacy", "reason": reason},
        "versions": {era: revision} if revision else {},
        "challenges": list(challenges),
        "resource_metadata": [metadata_request(document=resource)] if resource is not None else [],
        "authorization_servers": [issuer_requests(metadata_request(document=issuer, by="rfc8414"))]
        if issuer is not None
        else [],
        "bogus": {**where, "status": bogus[0], "outcome": bogus[1]} if bogus else None,
    }
    return build_open_access("gated_at_list" if step.startswith("list-") else "gated_at_connect", **{**body, **members})


def build_challenge(scheme: str = "bearer", **parameters: str) -> dict[str, Any]:
    return {"scheme": scheme, "token68": False, "parameters": parameters}


def build_resource_metadata(**members: Any) -> dict[str, Any]:
    """Valid protected resource metadata; keywords replace members."""
    return {"resource": URL, "authorization_servers": [ISSUER], **members}


def build_issuer_metadata(**members: Any) -> dict[str, Any]:
    """Valid authorization server metadata; keywords replace members."""
    return {
        "issuer": ISSUER,
        "authorization_endpoint": f"{ISSUER}/authorize",
        "token_endpoint": f"{ISSUER}/token",
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
        **members,
    }


def issuer_requests(*attempts: Mapping[str, Any], issuer: str = ISSUER, layout: str = "discovered") -> dict[str, Any]:
    """One authorization server and the requests for its metadata."""
    return {"issuer": issuer, "layout": layout, "attempts": list(attempts)}


def metadata_request(
    status: int | None = 200,
    *,
    by: str = "path",
    document: Mapping[str, Any] | None = None,
    location: str | None = None,
    problem: str = "",
    failure: tuple[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "by": by,
        "url": HEADER_URL,
        "status": status,
        "location": location,
        "document": document,
        "problem": problem or ("" if document is not None or status == 200 else f"HTTP {status}"),
        "failure": {"reason": failure[0], "detail": failure[1]} if failure else None,
    }


def failed_requests(*by: str) -> Sequence[Mapping[str, Any]]:
    """Requests that all get HTTP 404."""
    return [metadata_request(404, by=name) for name in by]
