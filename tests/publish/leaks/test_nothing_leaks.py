"""Everything that anybody can reach is asked for and looked through: what is private is nowhere in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from evidence.store import OptOut, OptOutScope
from publish.api.guide import make_openapi_document
from publish.badges.images import badge_names
from publish.disclosure import PublicRecords
from publish.site.pages.sitemap import PAGES as LISTED_PAGES
from publish.views import public_servers
from publish.views.categories import ALL_CATEGORIES
from tests.publish.leaks.conftest import House, built
from tests.publish.leaks.crawling import VARIANTS, Crawl, call_tool, paths_of_api
from tests.publish.leaks.planting import FOUND, GONE, NIGHT, WITHHELD, WORDS, Planted

pytestmark = pytest.mark.xdist_group("leaks")

AT_ONCE = timedelta(seconds=1)
"""How long a copy may be served before anybody asks whether it still holds."""
BEGINNINGS = (*LISTED_PAGES, "/api/v1/openapi.json")
HANDBOOK = ("/rules", "/methods", "/api/v1/rules", "/api/v1/rubrics", "/static")
"""What is the same in every store."""
MACHINES = ("/robots.txt", "/sitemap.xml", "/feed.atom", "/feed.json", "/healthz", "/readyz")


def values(planted: Planted) -> dict[str, Sequence[str]]:
    """Values of the API's parameters: everything that there is, and what is not to be had."""
    return {
        "server": planted.servers,
        "run": planted.runs,
        "from": planted.runs,
        "to": planted.runs,
        "kind": ["listing", "access", "exchanges", "package", "repository", "source", "advisories", "secrets",
                 "drift", "alerts", "handouts", "dependencies", "registration"],
        "rubric": ["adaptive", "enterprise"],
        "version": ["1", "2"],
        "rule": ["bogus-token-mishandled", "tool-description-missing"],
        "retest": [planted.retest],
        "dispute": [planted.dispute],
        "claim": ["clm_0000000000000000"],
        "webhook": ["whk_0000000000000000"],
        "q": [FOUND, GONE],
        "name": ["databases", "other"],
        "sort": ["name", "relevance"],
        "state": ["measured"],
    }  # fmt: skip


def pages(planted: Planted) -> Iterator[str]:
    """Addresses of pages, also of what no link leads to."""
    nouns = ("", "/tools", "/observations", "/transcript", "/project", "/evidence", "/history", "/changes", "/fixes",
             "/badges", "/retests", "/disputes", "/disputes/new", "/control", "/compare",
             "/receipts/adaptive@1")  # fmt: skip
    for server in planted.servers:
        yield from (f"/servers/{server}{noun}" for noun in nouns)
        if server in {planted.marked.server.id, planted.gone.id}:
            yield from (f"/servers/{server}{noun}?run={run}" for noun in nouns for run in planted.runs)
        yield f"/servers/{server}/compare?from={planted.runs[0]}&to={WITHHELD.id}"
        yield f"/compare?server={server}&server={planted.marked.server.id}"
        yield from (f"/badges/{server}/{name}.{form}" for name in badge_names() for form in ("svg", "json"))
    yield from (f"/categories/{one.id}/feed.{form}" for one in ALL_CATEGORIES for form in ("atom", "json"))
    yield from (f"/servers?category={one.id}" for one in ALL_CATEGORIES)
    yield from (f"/servers?q={word}{sort}" for word in WORDS for sort in ("", "&sort=rank"))
    yield from (f"/datasets/{run}/manifest.json" for run in planted.runs)
    yield from (f"/retests/{planted.retest}", f"/disputes/{planted.dispute}")


