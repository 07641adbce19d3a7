"""Dossiers made of a few keywords."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from evidence.kinds import exchanges, listing, registration
from evidence.model import Absent, Dossier, Observed, Record, Server
from scoring.example_builders.conversation import build_exchanges_body
from tests.dossiers import AS_OF

GOOD_TOOL = {
    "name": "get-record",
    "title": "Get a record",
    "description": "Retrieves one record by its identifier.",
    "inputSchema": {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "Identifier of the record."}},
        "required": ["id"],
    },
    "outputSchema": {"type": "object", "properties": {"record": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
GOOD_ENTRY = {
    "name": "io.example/notes",
    "title": "Notes",
    "description": "Reads and searches the notes of one person.",
    "version": "1.0.0",
    "websiteUrl": "https://notes.example",
    "repository": {"url": "https://code.example/notes", "source": "git"},
    "packages": [
        {
            "registryType": "npm",
            "identifier": "notes-mcp",
            "version": "1.0.0",
            "transport": {"type": "stdio"},
            "environmentVariables": [
                {"name": "NOTES_API_KEY", "description": "Key of your account.", "isSecret": True}
            ],
        }
    ],
    "remotes": [{"type": "streamable-http", "url": "https://notes.example/mcp"}],
}


def dossier(*, listed: Observed | Absent | None = None, registered: Observed | Absent | None = None) -> Dossier:
    server = Server(ref="npm:notes-mcp", name="notes")
    contents = {listing.KIND: listed, registration.KIND: registered}
    records = {
        kind: Record(
            server=server.id,
            kind=kind,
            schema=1,
            collector="test",
            collector_version=1,
            observed_at=AS_OF,
            content=content,
        )
        for kind, content in contents.items()
        if content is not None
    }
    return Dossier(server=server, as_of=AS_OF, records=records)


def listed(*tools: Any, opening: dict[str, Any] | None = None, **lists: Any) -> Observed:
    """A listing with these tools on one page; other lists by name as one page of items, or as a whole part."""
    parts = {"tools": list(tools), **lists}
    capabilities = {("resources" if name == "resourceTemplates" else name): {} for name in parts}
    body = {
        "transport": "stdio",
        "era": "legacy",
        "protocolVersion": "2025-11-25",
        "opening": {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "notes", "version": "1.0.0"},
            "instructions": "Search first, then read.",
            **(opening or {}),
        },
        "lists": {name: part if isinstance(part, dict) else _page(name, part) for name, part in parts.items()},
    }
    return Observed(json.dumps(body).encode())


def entered(*entries: Any) -> Observed:
    refs = [{"registry": "starter", "name": "io.example/notes", "entry": entry} for entry in entries]
    return Observed(json.dumps({"refs": refs}).encode())


def _page(name: str, items: list[Any]) -> dict[str, Any]:
    return {"declared": True, "end": "complete", "error": None, "pages": [{name: items}]}


def talked(*said: dict[str, Any], depth: str = "full", over: Dossier | None = None) -> Dossier:
    """A dossier with a recorded conversation, alone or added to another."""
    known = over or dossier()
    record = Record(
        server=known.server.id,
        kind=exchanges.KIND,
        schema=exchanges.SCHEMA,
        collector="t",
        collector_version=1,
        observed_at=AS_OF,
        content=Observed(json.dumps(build_exchanges_body(*said, depth=depth)).encode()),
    )
    return replace(known, records={**known.records, exchanges.KIND: record})
