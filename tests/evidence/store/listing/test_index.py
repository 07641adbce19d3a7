"""Lists of servers: every order and filter, walked page by page, gives exactly what sorting everything gives."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.store import BadCursor, ListedServer, ListingPage, ListingQuery, Store, UnknownRubric
from evidence.store.listing.search_words import SearchTerm, parse_search_terms, split_server_words
from evidence.store.listing.values import SORT_ORDERS, ServerFacets
from scoring import ranking
from tests.evidence.store.listing_samples import RUN, know, make_listed, make_many, make_server, show


def walk(store: Store, query: ListingQuery, limit: int) -> Iterator[ListingPage]:
    page = store.listing.read_page(query, limit=limit)
    yield page
    while page.after is not None:
        page = store.listing.read_page(query, page.after, limit)
        yield page


def order_of(query: ListingQuery) -> Callable[[ListedServer], Any]:
    """The key by which Python sorts as the lists do, from the published rule of ranks."""

    def rank(listed: ListedServer) -> Any:
        score = listed.score(query.rubric, 2 if query.rubric == "lint" and query.version is None else query.version)
        if score is None:
            return (1,)
        floor = score.floor if score.floor is not None else Decimal(0)
        return (0, ranking.rank_key_of_columns(floor=floor, coverage=score.coverage, score=score.score, server=""))

    match query.sort:
        case "name":
            return lambda listed: listed.server.name[:100].casefold()
        case "seen":
            return lambda listed: -listed.as_of.timestamp()
    return rank


def expected(rows: Sequence[ListedServer], query: ListingQuery) -> list[str]:
    ordered = sorted(rows, key=lambda one: (order_of(query)(one), one.server.id), reverse=query.reverse)
    return [one.server.id for one in ordered]


def ids(pages: Sequence[ListingPage]) -> list[str]:
    return [one.server.id for page in pages for one in page.servers]


EVERY_ORDER = [
    ListingQuery(sort=sort, rubric=rubric, version=version, reverse=reverse)
    for sort in SORT_ORDERS
    if sort != "added"  # its order is not in the rows
    for rubric, version in (("adaptive", 1), ("lint", 1), ("lint", None))
    for reverse in (False, True)
]


def test_pages_together_are_the_sorted_whole(store: Store) -> None:
    rows = make_many(37)
    show(store, rows)
    for query in EVERY_ORDER:
        whole = expected(rows, query)
        for limit in (1, 7, 37, 200) if query in EVERY_ORDER[::5] else (7,):
            pages = list(walk(store, query, limit))
            assert ids(pages) == whole, query
            assert {(page.total, page.run) for page in pages} == {(37, RUN)}, query


def test_pages_can_be_walked_back(store: Store) -> None:
    show(store, make_many(30))
    pages = list(walk(store, ListingQuery(), 7))
    assert pages[0].before is None
    for earlier, later in pairwise(pages):
        back = store.listing.read_page(ListingQuery(), later.before, 7)
        assert back.servers == earlier.servers
        assert (back.before is None) == (earlier is pages[0])
        assert store.listing.read_page(ListingQuery(), back.after, 7).servers == later.servers
    assert pages[-1].after is None


def test_what_was_listed_comes_back_whole(store: Store) -> None:
    rows = make_many(20)
    show(store, rows)
    assert sorted(store.listing.read_page(ListingQuery()).servers, key=lambda one: one.server.id) == rows
    assert [store.listing.find_server(one.server.id) for one in rows] == rows
    assert store.listing.find_server("srv_nobody") is None


FILTERS: Sequence[tuple[ListingQuery, Callable[[ListedServer], bool]]] = [
    (ListingQuery(state="measured"), lambda one: one.state == "measured"),
    (ListingQuery(reason="unreachable"), lambda one: one.reason == "unreachable"),
    (ListingQuery(ecosystem="npm"), lambda one: one.ecosystem == "npm"),
    (ListingQuery(registry="starter"), lambda one: "starter" in one.registries),
    (ListingQuery(badge="lab_tested"), lambda one: "lab_tested" in one.badges),
    (ListingQuery(state="measured", badge="lab_tested"), lambda one: one.state == "measured" and bool(one.badges)),
    (ListingQuery(state="nonsense"), lambda one: False),
    (ListingQuery(category="data"), lambda one: "data" in one.facets.categories),
    (ListingQuery(transport="sse", sort="name"), lambda one: one.facets.transport == "sse"),
    (ListingQuery(access="open", sort="seen"), lambda one: one.facets.access == "open"),
    (ListingQuery(read_only="yes"), lambda one: one.facets.read_only == "yes"),
    (ListingQuery(advisories="no"), lambda one: one.facets.advisories == "no"),
    (
        ListingQuery(category="code", access="credentials", ecosystem="npm", grade="A"),
        lambda one: (
            "code" in one.facets.categories
            and one.facets.access == "credentials"
            and one.ecosystem == "npm"
            and (score := one.score("adaptive")) is not None
            and score.grade == "A"
        ),
    ),
    (ListingQuery(category="nonsense"), lambda one: False),
    (ListingQuery(grade="A"), lambda one: (score := one.score("adaptive")) is not None and score.grade == "A"),
    (
        ListingQuery(minimum=Decimal("70.01"), sort="name", rubric="lint", version=1),
        lambda one: (score := one.score("lint", 1)) is not None and (score.score or 0) >= Decimal("70.01"),
    ),
    (ListingQuery(text="weath"), lambda one: "weather" in f"{one.server.name} {one.server.ref}"),
    (ListingQuery(text="FILE git"), lambda one: all(word in _words(one) for word in ("files", "github"))),
    (ListingQuery(text="grösse"), lambda one: "größe" in _words(one)),
    (ListingQuery(text="天"), lambda one: "天気" in _words(one)),
    (ListingQuery(text="eather"), lambda one: False),
    (ListingQuery(text="-- ' ; %_"), lambda one: True),
]


def _words(one: ListedServer) -> str:
    return f"{one.server.name} {one.server.ref}".lower()


def test_a_filter_shows_those_and_counts_them(store: Store) -> None:
    rows = make_many(90)
    show(store, rows)
    for query, is_shown in FILTERS:
        whole = expected([one for one in rows if is_shown(one)], query)
        pages = list(walk(store, query, 10))
        assert ids(pages) == whole, query
        assert {page.total for page in pages} == {len(whole)}, query


GARBAGE = [
    "", "x", "a-2-1", "a-2-1-1-1", "a-2--1-1", "a-99999-1-1", f"a-2-{10**18 * 9 + 10**18}-1",
    "a-2-9999999999999999999-1", "a-2-1-9999999999", "a-0-1-1", "\x00", "a-２-1-1", "a-2-1-1\n", "' OR 1=1",
]  # fmt: skip


def test_a_cursor_of_garbage_is_named(store: Store) -> None:
    show(store, make_many(3))
    assert [cursor for cursor in GARBAGE if not _refuses(store, cursor)] == []


def _refuses(store: Store, cursor: str) -> bool:
    try:
        store.listing.read_page(ListingQuery(), cursor)
    except BadCursor:
        return True
    return False


def test_a_cursor_at_the_edge_of_numbers_is_an_empty_page(store: Store) -> None:
    show(store, make_many(3))
    assert store.listing.read_page(ListingQuery(), f"a-3-{2**63 - 1}-{2**31 - 1}").servers == ()
    assert len(store.listing.read_page(ListingQuery(), "a-3-0-0").servers) == 3


def test_an_unknown_rubric_is_refused_with_the_known_ones(store: Store) -> None:
    show(store, make_many(3))
    for query in (ListingQuery(rubric="nonsense"), ListingQuery(rubric="lint", version=9)):
        with pytest.raises(UnknownRubric, match="lint@2"):
            store.listing.read_page(query)
    assert store.listing.read_page(ListingQuery(rubric="nonsense", sort="name")).total == 3
    assert store.listing.list_rubrics() == (("adaptive", 1), ("lint", 1), ("lint", 2))


def test_names_of_any_kind_are_listed_and_found(store: Store) -> None:
    names = ["a" * 1_000_000, "\x00\ud800 nul", "\u202eltr", "</script>", "\x1b[31mred", "", "ﬁle ǅ", "x " * 50_000]
    chance = random.Random(3)
    rows = [make_listed(make_server(f"npm:{number}", name), chance) for number, name in enumerate(names)]
    rows.sort(key=lambda one: one.server.id)
    show(store, rows)
    for sort in SORT_ORDERS:
        assert {one.server.name for one in store.listing.read_page(ListingQuery(sort=sort)).servers} == set(names)
    for text, name in {
        "file": "ﬁle ǅ",
        "script": "</script>",
        "a" * 2_000: "a" * 1_000_000,
        "31mr": "\x1b[31mred",
    }.items():
        assert [one.server.name for one in store.listing.read_page(ListingQuery(text=text)).servers] == [name]
    assert store.listing.read_page(ListingQuery(text="\x00\ud800 %")).total == len(names)
    assert store.listing.read_page(ListingQuery(state="\x00", registry="\ud800")).total == 0
    assert store.listing.read_page(ListingQuery(grade="\x00")).total == 0


def test_many_are_said_to_be_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.store.listing.queries.COUNTED", 10)
    show(store, make_many(40))
    page = store.listing.read_page(ListingQuery(text="io"), limit=20)
    assert (page.total, page.counted, len(page.servers)) == (None, 10, 20)
    assert store.listing.read_page(ListingQuery(text="io"), limit=40).total == 40  # all of them can be seen
    monkeypatch.setattr("evidence.store.listing.queries.MANY", 30)
    page = store.listing.read_page(ListingQuery(text="io"), limit=5)
    assert (page.total, page.counted, len(page.servers)) == (None, 5, 5)
    assert store.listing.read_page(ListingQuery()).total == 40


def test_the_matches_of_a_common_word_are_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.store.listing.queries.MANY", 30)
    show(store, make_many(40))
    pages = [list(walk(store, ListingQuery(text="io"), 7))]
    monkeypatch.delattr("evidence.store.listing.word_search._find")  # reads all matches
    pages.append(list(walk(store, ListingQuery(text="io"), 7)))
    assert pages[0] == pages[1]
    with pytest.raises(NameError):
        store.listing.read_page(ListingQuery(text="weather"))


@pytest.mark.parametrize("many", [1, 20, 10_000])
def test_search_finds_the_same_however_common_a_word_is(
    store: Store, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_many(60)
    show(store, rows)
    monkeypatch.setattr("evidence.store.listing.queries.MANY", many)
    for text in ("io", "io weath", "we ma", "npm git", "weather mail"):
        having = [one for one in rows if all(_has(one, term) for term in parse_search_terms(text))]
        assert having
        for query in (ListingQuery(text=text), ListingQuery(text=text, sort="name", reverse=True)):
            assert ids(list(walk(store, query, 7))) == expected(having, query), query


HOSTILE = (
    '"', "'", "a'b", '"; DROP TABLE listing_text; --', "wea* OR io", "NEAR(io weather, 1)", "words : io", "^io", "-io",
    "io AND NOT weather", "(io", "{words}: io", "io:* | mail", "!io & mail", "io <-> mail", "\\", "\x00io", "%", "_",
    "\ud800", ":* & ''", "*",
)  # fmt: skip
"""Texts that mean something in FTS5, in a tsquery, or in a string of either."""


@pytest.mark.parametrize("many", [1, 10_000])
def test_syntax_of_full_text_queries_in_a_question_is_no_syntax(
    store: Store, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_many(30)
    show(store, rows)
    monkeypatch.setattr("evidence.store.listing.queries.MANY", many)
    for asked in HOSTILE:
        having = [one for one in rows if all(_has(one, term) for term in parse_search_terms(asked))]
        query = ListingQuery(text=asked)
        assert ids(list(walk(store, query, 7))) == expected(having, query), asked


SCRIPTS = (
    ("ÜBERSETZER", "übers"), ("Straße", "STRASSE"), ("ﬁxer", "fixe"), ("天気予報", "天気"),
    ("\U0001e900\U0001e901", "\U0001e922"), ("x²y", "x2"), ("naïve", "naï"), ("e\u0301tude", "étu"), ("मौसम", "म"),
)  # fmt: skip
"""Names, each with the beginning of one of its words in another case or form."""


@pytest.mark.parametrize("many", [1, 10_000])
def test_words_of_every_script_are_found_without_case(store: Store, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.store.listing.queries.MANY", many)
    servers = {asked: make_server(f"npm:s-{number}", name) for number, (name, asked) in enumerate(SCRIPTS)}
    chance = random.Random(1)
    show(store, sorted((make_listed(one, chance, RUN) for one in servers.values()), key=lambda one: one.server.id))
    for asked, server in servers.items():
        assert ids([store.listing.read_page(ListingQuery(text=asked))]) == [server.id], asked
    assert ids([store.listing.read_page(ListingQuery(text="naive"))]) == []


def _has(one: ListedServer, term: SearchTerm) -> bool:
    words = split_server_words((one.server.name, one.server.ref), one.purpose, one.tool_texts)
    return any(term.is_in(field) for field in (words.name, words.purpose, words.tools))


def test_an_empty_board_says_so(store: Store) -> None:
    assert store.listing.read_page(ListingQuery()) == ListingPage()
    assert store.listing.find_server("srv_x") is None
    assert (store.listing.find_newest_run(), store.listing.read_dashboard(), store.listing.list_rubrics()) == (
        None,
        None,
        (),
    )
    assert store.listing.read_history("srv_x") == ()


def test_opted_out_servers_leave_the_index_at_once(store: Store) -> None:
    rows = make_many(12)
    show(store, rows)
    before = store.listing.read_revision()
    gone, other = rows[3].server.id, rows[7].server.id
    store.listing.set_hidden_servers([gone, "srv_unknown"])
    assert gone not in ids([store.listing.read_page(ListingQuery())])
    assert store.listing.read_page(ListingQuery()).total == 11
    assert (
        store.listing.read_page(ListingQuery(state=rows[3].state)).total
        == sum(one.state == rows[3].state for one in rows) - 1
    )
    assert store.listing.find_server(gone) is None
    assert store.listing.read_revision() != before
    second = store.listing.read_revision()
    store.listing.set_hidden_servers([other])
    assert store.listing.find_server(gone) == rows[3]
    assert store.listing.find_server(other) is None
    assert store.listing.read_revision() not in {before, second}
    store.listing.set_hidden_servers([])
    assert store.listing.read_page(ListingQuery()).total == 12


def test_the_front_page_names_no_hidden_server(store: Store) -> None:
    rows = make_many(3)
    front = {"servers": 3, "movers": {"most": [{"server": one.server.id, "name": "n"} for one in rows], "why": ["x"]}}
    show(store, rows, front=json.dumps(front).encode())
    store.listing.set_hidden_servers([rows[1].server.id])
    dashboard = store.listing.read_dashboard()
    assert dashboard is not None
    left = [{"server": one.server.id, "name": "n"} for one in (rows[0], rows[2])]
    assert dashboard[1] == {"servers": 3, "movers": {"most": left, "why": ["x"]}}
    store.listing.set_hidden_servers([])
    assert store.listing.read_dashboard() == (RUN, front)


def test_a_page_is_never_longer_than_the_most(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.store.listing.index.MOST", 5)
    show(store, make_many(9))
    assert len(store.listing.read_page(ListingQuery(), limit=1_000_000).servers) == 5
    assert len(store.listing.read_page(ListingQuery(), limit=-1).servers) == 1


def test_a_server_without_any_score_comes_last_and_is_listed_in_every_order(store: Store) -> None:
    rows = [one for one in make_many(20) if len(one.scores) == 3]
    rows[1] = replace(rows[1], scores=())
    show(store, rows)
    assert store.listing.read_page(ListingQuery()).servers[-1] == rows[1]
    for sort in SORT_ORDERS:
        assert rows[1] in store.listing.read_page(ListingQuery(sort=sort)).servers


def test_more_facets_than_there_are_bits_are_not_found_and_break_nothing(store: Store) -> None:
    rows = [
        replace(one, facets=ServerFacets(categories=(f"c{number}",), access="open"))
        for number, one in enumerate(make_many(70))
    ]
    show(store, rows)
    first = store.listing.read_page(ListingQuery(category="c0")).servers
    assert [one.server.id for one in first] == [rows[0].server.id]
    assert store.listing.read_page(ListingQuery(category="c69")).servers == ()
    assert len(store.listing.read_page(ListingQuery(access="open"), limit=200).servers) == 70


def test_pages_by_addition_are_the_servers_in_the_order_of_their_discovery(store: Store) -> None:
    rows = make_many(23)
    for start in range(0, 23, 5):
        know(store, [one.server for one in rows[start : start + 5]], f"20261101T03000{start // 5}Z-1", None)
    show(store, rows)
    found = ids(list(walk(store, ListingQuery(sort="added"), 4)))
    assert set(found[-5:]) == {one.server.id for one in rows[:5]}, "the first ones come last"
    assert set(found[:3]) == {one.server.id for one in rows[20:]}
    assert ids(list(walk(store, ListingQuery(sort="added", reverse=True), 7))) == found[::-1]
