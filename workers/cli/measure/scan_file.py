"""A dossier as one JSON file, which people can read and Hallmark can score again: `scan --save` and `scan --from`.

Bodies are included as JSON, byte for byte. The length in `bytes` before a body is used to find it again, so that its
white space and numbers stay as they are.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import to_builtins
from msgspec.structs import replace

from evidence.canonical import NotJson, parse_json
from evidence.kinds import falls, package, repository, secrets
from evidence.launch_options import LaunchOptions
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from evidence.package_inputs import PackageInput
from evidence.recorded_capture import dossier_from_capture
from publish.disclosure import PRIVATE_KINDS, redact_record

FORMAT: Final = 2
_REMOVALS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    secrets.KIND: secrets.remove_places,
    falls.KIND: falls.remove_questions,
}
_LEFT_OUT: Final = PRIVATE_KINDS - _REMOVALS.keys()
_BODY: Final = re.compile(rb'"bytes": ([0-9]{1,9}), "body":\n')


class InvalidSavedDossier(ValueError):
    """The bytes are not a saved dossier of a known format; the message is for people."""


def encode_dossier(dossier: Dossier) -> bytes:
    """The dossier with all bodies, as JSON that `decode_dossier` reads, without private kinds that no verdict needs.

    Saved files are passed on, for example in bug reports, so they contain only what the verdict needs: of secrets how
    much was searched and which patterns matched, without places (docs/decisions/0020), of falls no questions.
    """
    shared = [_shared(record) for kind, record in sorted(dossier.records.items()) if kind not in _LEFT_OUT]
    head = {"hallmark_dossier": FORMAT, "server": to_builtins(dossier.server), "as_of": dossier.as_of.isoformat()}
    records = b",\n".join(map(_record, shared))
    return json.dumps(head, sort_keys=True).encode()[:-1] + b', "records": [\n' + records + b"\n]}\n"


def decode_dossier(data: bytes, now: datetime) -> Dossier:
    """The dossier of a saved file or of a recorded capture; raise InvalidSavedDossier or InvalidCapture."""
    try:
        document = parse_json(data, max_bytes=256 * 1024 * 1024)
    except NotJson as error:
        raise InvalidSavedDossier(f"expected a file written by `scan --save` or a recorded capture: {error}") from error
    if not isinstance(document, Mapping) or "hallmark_dossier" not in document:
        return dossier_from_capture(data, now)
    if document["hallmark_dossier"] not in {1, FORMAT}:
        raise InvalidSavedDossier(f"expected saved evidence of format {FORMAT}, found {document['hallmark_dossier']}")
    try:
        return _dossier(dict(document), iter(list(_bodies(data))))
    except StopIteration as error:
        raise InvalidSavedDossier(
            "the saved evidence was reformatted, so its contents differ from the recorded digests"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidSavedDossier(f"the saved evidence is damaged: {type(error).__name__} at {error}") from error


def _shared(record: Record) -> Record:
    """The record without the places of secrets, without the questions of falls, and without data about the operator,
    such as a private package index or the rights of a token."""
    if remove := _REMOVALS.get(record.kind):
        return _without_details(record, remove)
    return redact_record(record) if record.kind in {package.KIND, repository.KIND} else record


def _without_details(record: Record, remove: Callable[[bytes], bytes]) -> Record:
    content = record.content
    if isinstance(content, Absent):
        return replace(record, content=Absent(content.reason), observation={})
    return replace(record, content=Observed(remove(content.body)), observation={})


def _record(record: Record) -> bytes:
    row: dict[str, Any] = {
        "kind": record.kind,
        "schema": record.schema,
        "collector": record.collector,
        "collector_version": record.collector_version,
        "observed_at": record.observed_at.isoformat(),
        "observation": dict(record.observation),
        "digest": record.digest,
    }
    if isinstance(record.content, Absent):
        return json.dumps(
            row | {"absent": {"reason": record.content.reason.value, "detail": record.content.detail}}
        ).encode()
    body = record.content.body
    return json.dumps(row).encode()[:-1] + b', "bytes": %d, "body":\n%b}' % (len(body), body)


def _bodies(data: bytes) -> Iterator[bytes]:
    """The bodies in the order of the file; text inside a body is not searched."""
    at = 0
    while found := _BODY.search(data, at):
        at = found.end() + int(found[1])
        yield data[found.end() : at]


def _dossier(document: dict[str, Any], bodies: Iterator[bytes]) -> Dossier:
    server = _server(document["server"])
    records = [_read_record(server, row, bodies) for row in document["records"]]
    as_of = datetime.fromisoformat(document["as_of"])
    return Dossier(server=server, as_of=as_of, records={record.kind: record for record in records})


def _server(row: dict[str, Any]) -> Server:
    targets = tuple(_target(target) for target in row["targets"])
    return Server(**{**row, "targets": targets, "seen_in": tuple(row["seen_in"])})


def _target(row: dict[str, Any]) -> Target:
    pairs = {name: tuple((key, value) for key, value in row[name]) for name in ("environment", "headers")}
    inputs = tuple(map(PackageInput.from_json, row.get("inputs", ())))
    members = {"type": TargetType(row["type"]), "arguments": tuple(row["arguments"]), "inputs": inputs}
    return Target(**{**row, **pairs, **members, "launch": LaunchOptions.from_json(row.get("launch", {}))})


def _read_record(server: Server, row: dict[str, Any], bodies: Iterator[bytes]) -> Record:
    absent = row.get("absent")
    content: Observed | Absent
    if absent is not None:
        content = Absent(Reason(absent["reason"]), absent["detail"])
    elif "bytes" in row:
        content = Observed(next(bodies))
    else:
        content = Observed(base64.b64decode(row["body"], validate=True))
    if content.digest != row["digest"]:
        raise ValueError(f"digest of {row['kind']}")
    return Record(
        server=server.id,
        kind=row["kind"],
        schema=row["schema"],
        collector=row["collector"],
        collector_version=row["collector_version"],
        observed_at=datetime.fromisoformat(row["observed_at"]),
        content=content,
        observation=row["observation"],
    )
