"""Converts a recorded capture, the initialize result and the four lists of one server as JSON, to a dossier.

    {"package": STRING, "version": STRING, "initialize": RESULT,
     "tools": [...], "resources": [...], "resourceTemplates": [...], "prompts": [...],
     "capture": {"ecosystem": "npm" | "pypi", "transport": STRING, "errors": {"tools/list": ERROR, ...}}}

`capture` may be missing. Page boundaries are not recorded: each recorded list counts as one page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from evidence.canonical import Json, NotJson, parse_json
from evidence.json_members import object_or_empty, text_or_empty
from evidence.kinds import listing
from evidence.kinds.listing import End
from evidence.model import Dossier, Observed, Record, Server, Target, TargetType

COLLECTOR: Final = "capture"
COLLECTOR_VERSION: Final = 1

_METHODS: Final = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}
_ECOSYSTEMS: Final = {"npm": TargetType.NPM, "pypi": TargetType.PYPI}


class InvalidCapture(ValueError):
    """The bytes are not a recorded capture; the message says what was expected and what was found."""


def dossier_from_capture(data: bytes, as_of: datetime) -> Dossier:
    """The dossier of a capture: one listing record, observed at `as_of`; raise InvalidCapture on anything else."""
    document = _document(data)
    recording = object_or_empty(document.get("capture"))
    server, target = _server(document, recording)
    try:
        text = json.dumps(_listing_body(document, recording, target), separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise InvalidCapture(f"a capture holds numbers that fit a double: {error}") from error
    record = Record(
        server=server.id,
        kind=listing.KIND,
        schema=listing.SCHEMA,
        collector=COLLECTOR,
        collector_version=COLLECTOR_VERSION,
        observed_at=as_of,
        content=Observed(text.encode()),
    )
    return Dossier(server=server, as_of=as_of, records={listing.KIND: record})


def _document(data: bytes) -> Mapping[str, Json]:
    try:
        document = parse_json(data)
    except NotJson as error:
        raise InvalidCapture(f"a capture is one JSON object: {error}") from error
    if not isinstance(document, Mapping):
        raise InvalidCapture(f"a capture is one JSON object, found {type(document).__name__}")
    if not isinstance(document.get("initialize"), Mapping):
        raise InvalidCapture("a capture has an object in `initialize`: the result of the initialize request")
    for name in _METHODS:
        if not isinstance(document.get(name, []), list):
            raise InvalidCapture(f"`{name}` of a capture is a list of the items that were listed")
    return document


def _server(document: Mapping[str, Json], recording: Mapping[str, Json]) -> tuple[Server, Target]:
    name = text_or_empty(document.get("package")) or "unnamed"
    version = text_or_empty(document.get("version")) or None
    ecosystem = _ECOSYSTEMS.get(text_or_empty(recording.get("ecosystem")))
    if ecosystem is None:
        target = Target(type=TargetType.COMMAND, identifier=name, version=version)
        return Server(ref=f"capture:{name}", name=name), target
    target = Target(type=ecosystem, identifier=name, version=version)
    return Server(ref=f"{ecosystem}:{name}", name=name, targets=(target,)), target


def _listing_body(document: Mapping[str, Json], recording: Mapping[str, Json], target: Target) -> Json:
    opening = object_or_empty(document.get("initialize"))
    return {
        "target": {"type": target.type.value, "identifier": target.identifier, "version": target.version},
        "transport": text_or_empty(recording.get("transport")) or "stdio",
        "era": "legacy",
        "protocolVersion": opening.get("protocolVersion"),
        "sandbox": "",
        "opening": opening,
        "lists": {name: _list(document, recording, name) for name in _METHODS},
    }


def _list(document: Mapping[str, Json], recording: Mapping[str, Json], name: str) -> Json:
    capabilities = object_or_empty(object_or_empty(document.get("initialize")).get("capabilities"))
    capability = capabilities.get("resources" if name == "resourceTemplates" else name)
    declared = capability is not None and capability is not False
    error = object_or_empty(recording.get("errors")).get(_METHODS[name])
    if error is not None:
        return {"declared": declared, "end": End.ERROR.value, "error": error, "pages": []}
    items = document.get(name, [])
    if not declared and not items:
        return {"declared": False, "end": End.NOT_ASKED.value, "error": None, "pages": []}
    return {"declared": declared, "end": End.COMPLETE.value, "error": None, "pages": [{name: items}]}
