"""Made-up servers of which more than the listing was observed: talkative ones, locked ones, and hostile ones."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from evidence.canonical import Json, canonical_json
from evidence.kinds import access, exchanges, interop, samples, trials
from evidence.kinds.samples import Sample
from evidence.model import Absent, Dossier, Observed, Reason, Record
from scoring.example_builders import server_access
from scoring.example_builders.conversation import build_exchanges_body, legacy_exchange
from tests.publish.samples import AS_OF, absent_dossier, dossiers, hostile_dossier

SECRET = "hunter2hunter2"


def talkative(word: str = "ordinary") -> Dossier:
    """A server with every kind of evidence; `word` stands wherever a server's own words may."""
    said = (
        legacy_exchange(
            "initialize",
            result={"protocolVersion": "2025-11-25", "instructions": word},
            sent={"jsonrpc": "2.0", "id": 1, "method": "initialize"},
            headers={"content-type": "application/json", "mcp-session-id": "session 0"},
        ),
        legacy_exchange("ping", result=word, headers={"mcp-session-id": "k7"}),
        legacy_exchange("list-tools", received=[{"message": {"jsonrpc": "2.0", "id": 2}, "listed": ["tools", 0]}]),
        legacy_exchange(
            "unknown-method", error={"code": -32601, "message": f"{word} password={SECRET}", "token": SECRET}
        ),
        legacy_exchange("cursor-invented", failure=("timeout", word), received=[{"text": word}], status=None),
    )
    seen = server_access.build_open_access(
        "open",
        resource_metadata=[{**server_access.metadata_request(), "url": word, "problem": word}],
        authorization_servers=[],
    )
    return with_kinds(
        dossiers(1)[0],
        {
            exchanges.KIND: build_exchanges_body(*said),
            access.KIND: seen.seen.body,
            trials.KIND: {"policy": "read", "trials": _trials(word), "skipped": [_skipped(word)], "unlisted": 2},
            interop.KIND: {
                "client": "mcp",
                "version": "2.3.0",
                "connected": True,
                "negotiated": word,
                "listed": {"tools": 3},
                "said": {"asked": "prompts/list", "error": "McpError", "code": -1, "message": word},
            },
        },
    )


def hostile(word: str) -> Dossier:
    """The same about a server whose listing is hostile too."""
    known = talkative(word)
    server = hostile_dossier()
    records = {kind: replace(record, server=server.server.id) for kind, record in known.records.items()}
    return replace(server, records=records | dict(server.records))


def locked_out(*, bogus: tuple[int, str] | None = (401, "oauth_required"), **parts: Any) -> Dossier:
    """A server that wants credentials, with what an invalid token got."""
    locked = server_access.build_protected_access(
        server_access.build_challenge(scope="read", resource_metadata=server_access.HEADER_URL),
        resource=server_access.build_resource_metadata(),
        bogus=bogus,
        **parts,
    )
    reason = Absent(Reason.OAUTH_REQUIRED, "HTTP 401")
    known = with_kinds(absent_dossier(reason.reason, reason.detail), {access.KIND: locked.seen.body})
    nothing = {
        kind: replace(known.records[access.KIND], kind=kind, content=reason, observation={})
        for kind in (exchanges.KIND, trials.KIND)
    }
    return replace(known, records={**known.records, **nothing})


def with_kinds(dossier: Dossier, bodies: dict[str, Any]) -> Dossier:
    """The dossier with these bodies, and samples of four attempts to connect."""
    attempts = [Sample(at=AS_OF - timedelta(days=day), cold_ms=100.0 + day, warm_ms=20.0) for day in (3, 2, 1)]
    attempts.append(Sample(at=AS_OF, failure=samples.TIMEOUT))
    contents = {kind: Observed(json.dumps(body).encode()) for kind, body in bodies.items()}
    observations: dict[str, dict[str, Json]] = {
        access.KIND: {"requests": 3, "asked": [{"method": "initialize", "status": 200, "ms": 12.5}]},
        trials.KIND: {"calls": [{"tool": "t", "kind": "call", "ms": 1234.5}, {"ms": "soon"}]},
        samples.KIND: samples.write_samples(attempts),
    }
    contents[samples.KIND] = samples.compose_samples(attempts)
    made = {kind: _record(dossier, kind, content, observations.get(kind, {})) for kind, content in contents.items()}
    return replace(dossier, records={**dossier.records, **made})


def rewritten(dossier: Dossier, kind: str, body: Json) -> Dossier:
    """The dossier with another body of one kind."""
    content = Observed(canonical_json(body))
    return replace(dossier, records={**dossier.records, kind: replace(dossier.records[kind], content=content)})


def _record(dossier: Dossier, kind: str, content: Observed, observation: dict[str, Json]) -> Record:
    return Record(
        server=dossier.server.id,
        kind=kind,
        schema=1,
        collector="protocol",
        collector_version=1,
        observed_at=AS_OF,
        content=content,
        observation=observation,
    )


def _trials(word: str) -> list[dict[str, Any]]:
    made = {"index": 0, "tool": word, "class": "read", "basis": "name", "why": word, "kind": "call"}
    return [
        {**made, "outcome": "result", "content": ["text"], "structured": "invalid", "complaint": word},
        {**made, "outcome": "tool_error", "text": word, "kind": "invalid_type", "parameter": word},
        {**made, "outcome": "failure", "reason": "timeout", "detail": word, "arguments": {word: word * 200}},
    ]


def _skipped(word: str) -> dict[str, Any]:
    return {"index": 1, "tool": word, "class": "write", "basis": "name", "why": word, "reason": "not_read"}
