"""Each term of a query is shown with the words of the texts that match it."""

from __future__ import annotations

from evidence.store import Store
from evidence.store.listing.matched_words import MAX_MATCHES, MatchedWords, match_words
from evidence.store.listing.search_words import parse_search_terms, split_server_words
from tests.evidence.store.listing.test_relevance import serving
from tests.evidence.store.listing_samples import show


def matches(query: str, name: str = "", purpose: str = "", *tools: str) -> list[MatchedWords]:
    return list(match_words(parse_search_terms(query), split_server_words([name], purpose, tools)))


def test_a_match_names_the_field_and_the_words_as_they_were_written() -> None:
    assert matches("reads postgresql", "postgresql", "Read-only access to PostgreSQL.", "run_queries") == [
        MatchedWords("reads", "purpose", ("read",)),
        MatchedWords("postgres", "name", ("postgresql",)),
        MatchedWords("postgres", "purpose", ("postgresql",)),
    ]
    assert matches("query", "", "", "run_queries") == [MatchedWords("query", "tools", ("queries",))]


def test_few_words_are_named_and_none_is_a_stem() -> None:
    (found,) = matches("post", "", "Posts postgres postage post postal postcards.")
    assert found.words == ("posts", "postgres", "postage")
    assert len(found.words) == MAX_MATCHES


def test_words_that_match_nothing_are_left_out() -> None:
    assert matches("zebra mail", "mail") == [MatchedWords("mail", "name", ("mail",))]


def test_matches_are_read_for_the_servers_that_are_asked_for(store: Store) -> None:
    rows = [serving("mail", "Sends mail."), serving("phone", "Calls.")]
    show(store, sorted(rows, key=lambda row: row.server.id))
    mail, phone = (row.server.id for row in rows)
    assert store.listing.read_matches("send mail", [mail, phone]) == {
        mail: (
            MatchedWords("send", "purpose", ("sends",)),
            MatchedWords("mail", "name", ("mail",)),
            MatchedWords("mail", "purpose", ("mail",)),
        ),
        phone: (),
    }
    assert store.listing.read_matches("", [mail]) == {}
    assert store.listing.read_matches("mail", []) == {}
