"""Words that ask for a quality neither find nor exclude a server, and each has an answer that is measured."""

from __future__ import annotations

from evidence.store import ListingQuery, Store
from evidence.store.listing.quality_words import GRADE, NOT_MEASURED, QUALITIES, find_qualities
from evidence.store.listing.search_words import parse_search_terms, split_query
from scoring.engine import catalogue
from tests.evidence.store.listing.test_relevance import found, serving


def test_each_word_is_answered_by_a_dimension_of_the_default_methodology_or_by_the_grade() -> None:
    default = next(rubric for rubric in catalogue.list_rubrics() if rubric.default)
    assert set(QUALITIES.values()) - {GRADE, NOT_MEASURED} <= {part.name for part in default.dimensions}


def test_a_server_without_the_word_is_found_and_one_with_it_is_not_preferred(store: Store) -> None:
    rows = [serving("measured", "Reads Postgres.", points=90), serving("boasting", "Safe. Reads Postgres.", points=40)]
    text = "a safe, well-documented, maintained server that reads postgres"
    assert found(store, rows, text) == ["measured", "boasting"]
    ranked = store.listing.read_page(ListingQuery(text=text)).servers
    assert [one.server.name for one in ranked] == ["measured", "boasting"]


def test_a_word_of_a_quality_alone_is_searched_for() -> None:
    assert [term.word for term in parse_search_terms("safe")] == ["safe"]
    assert [term.word for term in parse_search_terms("a safe server")] == ["safe"]


def test_words_and_their_answers_are_named() -> None:
    words = split_query("Safe, popular and well-documented tool for mail")
    assert find_qualities(words) == {
        "safe": "security",
        "popular": NOT_MEASURED,
        "documented": "documentation",
    }


def test_words_of_well_known_names_are_searched_for() -> None:
    for text in ("stable diffusion", "great expectations", "oil well", "robust regression"):
        assert [term.word for term in parse_search_terms(text)] == text.split()