def calls(planted: Planted) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of every tool of the MCP server."""
    yield from (("search_servers", {"q": word}) for word in ("", *WORDS))
    for server in planted.servers:
        yield from (("get_scorecard", {"server": server, "rubric": one}) for one in ("adaptive", "enterprise", "lint"))
        yield from (("explain_finding", {"finding": one, "server": server}) for one in _findings(planted))
        yield "compare_servers", {"first": server, "second": planted.marked.server.id}


def _findings(planted: Planted) -> list[str]:
    return ["bogus-token-mishandled", "resource-instructs-model", "withheld", "SEC-004"]


def everything(house: House, variants: int) -> Crawl:
    crawl = house.crawl(variants=variants, sampled=HANDBOOK)
    crawl.add(
        *BEGINNINGS, *MACHINES, *pages(house.planted), *paths_of_api(make_openapi_document(), values(house.planted))
    )
    crawl.run()
    for name, arguments in calls(house.planted):
        crawl.answers[f"{name} {arguments}"] = call_tool(house.client, name, arguments)
    return crawl


@pytest.fixture(scope="module", params=[2, pytest.param(VARIANTS, marks=pytest.mark.soak)])
def crawl(request: pytest.FixtureRequest, house: House) -> Crawl:
    """Everything, with so many queries for each path."""
    return everything(house, request.param)


def asked(crawl: Crawl, part: str) -> list[str]:
    """Addresses that were answered with something."""
    return [address for address in crawl.answers if part in address and crawl.statuses.get(address, 200) == 200]


def test_everything_was_asked_for(crawl: Crawl, house: House) -> None:
    """Otherwise the next test says little."""
    marked = house.planted.marked.server.id
    for part in (
        *("/status", "/about", "/methods/", "/rules/", "sitemap", ".css", "/api/v1/rules/", "/api/v1/runs/"),
        *(f"/servers/{marked}/{noun}" for noun in ("tools", "evidence", "transcript", "history", "changes", "retests")),
        *(f"/api/v1/servers/{marked}/{noun}" for noun in ("scorecards", "evidence/", "history", "diff", "badges")),
        *(f"/datasets/{NIGHT.id}/{name}" for name in ("manifest.json", "scorecards.parquet", "evidence")),
        *(f"/badges/{marked}/", "get_scorecard", "explain_finding", "compare_servers", "search_servers"),
    ):
        assert asked(crawl, part), part
    assert not [address for address, status in crawl.statuses.items() if status >= 500]


def test_no_answer_has_a_trace_of_anything_private(crawl: Crawl, house: House) -> None:
    assert _but_echoes(crawl.traces(house.planted.traces)) == {}


def test_no_log_has_a_trace_of_anything_private(crawl: Crawl, house: House) -> None:
    asked = ("?q=",)  # in the log of the client that asks
    said = "\n".join(line for line in house.said if not any(question in line for question in asked))
    assert [name for trace, name in house.planted.traces.items() if trace in said] == []


def test_servers_and_nights_that_are_not_shown_are_unknown(crawl: Crawl, house: House) -> None:
    hidden = [house.planted.gone.id, WITHHELD.id]
    answered = [address for address in crawl.statuses if any(one in urlsplit(address).path for one in hidden)]
    badges = [address for address in answered if "/badges/" in address]
    assert len(answered) > 30
    assert [address for address in answered if crawl.statuses[address] < 400 and address not in badges] == []
    assert badges
    assert all("unknown server" in crawl.answers[address] for address in badges)


@pytest.mark.soak
def test_the_crawl_notices_what_is_not_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With disclosure out of order the words are on pages, in the API, in the MCP server and in the dataset."""
    monkeypatch.setattr(public_servers, "redact_receipt_body", lambda body, *_: body)
    monkeypatch.setattr(public_servers, "disclose_dossier", lambda dossier: PublicRecords(dict(dossier.records)))
    with built(tmp_path) as house:
        marked = house.planted.marked.server.id
        others = [server for server in house.planted.servers if server != marked]
        crawl = house.crawl(*(f"{at}/servers/{one}" for one in others for at in ("", "/api/v1")), *HANDBOOK, variants=2)
        crawl.add(f"/servers/{marked}", f"/api/v1/servers/{marked}/scorecards", f"/api/v1/servers/{marked}/evidence")
        crawl.add("/api/v1/datasets")
        crawl.run()
        crawl.answers["get_scorecard"] = call_tool(house.client, "get_scorecard", {"server": marked})
    found = crawl.traces(house.planted.traces)
    for part in (f"/servers/{marked}", f"/api/v1/servers/{marked}/scorecards", "get_scorecard", ".parquet", ".gz"):
        assert any(FOUND in names for address, names in found.items() if part in address), part


@pytest.mark.soak  # tests/functional/test_site_behind_cache.py opts out in every run
def test_who_opts_out_vanishes_at_once(tmp_path: Path) -> None:
    """From everything but the files of snapshots that are out already, which are signed and copied as they are."""
    with built(tmp_path) as house:
        server = house.planted.plain[0].server
        own = [f"/servers/{server.id}", f"/servers/{server.id}/tools", f"/api/v1/servers/{server.id}"]
        crawls = []
        for _ in range(2):
            crawl = house.crawl("/datasets/", "/compare", *HANDBOOK, variants=2)
            crawl.add("/", "/servers", "/sitemap.xml", "/api/v1/servers", *own, *(f"{path}/history" for path in own))
            crawl.run()
            for name, arguments in calls(house.planted):
                crawl.answers[f"{name} {arguments}"] = call_tool(house.client, name, arguments)
            crawls.append(crawl)
            asked = OptOut(scope=OptOutScope.SERVER, value=server.id, at=house.clock.wall(), who="ana", note="asked")
            house.store.opt_outs.add_opt_out(asked)
            house.clock.step(AT_ONCE)
    before, after = ([url for url, text in crawl.answers.items() if server.name in text] for crawl in crawls)
    assert len(before) > 10
    assert after == []
    assert server.id not in crawls[1].answers["https://hallmark.example/sitemap.xml"]
    assert {crawls[1].statuses[f"https://hallmark.example{path}"] for path in own} == {404}


def _but_echoes(found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Without answers that only say back what was asked: the words that were searched for."""
    return {address: names for address, names in found.items() if not _is_echo(address, names)}


def _is_echo(address: str, names: Sequence[str]) -> bool:
    return all(name.split()[0] in address for name in names)
