"""Search by purpose: the servers that fit a query best, by relevance times grade.

A server need not match every term. Rare terms weigh more than common ones, names more than the purpose, the purpose
more than tools, and these more than the README; a word counts once however often a text repeats it. Candidates are the
servers that match a term which is not common; if these are few, also the best-ranked servers that match all common
terms, or if there are none, any.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, select

from evidence.store.listing.queries import Edition, find_matches, list_conditions, make_listed, select_servers
from evidence.store.listing.search_words import SearchTerm, parse_search_terms
from evidence.store.listing.values import ListingPage, ListingQuery
from evidence.store.listing.word_search import (
    WordTexts,
    has_any_word,
    is_at_places,
    read_word_texts,
)
from evidence.store.tables.listing import LISTING_ORDER, LISTING_SERVER

FIELD_WEIGHTS: Final = (3.0, 2.0, 1.0, 0.5)
"""Of a term in the name, the purpose, the tools and the README; the heaviest field that has it counts."""

PREFIX_SHARE: Final = 0.6
"""Of the weight of a field in which a term is only the beginning of a word."""

UNGRADED: Final = 0.4
"""The factor of a server without points; it grows to 1 with 100 points of the query's methodology."""

RARE: Final = 1_000
"""A term that fewer servers match is rare: all of them are candidates."""

JOINT: Final = 5_000
"""Fewer servers that match all common terms are read; with more, checking the best-ranked servers is cheaper."""

_EXAMINED: Final = 100
"""Candidates whose words are read: those that match the rarest terms and have the most points."""

_POINTS: Final = 1_000_000  # of 100 points, in the unit of the index


class WeighedTerm(Struct, frozen=True):
    """A term, the places of the servers that match it (None when they are many), and its weight."""

    term: SearchTerm
    places: frozenset[int] | None
    weight: float


def read_relevant(connection: Connection, edition: Edition, query: ListingQuery, limit: int) -> ListingPage:
    """The most relevant servers on one page, best first, or last when the query reverses.

    `total` is None if there may be more servers than the candidates.
    """
    terms = _weigh(connection, edition, parse_search_terms(query.text))
    points = _find_candidates(connection, edition, query, terms)
    examined = sorted(points, key=lambda place: (-_estimate(terms, place) * _grade(points[place]), place))[:_EXAMINED]
    texts = read_word_texts(connection, edition.key, examined)
    found = {place: measure_relevance(terms, texts[place]) * _grade(points[place]) for place in examined}
    best = sorted(found, key=lambda place: (-found[place], place))[:limit]
    rows = connection.execute(select_servers(edition).where(is_at_places(connection, LISTING_SERVER.c.place, best)))
    listed = {row.place: make_listed(edition, row) for row in rows}
    is_all = not points or (all(term.places is not None for term in terms) and _count_matches(terms) < RARE)
    counted = len(points) if is_all else len(points) - 1
    return ListingPage(
        servers=tuple(listed[place] for place in (reversed(best) if query.reverse else best)),
        total=counted if is_all else None,
        counted=counted,
        run=edition.run,
    )


def measure_relevance(terms: Sequence[WeighedTerm], texts: WordTexts) -> float:
    """The weights of the matched terms by field, times the square of the share of the weight that matched."""
    matched = whole = total = 0.0
    for one in terms:
        whole += one.weight
        if share := max(map(_share_in, FIELD_WEIGHTS, texts, [one.term] * len(texts))):
            total += one.weight * share
            matched += one.weight
    return total * (matched / whole) ** 2 if whole else 0.0


def _share_in(weight: float, text: str, term: SearchTerm) -> float:
    """The whole weight for the word or its stem, a part of it for the beginning of a word."""
    begins = f" {term.word}"
    if f"{begins} " in text or (term.stem and f" {term.stem} " in text):
        return weight
    return weight * PREFIX_SHARE if begins in text else 0.0


def _weigh(connection: Connection, edition: Edition, terms: Iterable[SearchTerm]) -> list[WeighedTerm]:
    found = []
    for term in terms:
        places = find_matches(connection, edition, [term], RARE).places
        many = RARE if places is None else len(places)
        found.append(WeighedTerm(term, places, math.log1p(edition.servers / max(1, many))))
    return found


def _find_candidates(
    connection: Connection, edition: Edition, query: ListingQuery, terms: Sequence[WeighedTerm]
) -> dict[int, int]:
    """The places of the candidates that pass the filters, each with its points in the unit of the index, or -1."""
    order = LISTING_ORDER.c
    of_rubric = (order.edition == edition.key, order.sort == edition.rubric(query))
    ranked = select(order.place, order.score).where(*of_rubric, *list_conditions(edition, query))
    places = _list_rare(terms)
    rare = connection.execute(ranked.where(is_at_places(connection, order.place, places))) if places else ()
    points = {row.place: _points_of(row.score) for row in rare}
    common = [term.term for term in terms if term.places is None]
    if common and len(points) < _EXAMINED:
        matches = find_matches(connection, edition, common, JOINT)
        best = ranked.order_by(order.rank, order.place).limit(_EXAMINED)
        having_all = connection.execute(best.where(*matches.conditions(connection)))
        points |= {row.place: _points_of(row.score) for row in having_all}
        if not points:
            having_any = connection.execute(best.where(has_any_word(connection, edition.key, common)))
            points = {row.place: _points_of(row.score) for row in having_any}
    return points


def _list_rare(terms: Sequence[WeighedTerm]) -> set[int]:
    """The places of the servers that match the rarest terms, about RARE at most."""
    places: set[int] = set()
    for some in sorted((term.places for term in terms if term.places), key=len):
        places |= some
        if len(places) >= RARE:
            break
    return places


def _count_matches(terms: Sequence[WeighedTerm]) -> int:
    return sum(len(term.places) for term in terms if term.places)


def _points_of(score: int | None) -> int:
    return -1 if score is None else score


def _estimate(terms: Sequence[WeighedTerm], place: int) -> float:
    return sum(term.weight for term in terms if term.places is not None and place in term.places)


def _grade(points: int) -> float:
    return UNGRADED + (1 - UNGRADED) * max(0, points) / _POINTS
