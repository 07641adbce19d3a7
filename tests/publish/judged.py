"""Servers for tests of the gate and the badges: whole ones, of which a test then hides or spoils something."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace

from evidence.kinds import package, registration, samples, source
from evidence.model import Absent, Dossier, Observed, Record
from publish.badges import requirements
from publish.badges.requirements import Judgement
from publish.disclosure import PublicRecords, disclose_dossier, redact_receipt
from publish.private_answers import cite_public_digests
from publish.views.public_servers import PublicServer
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.results.scorecard import Scorecard
from tests.dossiers import recorded
from tests.publish.filled_stores import stored
from tests.scoring.rich import NAME, entry, well_kept

NEWEST = tuple({rubric.id: rubric for rubric in catalogue.list_rubrics()}.values())
STEADY = {"window_days": 30, "samples": 30, "successes": 30, "failures": {}, "days": 28}


def with_records(evidence: Dossier, bodies: Mapping[str, Any]) -> Dossier:
    """The dossier with records of more kinds; a body is a plain value, bytes, or what is absent."""
    model = next(iter(evidence.records.values()))
    records = {
        kind: replace(model, kind=kind, server=evidence.server.id, content=_content(body), observation={})
        for kind, body in bodies.items()
    }
    return replace(evidence, records={**evidence.records, **records})


def _content(body: Any) -> Observed | Absent:
    if isinstance(body, Absent):
        return body
    return Observed(body if isinstance(body, bytes) else json.dumps(body).encode())


@cache
def whole(ref: str = "npm:notes-mcp") -> Dossier:
    """A server that everything is known of, and that is good: a package, or a remote at its own domain."""
    talk = recorded()["control-modern"]
    kept = well_kept()
    server = replace(talk.server, ref=ref)
    records: dict[str, Record] = {**kept.records, **talk.records}
    evidence = Dossier(
        server=server,
        as_of=talk.as_of,
        records={kind: replace(record, server=server.id) for kind, record in records.items()},
    )
    return with_records(evidence, {**_bodies(kept), samples.KIND: STEADY, registration.KIND: registered()})


def _bodies(kept: Dossier) -> dict[str, Any]:
    """The package and the source with what ties them to the registry, and the tools that are listed."""
    found = {kind: json.loads(_bytes(kept, kind)) for kind in (package.KIND, source.KIND)}
    found[package.KIND] |= {"mcp_name": NAME, "repository": {"url": "git+https://github.com/example/notes.git"}}
    return found


def _bytes(evidence: Dossier, kind: str) -> bytes:
    content = evidence.read(kind)
    assert isinstance(content, Observed)
    return content.body


def registered(registry: str = "official", **members: Any) -> dict[str, Any]:
    """The body of a registration."""
    return {"refs": [{"registry": registry, "name": NAME, "status": "active", "entry": entry(**members)}]}


def published(evidence: Dossier, cards: Sequence[Scorecard] | None = None) -> PublicServer:
    """What is public of a dossier and its receipts."""
    shown = disclose_dossier(evidence)
    assert isinstance(shown, PublicRecords)
    made = cards if cards is not None else scored(assess_dossier(evidence, NEWEST))
    changed = [(evidence.records[kind], record) for kind, record in shown.records.items()]
    kept = [stored(redact_receipt(card)) for card in made]
    public = [replace(card, body=cite_public_digests(card.body, changed)) for card in kept]
    return PublicServer(replace(evidence, records=shown.records), public)


def scored(assessment: Assessment) -> tuple[Scorecard, ...]:
    return tuple(rubric.score(assessment) for rubric in NEWEST)


def judgement(evidence: Dossier, **options: Any) -> Judgement:
    return requirements.judge_server(published(evidence), **options)


def receipts(evidence: Dossier) -> list[Scorecard]:
    """The decoded public receipts."""
    return [receipt.decode_scorecard(card.body) for card in published(evidence).cards]
