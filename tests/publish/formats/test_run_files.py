"""What is written of a server is what is known of it, without secrets, in whichever forms at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from msgspec.structs import replace

from evidence.derive.secret_scrubbing import scrub_body
from evidence.model import Dossier
from evidence.patterns.secrets.samples import write_sample
from evidence.store import Store, StoredScorecard
from publish.formats.run_files import FileForm, encode_server
from publish.publication import run_export
from scoring.results.scorecard import Line, Scorecard
from tests.publish import observed, samples
from tests.publish.filled_stores import stored

TOKEN = write_sample("ghp_<w36>")
FORMS = (FileForm("jsonl"), FileForm("csv"), FileForm("jsonl", comparable=True), FileForm("csv", comparable=True))
PLACES = ("why", "at", "inner", "caveats", "facts")
ODD = 'caf\u00e9 \U0001f600 \x7f \u2028 \\u0067 "quoted" a/b'


def the_plain_way(dossier: Dossier, cards: Sequence[StoredScorecard], *, comparable: bool) -> bytes:
    """A line built from JSON values, and compared as a whole."""
    line = run_export.server_as_json(dossier, cards, comparable=comparable)
    if not comparable:
        line["run"] = {"id": samples.RUN.id, "as_of": samples.RUN.as_of.isoformat()}
    return scrub_body(json.dumps(line, sort_keys=True, separators=(",", ":")).encode()) + b"\n"


def said(dossier: Dossier, text: str, *places: str) -> list[Scorecard]:
    """Receipts that say a text in some of the places where they may quote a server."""
    plain = Line(cites="x", points=Decimal(-1), why="", rule="r", at="tools", severity="error", evidence="e")
    lines = [replace(plain, **{place: text}) for place in ("why", "at") if place in places]
    inner = [replace(plain, why=text)] if "inner" in places else []
    return [
        replace(
            card,
            lines=(*card.lines, *lines),
            dimensions=tuple(
                replace(part, components=tuple(replace(one, lines=tuple(inner)) for one in part.components))
                for part in card.dimensions
            ),
            caveats=(text,) if "caveats" in places else (),
            facts={**card.facts, **({"quoted": text} if "facts" in places else {})},
        )
        for card in samples.cards(dossier)
    ]


@pytest.mark.parametrize("dossier", [*samples.dossiers(12), samples.hostile_dossier(), observed.talkative()])
@pytest.mark.parametrize("text", ["plain", ODD, f"token {TOKEN}"])
def test_a_line_that_is_put_together_is_the_one_that_is_built_from_values(dossier: Dossier, text: str) -> None:
    cards = [stored(card) for card in said(dossier, text, *PLACES)]
    lines = encode_server(samples.RUN, dossier, cards, [FileForm("jsonl"), FileForm("jsonl", comparable=True)])
    assert lines == [the_plain_way(dossier, cards, comparable=comparable) for comparable in (False, True)]


def test_all_forms_at_once_are_each_form_alone() -> None:
    dossier = samples.dossiers(1)[0]
    cards = [stored(card) for card in samples.cards(dossier)]
    together = encode_server(samples.RUN, dossier, cards, FORMS)
    assert together == [encode_server(samples.RUN, dossier, cards, [form])[0] for form in FORMS]
    assert all(together)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [TOKEN, f'"{TOKEN}"', f"tools/{TOKEN}/id", "password = 'hK3xQ9vT2mZ7'"])
def test_no_form_holds_a_secret_of_a_receipt(text: str, place: str) -> None:
    secret = TOKEN if TOKEN in text else "hK3xQ9vT2mZ7"
    dossier = samples.dossiers(1)[0]
    cards = [stored(card) for card in said(dossier, text, place)]
    assert any(secret.encode() in card.body for card in cards)
    lines = encode_server(samples.RUN, dossier, cards, FORMS)
    assert b"[secret]" in lines[0]
    assert [line for line in lines if secret.encode() in line] == []


def test_no_form_holds_a_secret_of_a_registry_or_of_an_observation() -> None:
    dossier = samples.dossiers(1)[0]
    server = replace(dossier.server, name=f"notes {TOKEN}", ref=f"https://a.example/?key={TOKEN}")
    records = {kind: replace(one, observation={"stderr": TOKEN}) for kind, one in dossier.records.items()}
    lines = encode_server(samples.RUN, replace(dossier, server=server, records=records), [], FORMS)
    assert [line for line in lines if TOKEN.encode() in line] == []


def test_one_server_with_a_secret_masks_no_other(make_store: Callable[..., Store]) -> None:
    plain, leaking = samples.dossiers(2)
    store = make_store([plain, leaking])
    cards = [stored(replace(card, version=card.version + 90)) for card in said(leaking, TOKEN, "why")]
    store.put_scorecards(samples.RUN.id, cards, at=samples.AS_OF)
    pages = list(run_export.export_batches(store, samples.RUN.id, FORMS))
    assert [page.servers for page in pages] == [2]
    lines = {json.loads(line)["server"]["id"]: line for line in pages[0].parts[0].splitlines()}
    assert b"[secret]" in lines[leaking.server.id]
    assert b"[secret]" not in lines[plain.server.id]
    assert TOKEN.encode() not in b"".join(pages[0].parts)
