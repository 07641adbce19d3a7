"""Rebuilds the dossier of one server from a dataset, and lists the evidence that is missing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field

from evidence.canonical import sha256
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType, server_id
from publish.datasets.format.columns import Row
from publish.datasets.format.tables import BODIES, EVIDENCE, JSONL, OUTCOMES, SERVERS, Table, table_file_name
from publish.datasets.rows.evidence_bodies import HANDED_OUT, PRIVATE, BodyState
from publish.datasets.verification.problems import Problem, ProblemKind, show_value
from publish.disclosure import PRIVATE_KINDS, PRIVATE_RULES
from scoring.engine.assessment import Question
from scoring.engine.evidence_kinds import kinds_of_question

MASKED_TEXT = "[secret]"
"""The replacement of a masked secret; a masked address no longer gives its server's id."""

_TARGETS = {kind.value: kind for kind in TargetType}
_REASONS = {reason.value: reason for reason in Reason}


class RebuiltDossier(Struct):
    """A dossier from published rows. `missing` are observed kinds whose original body is not published.

    `left_out`: answers that private rules read are removed from a published body. `rows` are all rows of the server.
    """

    dossier: Dossier
    missing: frozenset[str]
    left_out: bool
    rows: Mapping[str, Sequence[Row]]
    problems: list[Problem] = field(default_factory=list)

    @property
    def failed(self) -> frozenset[str]:
        """The public rules with findings in the table of outcomes."""
        return frozenset(row["rule"] for row in self.rows.get(OUTCOMES.name, ()) if row["findings"])

    def lacks(self, question: Question) -> bool:
        """Whether some evidence that a question reads is not public."""
        if self.left_out and question.rule in PRIVATE_RULES:
            return True
        return bool(kinds_of_question(question) & (self.missing | PRIVATE_KINDS))


def rebuild_dossier(rows: Mapping[str, Sequence[Row]], as_of: datetime) -> RebuiltDossier | Problem:
    """The dossier of one server, or a problem if its row is missing or wrong."""
    servers = rows.get(SERVERS.name, ())
    if len(servers) != 1:
        some = next((row for found in rows.values() for row in found), None)
        server = some["server"] if some else ""
        return _problem(SERVERS, server, "one row of the server", f"{len(servers)} rows", fault=ProblemKind.ROWS)
    row = servers[0]
    unknown = set(row["targets"]) - _TARGETS.keys()
    if unknown:
        return _problem(SERVERS, row["server"], f"targets of {', '.join(_TARGETS)}", show_value(min(unknown)))
    server = Server(
        ref=row["ref"],
        name=row["name"],
        targets=tuple(Target(type=_TARGETS[name], identifier="") for name in row["targets"]),
        repository=row["repository"],
        seen_in=tuple(row["seen_in"]),
    )
    if server_id(server.ref) != row["server"] and MASKED_TEXT not in server.ref:
        return _problem(
            SERVERS, row["server"], f"the id of its ref, {server_id(server.ref)}", show_value(row["server"])
        )
    evidence = list(rows.get(EVIDENCE.name, ()))
    bodies = {body["kind"]: body for body in rows.get(BODIES.name, ())}
    rebuilt = RebuiltDossier(
        Dossier(server=server, as_of=as_of),
        frozenset(one["kind"] for one in evidence if _is_missing(one)),
        any(one["body"] == BodyState.REDACTED and one["body_reason"] == PRIVATE for one in evidence),
        rows,
    )
    records: dict[str, Record] = {}
    for one in evidence:
        rebuilt.problems += _wrong(one, bodies.pop(one["kind"], None))
        if (content := _content(one, rows)) is not None:
            records[one["kind"]] = _record(one, content, as_of)
    rebuilt.problems += [
        _problem(BODIES, row["server"], "a row of its kind in evidence", show_value(kind)) for kind in bodies
    ]
    rebuilt.dossier = Dossier(server=server, as_of=as_of, records=records)
    return rebuilt


def _is_missing(row: Row) -> bool:
    return bool(
        row["body"] == BodyState.WITHHELD
        or (row["body"] == BodyState.REDACTED and row["body_reason"] not in {PRIVATE, HANDED_OUT})
    )


def _wrong(row: Row, body: Row | None) -> Iterator[Problem]:
    """Mismatches between a row of evidence and its body."""
    server, kind = row["server"], row["kind"]
    should = row["state"] == "observed" and row["body"] != BodyState.WITHHELD
    if should is not (body is not None):
        yield _problem(BODIES, server, "a body" if should else "no body", "none" if should else "one", at=kind)
    elif body is not None:
        found = sha256(_bytes(body))
        if not found == row["digest"] == body["digest"]:
            yield _problem(BODIES, server, f"SHA-256 {show_value(row['digest'])}", found, at=kind)
    elif row["state"] == "absent":
        absent = _absent(row)
        if absent is None:
            yield _problem(EVIDENCE, server, "a reason of the closed list", show_value(row["reason"]), at=kind)
        elif absent.digest != row["digest"]:
            yield _problem(EVIDENCE, server, f"digest {absent.digest}", show_value(row["digest"]), at=kind)


def _content(row: Row, rows: Mapping[str, Sequence[Row]]) -> Observed | Absent | None:
    if row["state"] == "absent":
        return _absent(row)
    body = next((one for one in rows.get(BODIES.name, ()) if one["kind"] == row["kind"]), None)
    return Observed(_bytes(body)) if body else None


def _absent(row: Row) -> Absent | None:
    reason = _REASONS.get(row["reason"] or "")
    return Absent(reason, row["detail"] or "") if reason else None


def _bytes(body: Row) -> bytes:
    """The bytes of a body; empty for invalid base64, which matches no digest."""
    if body["encoding"] != "base64":
        return str(body["body"]).encode()
    try:
        return base64.b64decode(body["body"], validate=True)
    except (binascii.Error, ValueError):
        return b""


def _record(row: Row, content: Observed | Absent, as_of: datetime) -> Record:
    return Record(
        server=row["server"],
        kind=row["kind"],
        schema=row["schema"],
        collector=row["collector"],
        collector_version=row["collector_version"],
        observed_at=as_of,
        content=content,
    )


def _problem(
    table: Table, server: str, expected: str, found: str, *, fault: ProblemKind = ProblemKind.EVIDENCE, at: str = ""
) -> Problem:
    return Problem(
        fault=fault,
        file=table_file_name(table, JSONL),
        server=show_value(server),
        at=show_value(at),
        expected=expected,
        found=found,
    )
