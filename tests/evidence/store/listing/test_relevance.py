"""The most relevant servers come first: field, rarity of the words, share of the words that match, and grade."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal

import pytest
from msgspec.structs import replace

from evidence.store import BadCursor, ListedScore, ListedServer, ListingQuery, Store
from evidence.store.listing.search_words import MAX_PURPOSE_WORDS, parse_search_terms, split_server_words
from tests.evidence.store.listing_samples import RUN, make_listed, make_many, make_server, show


def serving(
    name: str, purpose: str = "", tools: Sequence[str] = (), points: int | None = 50, **changes: object
) -> ListedServer:
    listed = make_listed(make_server(f"npm:{name.replace(' ', '-')}", name), random.Random(1))
    score = ListedScore(
        rubric="adaptive",
        version=1,
        score=None if points is None else Decimal(points),
        grade=None,
        floor=Decimal(points or 0),
        ceiling=Decimal(100),
        coverage=Decimal(1),
        not_measured="unreachable" if points is None else None,
    )
    return replace(listed, purpose=purpose, tool_texts=tuple(tools), scores=(score,), **changes)  # type: ignore[arg-type]


def found(store: Store, rows: Sequence[ListedServer], text: str, **filters: object) -> list[str]:
    show(store, sorted(rows, key=lambda row: row.server.id))
    query = ListingQuery(text=text, sort="relevance", **filters)  # type: ignore[arg-type]
    return [one.server.name for one in store.listing.read_page(query).servers]


def test_the_name_counts_more_than_the_purpose_and_the_purpose_more_than_tools(store: Store) -> None:
    rows = [
        serving("of tools", tools=["postgres_query"]),
        serving("of purpose", "Reads Postgres tables."),
        serving("postgres"),
    ]
    assert found(store, rows, "postgres") == ["postgres", "of purpose", "of tools"]


def test_between_equal_matches_the_grade_decides_and_never_makes_up_for_a_worse_one(store: Store) -> None:
    rows = [
        serving("poor", "Reads mail.", points=10),
        serving("good", "Reads mail.", points=90),
        serving("unmeasured", "Reads mail.", points=None),
        serving("excellent but other", tools=["mail"], points=100),
        serving("half", "Reads books.", points=100),
    ]
    assert found(store, rows, "read mail") == ["good", "poor", "unmeasured", "half", "excellent but other"]


def test_words_are_found_by_their_stem_and_by_their_beginning(store: Store) -> None:
    show(
        store,
        sorted([serving("a", "Queries a database"), serving("b", "Sends messages")], key=lambda row: row.server.id),
    )
    expected = {"databases": "a", "query": "a", "querying": "a", "datab": "a", "message": "b", "send": "b"}
    for text, name in expected.items():
        page = store.listing.read_page(ListingQuery(text=text, sort="relevance"))
        assert [one.server.name for one in page.servers] == [name], text


def test_stuffed_keywords_do_not_win(store: Store) -> None:
    words = ["mail", "maps", "files", "browser", "search", "weather", "database", "music", "news", "calendar"]
    stuffed = serving(
        "stuffed", " ".join(f"filler{number}" for number in range(MAX_PURPOSE_WORDS)) + " " + " ".join(words)
    )
    repeated = serving("repeated", "mail " * 500)
    honest = serving("honest", "Reads and sends mail.", points=60)
    assert found(store, [stuffed, repeated, honest], "mail") == ["honest", "repeated"]


def test_filters_and_hidden_servers_hold(store: Store) -> None:
    rows = [serving("one", "Reads mail.", ecosystem="npm"), serving("two", "Reads mail.", ecosystem="pypi")]
    assert found(store, rows, "mail", ecosystem="pypi") == ["two"]
    store.listing.set_hidden_servers([row.server.id for row in rows if row.server.name == "two"])
    page = store.listing.read_page(ListingQuery(text="mail", sort="relevance"))
    assert ([one.server.name for one in page.servers], page.total) == (["one"], 1)


@pytest.mark.parametrize(("rare", "joint"), [(1, 1), (3, 3), (3, 100)])
def test_when_words_are_common_the_best_ranked_servers_that_have_all_are_found(
    store: Store, rare: int, joint: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.store.listing.relevance.RARE", rare)
    monkeypatch.setattr("evidence.store.listing.relevance.JOINT", joint)
    rows = [serving(f"mail {number}", points=number) for number in range(0, 100, 10)]
    names = found(store, rows, "mail")
    assert names == [f"mail {number}" for number in range(90, -1, -10)]
    page = store.listing.read_page(ListingQuery(text="mail", sort="relevance"), limit=3)
    assert (len(page.servers), page.total, page.counted, page.after, page.run) == (3, None, 9, None, RUN)


def test_a_word_that_was_common_is_looked_up_again_in_the_next_edition(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.store.listing.relevance.RARE", 3)
    rows = [serving(f"mail {number}", points=number) for number in range(5)]
    query = ListingQuery(text="mail", sort="relevance")
    show(store, sorted(rows, key=lambda row: row.server.id))
    first, again = store.listing.read_page(query), store.listing.read_page(query)
    assert (first.total, again) == (None, first)
    show(store, sorted(rows[:2], key=lambda row: row.server.id))
    assert [one.server.name for one in store.listing.read_page(query).servers] == ["mail 1", "mail 0"]
    assert store.listing.read_page(query).total == 2


def test_without_words_relevance_is_the_rank(store: Store) -> None:
    show(store, make_many(20))
    read = store.listing.read_page
    for text in ("", " ... "):
        assert read(ListingQuery(text=text, sort="relevance")) == read(ListingQuery())


def test_words_that_say_nothing_are_ignored_unless_there_are_no_others() -> None:
    assert parse_search_terms("a server that reads the mail") == parse_search_terms("reads mail")
    assert [term.word for term in parse_search_terms("server")] == ["server"]


def test_a_word_is_not_taken_for_another_one_by_a_short_stem_or_the_parts_of_its_name(store: Store) -> None:
    rows = [serving("io.github.example/mail", "Reads mail."), serving("simulator", "Runs iOS apps."), serving("hub")]
    assert found(store, rows, "ios") == ["simulator"]
    page = store.listing.read_page(ListingQuery(text="GitHub", sort="relevance"))
    assert [one.server.name for one in page.servers] == ["io.github.example/mail"]


def test_a_short_name_is_found_by_the_long_one_and_the_other_way_round(store: Store) -> None:
    rows = [serving("postgres", points=60), serving("postgresql", points=50), serving("mysql", points=100)]
    assert found(store, rows, "PostgreSQL") == ["postgres", "postgresql"]
    assert found(store, rows, "postgres") == ["postgres", "postgresql"]


def test_an_unknown_word_hides_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.store.listing.relevance.RARE", 3)
    rows = [serving(f"mail {number}", points=number) for number in range(5)] + [serving("phone", ecosystem="oci")]
    assert found(store, rows, "mail xyzzy") == [f"mail {number}" for number in range(4, -1, -1)]
    read = store.listing.read_page
    assert len(read(ListingQuery(text="phone mail", sort="relevance")).servers) == 6
    assert len(read(ListingQuery(text="phone mail", sort="relevance", ecosystem=rows[0].ecosystem)).servers) == 5
    nothing = read(ListingQuery(text="xyzzy", sort="relevance"))
    assert (nothing.servers, nothing.total, nothing.counted) == ((), 0, 0)


def test_common_words_that_no_server_has_together_still_find_servers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.store.listing.relevance.RARE", 2)
    rows = [serving(f"mail {number}", points=number) for number in range(3)]
    rows += [serving(f"phone {number}", points=10 + number) for number in range(3)]
    assert found(store, rows, "mail phone") == ["phone 2", "phone 1", "phone 0", "mail 2", "mail 1", "mail 0"]


def test_there_is_no_second_page_and_a_cursor_is_refused(store: Store) -> None:
    show(store, make_many(20))
    cursor = store.listing.read_page(ListingQuery(), limit=5).after
    with pytest.raises(BadCursor, match="one page"):
        store.listing.read_page(ListingQuery(text="mail", sort="relevance"), cursor)


def test_words_of_one_server_are_bounded_and_names_in_camel_case_are_split() -> None:
    words = split_server_words(["x"], " ".join(f"word{number}" for number in range(1000)), ["readFile"])
    assert len(words.purpose) == MAX_PURPOSE_WORDS
    assert {"readfile", "read", "file"} <= set(words.tools)


def test_the_readme_is_searched_after_all_other_texts(store: Store) -> None:
    by_readme = replace(serving("one"), readme_texts=("Sends mail to many people",))
    by_tool = replace(serving("two"), tool_texts=("Sends mail",))
    assert found(store, [by_readme, by_tool], "mail") == ["two", "one"]
    assert found(store, [by_readme, by_tool], "people") == ["one"]
