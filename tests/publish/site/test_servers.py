"""The list of servers: one address for each question, and each row says what is known."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from evidence.model import Dossier
from evidence.store import ListedScore, Store
from evidence.store.listing.values import ServerFacets
from publish.site.list_query import parse_search
from publish.web.context import break_name
from tests.evidence.store.listing_samples import make_listed, make_many, make_server, show
from tests.publish.samples import HOSTILE, SCRIPT
from tests.publish.site.conftest import SiteOf
from tests.publish.site.dashboard_numbers import encoded
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    store = make_store([])
    show(store, make_many(130), front=encoded())
    return store


@pytest.fixture
def site(store: Store, site_of: SiteOf) -> TestClient:
    return site_of(store)


def ids(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="/servers/(srv_[0-9a-f]{20})"', page)


def test_every_server_is_on_one_page_of_the_list(site: TestClient) -> None:
    seen: list[str] = []
    path: str | None = "/servers"
    pages = 0
    while path:
        page = site.get(path).text
        seen += ids(page)
        found = re.search(r'rel="next" href="([^"]+)"', page)
        path = found[1].replace("&amp;", "&") if found else None
        pages += 1
    assert pages == 3
    assert len(seen) == len(set(seen)) == 130


def test_the_page_before_is_the_one_that_one_came_from(site: TestClient) -> None:
    first = site.get("/servers").text
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    second = site.get(following[1].replace("&amp;", "&")).text
    before = re.search(r'rel="prev" href="([^"]+)"', second)
    assert before
    assert ids(site.get(before[1].replace("&amp;", "&")).text) == ids(first)


def test_an_address_without_what_it_does_not_say_is_the_one_address(site: TestClient) -> None:
    answer = site.get("/servers?q=+mail++&state=&reason=&minimum=&sort=&by=adaptive&utm_source=x")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/servers?q=mail"
    assert site.get("/servers?q=mail").status_code == 200
    for same in ("/servers?sort=rank", "/servers?sort=relevance"):
        assert site.get(same, follow_redirects=False).headers["location"] == "/servers"


@pytest.mark.parametrize(
    "path",
    [
        "/servers?sort=best",
        "/servers?by=nobody",
        "/servers?by=lint%40x",
        "/servers?minimum=101",
        "/servers?minimum=NaN",
        "/servers?minimum=many",
        "/servers?cursor=nonsense",
        "/servers?q=" + "a" * 201,
    ],
)
def test_what_cannot_be_read_is_said_and_not_guessed(site: TestClient, path: str) -> None:
    answer = site.get(path)
    assert answer.status_code == 400
    assert "xpected" in answer.text or "at most" in answer.text


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("/servers?state=partial", "partial"),
        ("/servers?reason=unreachable", "unreachable"),
        ("/servers?q=weather", "weather"),
    ],
)
def test_filters_leave_only_what_fits(site: TestClient, path: str, fits: str) -> None:
    page = site.get(path).text
    rows = re.findall(r'<th scope="row">.*?</tr>', page, re.DOTALL)
    assert 0 < len(rows) < 130
    assert all(fits in row for row in rows)
    assert 'content="noindex' in page


def test_each_column_sorts_and_says_so(site: TestClient) -> None:
    page = site.get("/servers?by=lint").text
    heading = re.search(r'<th scope="col" class="num" aria-sort="descending"><a href="([^"]+)">lint', page)
    assert heading
    turned = site.get(heading[1].replace("&amp;", "&")).text
    assert 'aria-sort="ascending"' in turned
    assert ids(turned)[0] != ids(page)[0]
    assert ids(site.get("/servers?sort=name").text) != ids(page)


def test_what_was_not_measured_is_not_a_zero(make_store: MakeStore, site_of: SiteOf) -> None:
    store = make_store([])
    unseen = ListedScore(
        rubric="adaptive",
        version=1,
        score=None,
        grade=None,
        floor=Decimal(0),
        ceiling=Decimal(100),
        coverage=Decimal(0),
        not_measured="oauth_required",
    )
    thin = ListedScore(
        rubric="lint",
        version=2,
        score=Decimal(77),
        grade=None,
        floor=Decimal(5),
        ceiling=Decimal(100),
        coverage=Decimal("0.1"),
        thin=True,
    )
    listed = make_listed(make_server("npm:a", "a"), random.Random(1))
    show(store, [replace(listed, scores=(unseen, thin), tools=3)], front=encoded())
    listed_by = {}
    for rubric in ("adaptive", "lint"):
        page = site_of(store).get(f"/servers?by={rubric}", follow_redirects=True).text
        row = re.search(r'<th scope="row">.*?</tr>', page, re.DOTALL)
        assert row
        listed_by[rubric] = row[0]
    assert "not measured</span><small>oauth required" in listed_by["adaptive"]
    assert "<small>thin evidence</small>77</span><small>at least 5" in listed_by["lint"]
    assert not any(re.search(r">\s*0\s*<", row) for row in listed_by.values())


def test_a_capped_grade_is_marked_in_its_row(make_store: MakeStore, site_of: SiteOf) -> None:
    store = make_store([])
    listed = make_listed(make_server("npm:a", "a"), random.Random(1))
    score = ListedScore(
        rubric="adaptive",
        version=2,
        score=Decimal(57),
        grade="D",
        floor=Decimal(57),
        ceiling=Decimal(57),
        coverage=Decimal(1),
        capped=True,
    )
    show(store, [replace(listed, scores=(score,))], front=encoded())
    assert "grade capped" in site_of(store).get("/servers").text
    uncapped = replace(score, capped=False)
    show(store, [replace(listed, scores=(uncapped,))], run="20261123T030000Z-1", front=encoded())
    assert "grade capped" not in site_of(store).get("/servers").text


def test_an_opted_out_server_is_on_no_list(store: Store, site_of: SiteOf) -> None:
    backend = PlainBackend()
    first = ids(site_of(store, backend).get("/servers").text)[0]
    backend.hidden.add(first)
    assert first not in site_of(store, backend).get("/servers").text


def test_hostile_names_and_questions_stay_text(make_store: MakeStore, site_of: SiteOf) -> None:
    store = make_store([])
    show(store, [make_listed(make_server(f"npm:{HOSTILE}", HOSTILE), random.Random(1))], front=encoded(HOSTILE))
    site = site_of(store)
    for page in (site.get("/servers").text, site.get("/servers", params={"q": SCRIPT}).text):
        assert SCRIPT not in page
        assert "\x1b" not in page
        assert "\u202e" not in page


def test_addresses_survive_a_round_trip() -> None:
    asked = {"q": "größe 天気", "by": "lint@1", "sort": "name", "reverse": "1", "minimum": "70.50", "grade": "A+"}
    search = parse_search(asked)
    assert (
        search.url
        == "/servers?q=gr%C3%B6%C3%9Fe+%E5%A4%A9%E6%B0%97&grade=A%2B&minimum=70.5&by=lint%401&sort=name&reverse=1"
    )
    assert search.query.version == 1
    assert search.query.minimum == Decimal("70.5")


def test_names_break_behind_what_joins_their_parts_and_stay_escaped() -> None:
    assert break_name("io.github.a-b/c") == "io.<wbr>github.<wbr>a-<wbr>b/<wbr>c"
    assert break_name("https://a") == "https://<wbr>a"
    assert SCRIPT not in break_name(HOSTILE)
    assert "\u202e" not in break_name(HOSTILE)


FACETS = ServerFacets(
    categories=("databases", "cloud"), transport="stdio", access="open", read_only="yes", advisories="no"
)


@pytest.mark.parametrize(
    "asked", ["category=cloud", "transport=stdio", "access=open", "read_only=yes", "advisories=no"]
)
def test_facets_filter_and_stand_in_the_rows(make_store: MakeStore, site_of: SiteOf, asked: str) -> None:
    store = make_store([])
    chance = random.Random(1)
    other = replace(make_listed(make_server("npm:a", "a"), chance), facets=ServerFacets(access="credentials"))
    fits = replace(make_listed(make_server("npm:b", "b"), chance), facets=FACETS, tools=7)
    show(store, [fits, other], front=encoded())
    site = site_of(store)
    whole = site.get("/servers").text
    assert set(ids(whole)) == {fits.server.id, other.server.id}
    assert "asks for credentials" in whole
    page = site.get(f"/servers?{asked}").text
    assert ids(page) == [fits.server.id]
    row = page[page.index('<th scope="row">') : page.index("</tr>", page.index('<th scope="row">'))]
    assert all(
        word in row
        for word in (
            '<td class="num" data-label="tools">7<',
            "stdio",
            "lists tools without credentials",
            "states that it only reads",
        )
    )


def test_each_row_can_be_chosen_for_a_comparison(site: TestClient) -> None:
    page = site.get("/servers").text
    chosen = re.findall(r'<input type="checkbox" name="server" value="(srv_[0-9a-f]{20})" form="compare">', page)
    assert chosen == ids(page)
    assert '<form id="compare" class="compare" action="/compare" method="get">' in page


def test_the_servers_of_a_later_discovery_are_newly_listed(make_store: MakeStore, site_of: SiteOf) -> None:
    store = make_store([])
    chance = random.Random(1)
    old = [make_listed(make_server(f"npm:{name}", name), chance) for name in "zxa"]
    show(store, old)
    later = "20261123T030000Z-1"
    new = make_listed(make_server("npm:m", "m"), chance, later)
    rows = sorted([*(replace(one, run=later) for one in old), new], key=lambda one: one.server.id)
    show(store, rows, later, front=encoded())
    assert ids(site_of(store).get("/servers?sort=added").text)[0] == new.server.id
    assert ids(site_of(store).get("/servers?sort=added&reverse=1").text)[-1] == new.server.id
