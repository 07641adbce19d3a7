"""The pages about one server: what they say, what they keep to themselves, and that they hold whatever it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from evidence.model import Dossier, Reason, Run, Trigger
from evidence.store import Retest, RetestState, RunState, Store
from publish.views.server_in_run import order_receipts
from scoring.results.scorecard import Line
from tests.publish import capped, observed, samples
from tests.publish.conftest import made_stores
from tests.publish.projects import with_project
from tests.publish.site.conftest import SiteOf, opened_sites
from tests.publish.site.listing_stores import judged, night, put, read, with_tools
from tests.publish.site.plain_backend import PlainBackend
from tests.sampling import some

MakeStore = Callable[..., Store]
FIRST, SECOND = night(0), night(1)
PARTS = ("", "/fixes", "/tools", "/observations", "/transcript", "/project", "/evidence", "/history", "/changes",
         "/badges")  # fmt: skip
INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b]")
LARGEST = 1_500_000
OURS = ("#", "/servers/", "/methods", "/rules", "/compare")


def pages_of(dossier: Dossier) -> list[str]:
    here = f"/servers/{dossier.server.id}"
    receipts = [f"{here}/receipts/{card.rubric}@{card.version}" for card in samples.cards(dossier)]
    return [*(f"{here}{part}" for part in PARTS), *receipts]


@pytest.fixture
def empty(make_store: MakeStore) -> Store:
    return make_store([], run=replace(samples.RUN, id="run_20260201T030000Z_0000"))


def posted(store: Store, *dossiers: Dossier, run: Run = FIRST) -> Store:
    return put(store, run, dossiers, [card for dossier in dossiers for card in samples.cards(dossier)])


@pytest.fixture(scope="module")
def hostile_pages(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[tuple[TestClient, str]]:
    """A site that shows a hostile server, and its address; no test changes it."""
    server = with_project(observed.hostile(samples.HOSTILE), samples.HOSTILE)
    with made_stores(tmp_path_factory.mktemp("hostile"), sqlite_template) as make_store:
        store = make_store([], replace(samples.RUN, id="run_20260201T030000Z_0000"))
        posted(store, server)
        posted(store, with_tools(server, [{"name": samples.HOSTILE, "description": 5 * samples.HOSTILE}]), run=SECOND)
        with opened_sites() as site_of:
            yield site_of(store), f"/servers/{server.server.id}"


@pytest.mark.parametrize("part", [*PARTS, "/receipts/adaptive@1", "/receipts/lint@1"])
def test_no_page_lets_a_hostile_server_say_anything_but_text(hostile_pages: tuple[TestClient, str], part: str) -> None:
    site, path = hostile_pages[0], hostile_pages[1] + part
    read(site, path)
    answer = site.get(path)
    assert samples.SCRIPT not in answer.text
    assert "<img src=x" not in answer.text
    assert not INVISIBLE.search(answer.text)
    assert len(answer.content) < LARGEST


def test_every_link_of_a_server_leads_somewhere(empty: Store, site_of: SiteOf) -> None:
    server = with_project(observed.talkative("ordinary"))
    posted(empty, server)
    posted(empty, server, run=SECOND)
    site = site_of(empty)
    seen = {path: read(site, path) for path in pages_of(server)}
    for path, page in seen.items():
        for href in page.links:
            if not href.startswith(OURS):
                continue
            target, _, anchor = href.partition("#")
            if target and target not in seen:
                answer = site.get(target, follow_redirects=True)
                assert answer.status_code == 200, (path, href)
                if anchor:
                    assert f'id="{anchor}"' in answer.text, (path, href)
            elif anchor:
                assert anchor in seen[target or path].ids, (path, href)


def test_the_first_page_says_what_the_receipts_say(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    site, here = site_of(empty), f"/servers/{server.server.id}"
    page = read(site, here)
    main, *others = order_receipts(samples.cards(server), "adaptive")
    assert {"verdict", "connect", "others"} <= page.ids.keys()
    for card in (main, *others):
        receipt = f"{here}/receipts/{card.rubric}@{card.version}"
        assert receipt in page.links
        shown = read(site, receipt).text
        assert "Versions and evidence of this receipt" in shown
        for line in card.lines:
            assert line.why in shown
            assert line.why in page.text or card is not main


def test_the_first_page_reads_the_main_receipt_only_and_shows_what_reading_everything_shows(
    empty: Store, site_of: SiteOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = samples.absent_dossier(Reason.UNREACHABLE, "no route")
    made = [capped.clean(), capped.poisoned(), capped.leaking(), capped.dark(), observed.locked_out(), absent,
            with_project(observed.talkative("ordinary"))]  # fmt: skip
    put(empty, FIRST, made, [card for one in made for card in judged(one)])
    site = site_of(empty)
    whole = {one.server.id: site.get(f"/servers/{one.server.id}?run={FIRST.id}").text for one in made}
    monkeypatch.setattr(Store, "read_dossiers", None)
    for server, page in whole.items():
        assert site.get(f"/servers/{server}").text == page
        assert not re.search(r"\b[0-9a-f]{64}\b", page), "digests of whole records are not public"


def test_the_first_page_is_short_and_draws_the_scores_of_the_last_runs(empty: Store, site_of: SiteOf) -> None:
    server = capped.clean()
    put(empty, FIRST, [server], judged(server))
    site, here = site_of(empty), f"/servers/{server.server.id}"
    assert 'class="spark"' not in site.get(here).text
    put(empty, SECOND, [server], judged(server))
    answer = site.get(here)
    assert re.search(r'<polyline class="stroke" points="0,[0-9.]+ 120,[0-9.]+"/>', answer.text)
    assert len(read(site, here).text.split()) <= 600
    assert len(answer.content) <= 60_000


def test_a_score_has_its_grade_and_percentile_and_a_missing_one_its_range(empty: Store, site_of: SiteOf) -> None:
    clean, dark = capped.clean(), capped.dark()
    put(empty, FIRST, [clean], judged(clean))
    site = site_of(empty)
    text = read(site, f"/servers/{clean.server.id}").text
    assert re.search(r"\bA\s+\d\d\s+of 100\s+above \d+ % of starter-2026-11", text)
    put(empty, SECOND, [dark], judged(dark))
    page = site.get(f"/servers/{dark.server.id}").text
    assert "starter-2026-11" not in page
    assert re.search(r'class="coverage range"[^>]* aria-label="from 0 to \d+ of 100"', page)


def test_a_poisoned_server_says_first_that_a_finding_is_under_disclosure(empty: Store, site_of: SiteOf) -> None:
    server = capped.poisoned()
    put(empty, FIRST, [server], judged(server))
    page = site_of(empty).get(f"/servers/{server.server.id}").text
    assert 0 < page.index("Capped: a security finding is under disclosure") < page.index('class="summary"')


def test_cells_of_calls_and_access_name_their_columns_where_a_phone_stacks_them(empty: Store, site_of: SiteOf) -> None:
    server = observed.talkative("ordinary")
    posted(empty, server)
    text = site_of(empty).get(f"/servers/{server.server.id}/observations").text
    captions = ("Calls", "Tools that were not called", "Metadata that was looked for")
    for caption in captions:
        [table] = re.findall(rf"<caption[^>]*>{caption}</caption>.*?</table>", text, re.DOTALL)
        _, *columns = re.findall(r"<th scope=\"col\"[^>]*>([^<]+)</th>", table)
        rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", table)
        assert rows
        for row in rows:
            assert re.findall(r"<td[^>]* data-label=\"([^\"]+)\"", row) == [name.lower() for name in columns]


def test_the_first_page_counts_the_lines_of_a_long_receipt_whose_page_has_all(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    adaptive, lint = samples.cards(server)
    lines = tuple(replace(_line(), at=f"tools/number-{number}-") for number in range(1_200))
    put(empty, FIRST, [server], [replace(adaptive, lines=lines), lint])
    site, here = site_of(empty), f"/servers/{server.server.id}"
    first = read(site, here).text
    assert "tools/number-0- and 1199 more" in first
    assert first.count("number-") == 1
    whole = "".join(read(site, f"{here}/receipts/adaptive@1?page={number}").text for number in (1, 2, 3))
    assert all(f"number-{number}-" in whole for number in range(1_200))


def _line() -> Line:
    server = samples.hostile_dossier()
    return samples.cards(server)[1].lines[0]


def test_a_server_below_the_gate_asks_not_to_be_indexed(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    answer = site_of(empty).get(f"/servers/{server.server.id}")
    assert 'name="robots" content="noindex' in answer.text
    assert answer.headers["x-robots-tag"].startswith("noindex")


@pytest.mark.parametrize("reason", [Reason.OAUTH_REQUIRED, Reason.QUARANTINED, Reason.COLLECTOR_ERROR])
def test_a_server_that_could_not_be_tested_says_why_and_what_to_do(
    empty: Store, site_of: SiteOf, reason: Reason
) -> None:
    server = samples.absent_dossier(reason, "seen at the door")
    posted(empty, server)
    page = read(site_of(empty), f"/servers/{server.server.id}")
    assert f"Could not be tested: {reason.value.replace('_', ' ')}" in page.text
    assert "seen at the door" in page.text
    assert ("our limit, not the server's" in page.text) is (reason is Reason.COLLECTOR_ERROR)
    assert f"/servers/{server.server.id}/retests" in page.links


def test_an_unknown_server_is_not_found_and_search_is_offered(empty: Store, site_of: SiteOf) -> None:
    posted(empty, samples.dossiers(1)[0])
    page = read(site_of(empty), "/servers/srv_00000000000000000000", 404)
    assert "/servers" in page.links


@pytest.mark.parametrize("part", some(PARTS, 4))
def test_of_a_server_that_opted_out_nothing_is_shown_and_the_page_says_so(
    empty: Store, site_of: SiteOf, part: str
) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    backend = PlainBackend(hidden={server.server.id})
    answer = site_of(empty, backend).get(f"/servers/{server.server.id}{part}")
    assert answer.status_code == 404
    assert "The operator of this server opted out" in answer.text
    assert server.server.name not in answer.text
    assert server.server.ref not in answer.text


def test_what_ran_without_a_sandbox_has_no_page(empty: Store, site_of: SiteOf) -> None:
    server = samples.unsandboxed_dossier()
    posted(empty, server, samples.dossiers(1)[0])
    answer = site_of(empty).get(f"/servers/{server.server.id}")
    assert answer.status_code == 404
    assert "secret-server" not in answer.text


def test_an_older_night_says_that_it_is_one_and_is_not_indexed(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    posted(empty, server, run=SECOND)
    answer = site_of(empty).get(f"/servers/{server.server.id}?run={FIRST.id}")
    assert answer.status_code == 200
    assert f"<code>{SECOND.id}</code>" in answer.text
    assert answer.headers["x-robots-tag"].startswith("noindex")


def test_a_run_that_is_not_published_is_not_shown(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    put(empty, SECOND, [server], samples.cards(server), RunState.PLANNED)
    site = site_of(empty)
    for path in ("", "/tools", "/fixes", "/changes", "/receipts/adaptive@1"):
        assert site.get(f"/servers/{server.server.id}{path}?run={SECOND.id}").status_code == 404, path
    assert site.get(f"/servers/{server.server.id}/compare?from={FIRST.id}&to={SECOND.id}").status_code == 404


def test_a_run_whose_records_were_deleted_keeps_its_receipts(empty: Store, site_of: SiteOf) -> None:
    server = observed.talkative("ordinary")
    posted(empty, server)
    posted(empty, server, run=SECOND)
    empty.compaction.drop_records(FIRST.id, SECOND.as_of + timedelta(days=100), limit=100)
    site, here = site_of(empty), f"/servers/{server.server.id}"
    page = read(site, f"{here}?run={FIRST.id}")
    assert "The records of this run were deleted on 10 June 2026" in page.text
    assert "verdict" in page.ids
    for part in ("/tools", "/observations", "/transcript", "/project", "/evidence", "/fixes", "/changes"):
        assert "deleted" in read(site, f"{here}{part}?run={FIRST.id}").text, part
    assert "what the server said cannot be compared" in read(site, f"{here}/changes").text


def test_the_first_page_says_that_the_records_of_the_listed_run_were_deleted(empty: Store, site_of: SiteOf) -> None:
    server, again = observed.talkative("ordinary"), replace(SECOND, trigger=Trigger.RETEST)
    posted(empty, server)
    put(empty, again, [server], samples.cards(server), RunState.DONE)
    empty.compaction.drop_records(FIRST.id, SECOND.as_of + timedelta(days=100), limit=100)
    page = read(site_of(empty), f"/servers/{server.server.id}")
    assert "The records of this run were deleted on 10 June 2026" in page.text
    assert "verdict" in page.ids


def test_a_finished_retest_is_announced_beside_the_night_that_lists_show(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    again = replace(SECOND, trigger=Trigger.RETEST)
    asked = Retest(id="r1", server=server.server.id, client="anyone:x", asked_at=FIRST.as_of)
    empty.retests.request_retest(asked)
    put(empty, again, [server], samples.cards(server), RunState.DONE)
    empty.retests.admit_retest("r1", again.id, again.as_of)
    site, here = site_of(empty), f"/servers/{server.server.id}"
    beside = f"{here}/compare?from={FIRST.id}&to={again.id}"
    assert beside not in read(site, here).links
    empty.retests.finish_retest("r1", RetestState.DONE, again.as_of)
    assert beside in read(site_of(empty), here).links
    assert "a re-test" in read(site, f"{here}?run={again.id}").text


def test_two_thousand_tools_are_all_reachable_and_no_page_is_large(empty: Store, site_of: SiteOf) -> None:
    heavy = {f"p{key}": {"description": "\u202e" * 900} for key in range(60)}
    tools = [
        {
            "name": f"tool-{number}-",
            "description": "\u202e" * (2_000 if number < 25 else 2),
            "inputSchema": {"type": "object", "properties": heavy if number < 25 else {}},
        }
        for number in range(2_000)
    ]
    server = with_tools(samples.dossiers(1)[0], tools)
    put(empty, FIRST, [server], samples.cards(samples.dossiers(1)[0]))
    site, here = site_of(empty), f"/servers/{server.server.id}"
    first = site.get(f"{here}/tools")
    assert len(first.content) < LARGEST
    last = site.get(f"{here}/tools?page=80").text
    assert 'id="tools-2000"' in last
    assert "tool-1999-" in last
    assert 'href="' + f"{here}/tools?page=80" in first.text
    for part in ("", "/observations", "/evidence"):
        assert len(site.get(here + part).content) < LARGEST, part


def test_a_text_of_a_megabyte_is_cut_and_says_so(empty: Store, site_of: SiteOf) -> None:
    server = with_tools(samples.dossiers(1)[0], [{"name": "n" * 1_000_000, "description": "</script>" * 120_000}])
    put(empty, FIRST, [server], samples.cards(samples.dossiers(1)[0]))
    site = site_of(empty)
    for path in pages_of(samples.dossiers(1)[0])[:9]:
        answer = site.get(path)
        assert answer.status_code == 200
        assert len(answer.content) < 200_000, path
        assert "</script>" not in answer.text
    assert "more characters)" in site.get(f"/servers/{server.server.id}/tools").text


@pytest.mark.parametrize("ref", ["acme", "npm:plain", "npm:@acme/notes", "https://acme.example/a/mcp"])
def test_a_server_is_found_by_the_reference_of_its_registry(empty: Store, site_of: SiteOf, ref: str) -> None:
    dossier = samples.absent_dossier(Reason.UNREACHABLE, ref=ref)
    posted(empty, dossier)
    site = site_of(empty)
    for spelt in (ref, quote(ref, safe="")):
        answer = site.get(f"/servers/{spelt}")
        assert (answer.status_code, answer.headers.get("location")) == (308, f"/servers/{dossier.server.id}")
    assert site.get(f"/servers/{ref}/x").status_code == 404
    assert site.get(f"/servers/{dossier.server.id}/x").status_code == 404


@pytest.mark.parametrize("dossiers", [samples.dossiers(6)])
def test_ordinary_servers_have_well_formed_pages(empty: Store, site_of: SiteOf, dossiers: Sequence[Dossier]) -> None:
    posted(empty, *dossiers)
    site = site_of(empty)
    for dossier in dossiers:
        for path in pages_of(dossier):
            read(site, path)


def test_the_receipts_of_every_methodology_have_a_page(empty: Store, site_of: SiteOf) -> None:
    server = with_project(observed.talkative("ordinary"))
    cards = judged(server)
    put(empty, FIRST, [server], cards)
    site, here = site_of(empty), f"/servers/{server.server.id}"
    first = read(site, here)
    for card in cards:
        page = read(site, f"{here}/receipts/{card.rubric}@{card.version}")
        assert f"/methods/{card.rubric}@{card.version}" in page.links
        assert f"{here}/receipts/{card.rubric}@{card.version}" in first.links


def test_badges_are_offered_for_three_kinds_of_readme(empty: Store, site_of: SiteOf) -> None:
    server = samples.dossiers(1)[0]
    posted(empty, server)
    site: TestClient = site_of(empty)
    text = read(site, f"/servers/{server.server.id}/badges").text
    image = f"https://hallmark.example/badges/{server.server.id}/score.svg"
    assert f"({image})]" in text
    assert f'<img src="{image}"' in text
    assert f".. image:: {image}" in text


def test_the_page_of_all_nights_reads_no_evidence(
    empty: Store, site_of: SiteOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    (server,) = samples.dossiers(1)
    posted(empty, server)
    site = site_of(empty)
    monkeypatch.setattr(Store, "read_dossiers", None)
    monkeypatch.setattr(Store, "read_scorecards", None)
    assert site.get(f"/servers/{server.server.id}/history").status_code == 200
