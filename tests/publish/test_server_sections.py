"""What a server's page says of conformance, tool calls, access, connecting, the official client, and the transcript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.canonical import Json
from evidence.kinds import access, exchanges, interop, trials
from evidence.kinds import samples as sampled
from evidence.kinds.access import ACCEPTED
from evidence.model import Absent, Dossier, Observed, Reason
from evidence.store import Store
from publish.disclosure import NOT_DISCLOSED, WITHHELD, redact_receipt
from publish.views.evidence import conformance as conformance_view
from publish.views.evidence import observations, transcript
from publish.views.evidence.conformance import view_conformance
from publish.views.evidence.observations import view_access, view_interop, view_samples, view_trials
from publish.views.evidence.transcript import view_transcript
from publish.views.server_summary import receipt_lines
from scoring.engine.assess import assess_dossier
from scoring.example_builders.conversation import build_exchanges_body, legacy_exchange
from scoring.protocol import conformance
from scoring.rubrics.sdk_tier import SDK_TIER_1
from tests.publish import observed, samples
from tests.publish.conftest import made_stores
from tests.publish.reports import Page, faults_of, files_about, pages_about, read, report_of

pytestmark = pytest.mark.xdist_group("server-sections")  # reports are shared

Make = Callable[..., Store]
SECTIONS = {"conformance", "trials", "access", "samples", "interop", "transcript"}
KINDS = (exchanges.KIND, access.KIND, trials.KIND, sampled.KIND, interop.KIND)


def page_of(make_store: Make, folder: Path, dossier: Dossier) -> Page:
    report_of(make_store([dossier]), folder)
    assert faults_of(folder) == []
    return pages_about(folder, dossier.server.id)


def words(page: Page) -> str:
    return " ".join(page.text.split())


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Page:
    """What is said of a server of which everything was observed."""
    folder = tmp_path_factory.mktemp("talkative")
    with made_stores(folder, sqlite_template) as make_store:
        return page_of(make_store, folder / "r", observed.talkative())


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Page:
    """What is said of a server of which nothing could be had."""
    folder, dossier = tmp_path_factory.mktemp("silent"), observed.talkative()
    gone = {
        kind: replace(dossier.records[kind], content=Absent(Reason.RATE_LIMITED, f"waited for {kind}"))
        for kind in KINDS
    }
    with made_stores(folder, sqlite_template) as make_store:
        return page_of(make_store, folder / "r", replace(dossier, records={**dossier.records, **gone}))


def test_a_page_has_a_section_for_everything_that_was_observed(talkative: Page) -> None:
    assert set(talkative.ids) >= SECTIONS


def test_a_page_says_nothing_of_kinds_that_were_not_collected(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", samples.dossiers(1)[0])
    assert set(page.ids) & SECTIONS == {"transcript"}, "a page of its own, which says that there is none"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_could_not_be_had_says_why(silent: Page, kind: str) -> None:
    assert f"waited for {kind}" in words(silent)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b"7"])
def test_a_body_that_is_none_breaks_no_page(kind: str, body: bytes) -> None:
    dossier = observed.talkative()
    broken = replace(dossier.records[kind], content=Observed(body))
    odd = replace(dossier, records={**dossier.records, kind: broken})
    for view in (view_transcript, view_access, view_trials, view_samples, view_interop):
        view(odd)


def test_every_check_stands_in_its_section_with_its_verdict() -> None:
    shown = view_conformance(observed.talkative())
    assert shown is not None
    listed = [check for section in shown.sections for check in section.checks]
    assert sorted(check.id for check in listed) == sorted(check.requirement.id for check in conformance.list_checks())
    assert sum(count.number for count in shown.counts) == len([one for one in listed if one.word != "not shown"])
    assert all(check.why for check in listed if check.word == "inconclusive")
    assert {check.id: check.word for check in listed}["PING-01"] == "fail"


def test_a_failure_leads_to_the_exchange_and_to_the_specification(talkative: Page) -> None:
    page = talkative
    assert "exchanges/legacy/ping" in words(page)
    assert any(link.endswith("transcript.html#exchange-2") for link in page.links)
    assert any(link.startswith("https://modelcontextprotocol.io/specification/2025-11-25/") for link in page.links)
    assert "full: all requests" in words(page)


def test_of_a_locked_server_the_checks_of_its_lock_are_shown(make_store: Make, tmp_path: Path) -> None:
    shown = view_conformance(observed.locked_out())
    assert shown is not None
    assert [section.title for section in shown.sections] == ["Authorization"]
    page = page_of(make_store, tmp_path / "r", observed.locked_out(step="initialize"))
    text = words(page)
    assert "gated at connect" in text
    assert "initialize (legacy), HTTP 401" in text
    assert "bearer scope=read" in text
    assert "none: HTTP 401" in text
    assert "trials" not in page.ids, "the reason is named once, at the top"


def test_nothing_tells_a_lock_that_any_token_opens_from_one_that_holds(make_store: Make, tmp_path: Path) -> None:
    """Also the digests are equal: those of bodies without the answer. The score counts what is withheld."""
    opened, held = (observed.locked_out(bogus=bogus) for bogus in ((200, ACCEPTED), (401, "oauth_required")))
    pages = []
    for number, one in enumerate((opened, held)):
        page_of(make_store, tmp_path / str(number), one)
        shown_of = tmp_path / str(number) / "servers" / one.server.id
        pages.append([read(shown_of / f"{name}.html").text for name in ("observations", "transcript", "evidence")])
    assert pages[0] == pages[1]
    shown = view_conformance(opened)
    assert shown is not None
    (check,) = (one for section in shown.sections for one in section.checks if one.id == "AUTH-13")
    assert (check.word, check.why) == ("not shown", NOT_DISCLOSED)
    assert not [fault for fault in shown.faults if fault.id == "AUTH-13"]


def test_the_receipt_of_a_lock_that_any_token_opens_does_not_say_so() -> None:
    said = (legacy_exchange("initialize", result={}), legacy_exchange("ping", result={}))
    talk = observed.rewritten(observed.talkative(), exchanges.KIND, build_exchanges_body(*said))
    opened = observed.locked_out(bogus=(200, ACCEPTED)).records[access.KIND]
    card = SDK_TIER_1.score(assess_dossier(replace(talk, records={**talk.records, access.KIND: opened}), [SDK_TIER_1]))
    assert "AUTH-13" in {line.cites for line in receipt_lines(card)}
    public = redact_receipt(card)
    assert "AUTH-13" not in {line.cites for line in receipt_lines(public)}
    assert WITHHELD in {line.cites for line in receipt_lines(public)}


def test_over_stdio_access_is_no_question(make_store: Make, tmp_path: Path) -> None:
    dossier = observed.talkative()
    none = replace(dossier.records[access.KIND], content=Absent(Reason.TRANSPORT_UNSUPPORTED, "a question of HTTP"))
    page = page_of(make_store, tmp_path / "r", replace(dossier, records={**dossier.records, access.KIND: none}))
    assert "access" not in page.ids


def test_calls_show_what_came_of_them(talkative: Page) -> None:
    text = words(talkative)
    assert "Only tools that seem to be read-only are called." in text
    assert "1,234 ms" in text
    assert "Structured output does not fit the output schema: ordinary" in text
    assert "wrong type: ordinary" in text
    assert "timeout: ordinary" in text
    assert "3 tools not called, and why" in text
    assert "It is not classified as read-only" in text


def test_connecting_shows_attempts_and_latencies(talkative: Page) -> None:
    text = words(talkative)
    assert "3 of 4 times, on 4 days of the last 30" in text
    assert "1 timeout" in text
    assert "median 102 ms, 95 % within 103 ms, measured 3 times" in text


def test_the_official_client_shows_what_it_listed_and_refused(talkative: Page) -> None:
    text = words(talkative)
    assert "mcp 2.3.0" in text
    assert "3 tools" in text
    assert "McpError -1: ordinary" in text


def test_the_transcript_shows_each_exchange_and_no_secret(talkative: Page) -> None:
    page, text = talkative, words(talkative)
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
    raw = "".join(path.read_text("utf-8") for path in files_about(folder, dossier.server.id))
    assert set(page.ids) >= SECTIONS
    assert page.text.count(samples.SCRIPT) > 20
    assert samples.SCRIPT not in raw
    assert not set("\x1b\x07\u202e\u2066\u200b") & set(raw)
    assert "{{7*7}}" in page.text


def test_a_page_of_endless_answers_stays_small(make_store: Make, tmp_path: Path) -> None:
    """Every bound of ours at once: exchanges, messages, their length, calls, tools not called."""
    loud = "x" * 2_000
    said = [legacy_exchange(f"step-{number}", result={"text": loud}) for number in range(15)]
    said += [
        legacy_exchange("many", received=[{"message": {"method": "m", "n": n}} for n in range(60)]) for _ in range(150)
    ]
    dossier = observed.rewritten(observed.talkative(), exchanges.KIND, build_exchanges_body(*said))
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
    text = page_of(make_store, folder, observed.rewritten(dossier, trials.KIND, tried)).text
    assert max(path.stat().st_size for path in files_about(folder, dossier.server.id)) < 1_500_000
    assert "200 more calls" in text
    assert "209 more" in text


def test_bounds_are_bounds() -> None:
    assert transcript.MAX_TURNS * (transcript.QUESTION_LIMIT + transcript.ANSWER_LIMIT) < 200_000
    assert observations.TEXT_LIMIT * observations.MAX_CALLS < 50_000
    assert conformance_view.MAX_FAULTS <= 200
