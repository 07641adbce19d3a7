"""Why a search found a server, and why it stands where it does: the words that matched, and what was measured."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from evidence.store.listing.matched_words import MatchedWords
from evidence.store.listing.quality_words import GRADE, NOT_MEASURED, find_qualities
from evidence.store.listing.search_words import parse_search_terms, split_query
from evidence.store.listing.values import ListedScore, ListingQuery
from publish.mcp.answer_types import AskedQuality, DimensionResult, MatchedTerm, Reasons
from publish.text.display import make_visible
from publish.text.numbers import format_number
from publish.views.dimension_bars import DimensionBar, list_dimension_bars
from publish.views.security_summary import summarize_security
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict

_SHOWN_DIMENSIONS: Final = frozenset({"security", "maintenance"})
"""Dimensions that every reason states; those of asked qualities are added."""

_TEXT: Final = 300
_CAUSE_ENDS: Final = ";"
"""A cap says what caused it, then what lifts it."""

_ORDERS: Final = {
    "rank": "points that the evidence guarantees, highest first",
    "name": "name, from A to Z",
    "seen": "date of the evidence, newest first",
    "added": "date of discovery, newest first",
}


def describe_order(query: ListingQuery) -> str:
    """What the order of the found servers follows."""
    if query.sort != "relevance":
        return _ORDERS[query.sort]
    if not parse_search_terms(query.text):
        return _ORDERS["rank"]
    return (
        "relevance times points: rare words weigh more than common ones, the name more than the purpose, this more "
        f"than tools, and these more than the README; the points are those of {query.rubric}"
    )


def list_qualities(text: str) -> list[AskedQuality]:
    """The words of a query that are answered by measurements and not searched for."""
    searched = {term.word for term in parse_search_terms(text)}
    asked = find_qualities(word for word in split_query(text) if word not in searched)
    return [AskedQuality(word=word, answered_by=answer) for word, answer in asked.items()]


def give_reasons(
    query: ListingQuery, matches: Sequence[MatchedWords], score: ListedScore | None, card: Scorecard | None
) -> Reasons:
    """The reasons for one found server; `card` is its main receipt, from which dimensions and security are read."""
    asked = {one["answered_by"] for one in list_qualities(query.text)} - {GRADE, NOT_MEASURED}
    bars = () if card is None else tuple(_pick_bars(card, _SHOWN_DIMENSIONS | asked))
    security = None if card is None else summarize_security(card)
    caps = () if card is None else read_verdict(card).caps
    reasons = Reasons(
        text="",
        matches=[MatchedTerm(word=one.term, where=one.field, found=list(one.words)) for one in matches],
        unmatched=_list_unmatched(query.text, matches),
        score=describe_score(score),
        dimensions=[DimensionResult(name=bar.name, result=bar.words) for bar in bars],
        security=None if security is None else make_visible(f"{security.status.value}: {security.text}", limit=_TEXT),
        caps=[make_visible(cap, limit=_TEXT) for cap in caps],
    )
    reasons["text"] = " ".join(_sentences(reasons))
    return reasons


def describe_score(score: ListedScore | None) -> str:
    """Value, grade and range in words, or why there is none."""
    if score is None:
        return "no receipt"
    bounds = [bound for bound in (score.floor, score.ceiling) if bound is not None]
    between = " to ".join(map(format_number, dict.fromkeys(bounds)))
    if score.score is None:
        why = f"no score ({(score.not_measured or '').replace('_', ' ')})"
        return f"{why}; complete evidence gives {between}" if between else why
    value = f"{format_number(score.score)} of 100" + (f", grade {score.grade}" if score.grade else "")
    if len(set(bounds)) > 1:
        value += f"; complete evidence gives {between}"
    return value + ("; thin evidence" if score.thin else "")


def _pick_bars(card: Scorecard, names: Collection[str]) -> Iterator[DimensionBar]:
    return (bar for bar in list_dimension_bars(card) if bar.name in names)


def _list_unmatched(text: str, matches: Sequence[MatchedWords]) -> list[str]:
    matched = {one.term for one in matches}
    return [term.word for term in parse_search_terms(text) if term.word not in matched]


def _sentences(reasons: Reasons) -> Iterator[str]:
    """The same reasons as one short text."""
    if reasons["matches"]:
        yield f"Found by {'; '.join(_describe_matches(reasons['matches']))}."
    if reasons["unmatched"]:
        yield f"Not found in the words that the search keeps: {', '.join(reasons['unmatched'])}."
    yield f"Score: {reasons['score']}."
    for cap in reasons["caps"]:
        yield f"{_capitalize(cap.partition(_CAUSE_ENDS)[0])}."
    for one in reasons["dimensions"]:
        note = f" ({reasons['security']})" if one["name"] == "security" and reasons["security"] else ""
        yield f"{_capitalize(one['name'])}: {one['result']}{note}."


def _describe_matches(matches: Sequence[MatchedTerm]) -> Iterator[str]:
    """One phrase for each word of the query, with the fields that have it."""
    for word in dict.fromkeys(one["word"] for one in matches):
        yield f"{word} in {' and '.join(one['where'] for one in matches if one['word'] == word)}"


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
