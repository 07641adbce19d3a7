"""What a server's page says of conformance, tool calls, access, connecting, the official client, and the transcript."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evidence.canonical import Json
from evidence.kinds import access, exchanges, interop, trials
from evidence.kinds import samples as sampled
from evidence.kinds.access import ACCEPTED
from evidence.model import Absent, Dossier, Observed, Reason
from evidence.store import Store
from publish import conformance_view, observed_view, transcript_view
from publish.conformance_view import conformance_of
from publish.disclosure import NOT_DISCLOSED, WITHHELD, public_form
from publish.observed_view import access_of, interop_of, samples_of, trials_of
from publish.overview import all_lines
from publish.report import write_report
from publish.transcript_view import transcript_of
from scoring import conformance
from scoring.assess import assess
from scoring.conversing import body_of, legacy
from scoring.rubrics.sdk_tier import SDK_TIER_1
from tests.publish import observed, samples
from tests.publish.shelf import stored
from tests.publish.test_report import NAMING, Page, faults_of, read

Make = Callable[..., Store]
SECTIONS = {"conformance", "trials", "access", "samples", "interop", "transcript"}
KINDS = (exchanges.KIND, access.KIND, trials.KIND, sampled.KIND, interop.KIND)


def page_of(make_store: Make, folder: Path, dossier: Dossier) -> Page:
    write_report(make_store([dossier]), samples.RUN.id, folder, naming=NAMING)
    assert faults_of(folder) == []
    return read(folder / "servers" / f"{dossier.server.id}.html")


def words(page: Page) -> str:
    return " ".join(page.text.split())


def test_a_page_has_a_section_for_everything_that_was_observed(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", observed.talkative())
    assert set(page.ids) >= SECTIONS
    assert {f"#{section}" for section in SECTIONS} <= set(page.links)


def test_a_page_says_nothing_of_what_nobody_looked_at(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", samples.dossiers(1)[0])
    assert not set(page.ids) & SECTIONS
    assert not {f"#{section}" for section in SECTIONS} & set(page.links)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_could_not_be_had_says_why(make_store: Make, tmp_path: Path, kind: str) -> None:
    dossier = observed.talkative()
    gone = replace(dossier.records[kind], content=Absent(Reason.RATE_LIMITED, "waited for an hour"))
    page = page_of(make_store, tmp_path / "r", replace(dossier, records={**dossier.records, kind: gone}))
    assert "waited for an hour" in words(page)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b"7"])
def test_a_body_that_is_none_breaks_no_page(kind: str, body: bytes) -> None:
    dossier = observed.talkative()
    broken = replace(dossier.records[kind], content=Observed(body))
    odd = replace(dossier, records={**dossier.records, kind: broken})
    for view in (transcript_of, access_of, trials_of, samples_of, interop_of):
        view(odd)


def test_every_check_stands_in_its_section_with_its_verdict() -> None:
    shown = conformance_of(observed.talkative())
    assert shown is not None
    listed = [check for section in shown.sections for check in section.checks]
    assert sorted(check.id for check in listed) == sorted(check.requirement.id for check in conformance.checks())
    assert sum(count.number for count in shown.counts) == len([one for one in listed if one.word != "not shown"])
    assert all(check.why for check in listed if check.word == "inconclusive")
    assert {check.id: check.word for check in listed}["PING-01"] == "fail"


def test_a_failure_leads_to_the_exchange_and_to_the_specification(make_store: Make, tmp_path: Path) -> None:
    dossier = observed.talkative()
    page = page_of(make_store, tmp_path / "r", dossier)
    assert "exchanges/legacy/ping" in words(page)
    assert "#exchange-2" in page.links
    assert any(link.startswith("https://modelcontextprotocol.io/specification/2025-11-25/") for link in page.links)
    assert "full: every question" in words(page)


def test_of_a_locked_server_the_checks_of_its_lock_are_shown(make_store: Make, tmp_path: Path) -> None:
    shown = conformance_of(observed.locked_out())
    assert shown is not None
    assert [section.title for section in shown.sections] == ["Authorization"]
    page = page_of(make_store, tmp_path / "r", observed.locked_out(step="initialize"))
    text = words(page)
    assert "gated at connect" in text
    assert "initialize (legacy), HTTP 401" in text
    assert "bearer scope=read" in text
    assert "none: HTTP 401" in text
    assert not {"trials", "transcript"} & set(page.ids), "the reason is named once, at the top"


def test_nothing_tells_a_lock_that_any_token_opens_from_one_that_holds(make_store: Make, tmp_path: Path) -> None:
    """Also the digests are equal: those of bodies without the answer."""
    opened, held = (observed.locked_out(bogus=bogus) for bogus in ((200, ACCEPTED), (401, "oauth_required")))
    pages = [words(page_of(make_store, tmp_path / str(number), one)) for number, one in enumerate((opened, held))]
    assert pages[0] == pages[1]
    shown = conformance_of(opened)
    assert shown is not None
    (check,) = (one for section in shown.sections for one in section.checks if one.id == "AUTH-13")
    assert (check.word, check.why) == ("not shown", NOT_DISCLOSED)
    assert not [fault for fault in shown.faults if fault.id == "AUTH-13"]


def test_the_receipt_of_a_lock_that_any_token_opens_does_not_say_so() -> None:
    talk = observed.talkative()
    opened = observed.locked_out(bogus=(200, ACCEPTED)).records[access.KIND]
    card = SDK_TIER_1.score(assess(replace(talk, records={**talk.records, access.KIND: opened}), [SDK_TIER_1]))
    assert "AUTH-13" in {line.cites for line in all_lines(card)}
    public = public_form(card)
    assert "AUTH-13" not in {line.cites for line in all_lines(public)}
    assert WITHHELD in {line.cites for line in all_lines(public)}


def test_over_stdio_access_is_no_question(make_store: Make, tmp_path: Path) -> None:
    dossier = observed.talkative()
    none = replace(dossier.records[access.KIND], content=Absent(Reason.TRANSPORT_UNSUPPORTED, "a question of HTTP"))
    page = page_of(make_store, tmp_path / "r", replace(dossier, records={**dossier.records, access.KIND: none}))
    assert "access" not in page.ids


def test_calls_show_what_came_of_them(make_store: Make, tmp_path: Path) -> None:
    text = words(page_of(make_store, tmp_path / "r", observed.talkative()))
    assert "Only tools that seem to read are called." in text
    assert "1,234 ms" in text
    assert "Structured output does not fit the output schema: ordinary" in text
    assert "wrong type: ordinary" in text
    assert "timeout: ordinary" in text
    assert "3 tools not called, and why" in text
    assert "It is not classed as only reading" in text


def test_connecting_shows_attempts_and_latencies(make_store: Make, tmp_path: Path) -> None:
    text = words(page_of(make_store, tmp_path / "r", observed.talkative()))
    assert "3 of 4 times, on 4 days of the last 30" in text
    assert "1 timeout" in text
    assert "median 102 ms, 95 % within 103 ms, measured 3 times" in text


def test_the_official_client_shows_what_it_listed_and_refused(make_store: Make, tmp_path: Path) -> None:
    text = words(page_of(make_store, tmp_path / "r", observed.talkative()))
    assert "mcp 2.3.0" in text
    assert "3 tools" in text
    assert "McpError -1: ordinary" in text


def test_the_transcript_shows_each_exchange_and_no_secret(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", observed.talkative())
    text = words(page)
    assert [f"exchange-{number}" in page.ids for number in range(1, 7)] == [True] * 5 + [False]
    assert "1. initialize POST initialize HTTP 200, result" in text
    assert "mcp-session-id: session 0" in text
    assert "the result is among the lists above" in text
    assert "HTTP 200, error -32601" in text
    assert "timeout" in text
    assert observed.SECRET not in text
    assert "k7" not in text, "a session id too short to be replaced when the transcript is written"


def test_hostile_words_stay_words_in_every_section(make_store: Make, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    dossier = observed.hostile(samples.HOSTILE + "</details></pre></table>")
    page = page_of(make_store, folder, dossier)
    raw = (folder / "servers" / f"{dossier.server.id}.html").read_text("utf-8")
    assert set(page.ids) >= SECTIONS
    assert page.text.count(samples.SCRIPT) > 20
    assert samples.SCRIPT not in raw
    assert not set("\x1b\x07\u202e\u2066\u200b") & set(raw)
    assert "{{7*7}}" in page.text


def test_a_page_of_endless_answers_stays_small(make_store: Make, tmp_path: Path) -> None:
    """Every bound of ours at once: exchanges, messages, their length, calls, tools not called."""
    loud = "x" * 2_000
    said = [legacy(f"step-{number}", result={"text": loud}) for number in range(15)]
    said += [legacy("many", received=[{"message": {"method": "m", "n": n}} for n in range(60)]) for _ in range(150)]
    dossier = observed.rewritten(observed.talkative(), exchanges.KIND, body_of(*said))
    trial: dict[str, Json] = {
        "tool": loud,
        "kind": "call",
        "outcome": "tool_error",
        "text": loud,
        "arguments": {loud: loud},
    }
    tried: dict[str, Json] = {
        "policy": "read",
        "trials": [trial] * 300,
        "skipped": [{"tool": loud, "why": loud}] * 400,
        "unlisted": 9,
    }
    folder = tmp_path / "r"
    page_of(make_store, folder, observed.rewritten(dossier, trials.KIND, tried))
    page = folder / "servers" / f"{dossier.server.id}.html"
    assert page.stat().st_size < 1_500_000
    text = page.read_text("utf-8")
    assert "45 more exchanges" in text
    assert "200 more calls" in text
    assert "209 more" in text


def test_the_newest_version_of_each_rubric_comes_first(make_store: Make, tmp_path: Path) -> None:
    dossier = samples.dossiers(1)[0]
    store = make_store([dossier])
    cards = [replace(card, version=2) for card in samples.cards(dossier) if card.rubric == "lint"]
    store.put_scorecards(samples.RUN.id, [stored(card) for card in cards], at=samples.AS_OF)
    write_report(store, samples.RUN.id, tmp_path / "r", naming=NAMING)
    page = read(tmp_path / "r" / "servers" / f"{dossier.server.id}.html")
    stamps = [link for link in page.links if link.startswith("#receipt-")]
    assert stamps[:3] == ["#receipt-adaptive-1", "#receipt-lint-2", "#receipt-lint-1"]
    assert "earlier version" in page.text


def test_bounds_are_bounds() -> None:
    assert transcript_view.MAX_TURNS * (transcript_view.QUESTION_LIMIT + transcript_view.ANSWER_LIMIT) < 200_000
    assert observed_view.TEXT_LIMIT * observed_view.MAX_CALLS < 50_000
    assert conformance_view.MAX_FAULTS <= 200
