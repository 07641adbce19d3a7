"""The answers of the MCP server: bounded, and made from published results only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct

from evidence.model import Server, server_id
from evidence.store import BadCursor, Store, UnknownRubric
from evidence.store.listing.matched_words import MatchedWords
from evidence.store.listing.values import ListedScore, ListedServer, ListingQuery
from publish.disclosure import WITHHELD
from publish.mcp.answer_types import (
    Comparison,
    ExplainedRule,
    Explanation,
    FoundServer,
    LostPoints,
    Part,
    PartDifference,
    Price,
    RankedServer,
    Receipt,
    RuleSnippet,
    SearchResult,
    Verdict,
)
from publish.mcp.reasons import describe_order, give_reasons, list_qualities
from publish.text.display import make_visible
from publish.text.numbers import json_number, json_share
from publish.views.comparisons.servers import Incomparable, ReceiptPair, pair_receipts
from publish.views.public_servers import read_public_server, read_server_outline
from publish.views.server_in_run import find_main_rubric
from publish.views.server_summary import has_thin_evidence, receipt_lines
from scoring import rule_examples
from scoring.engine import catalogue
from scoring.engine.rule import Rule
from scoring.explain import list_citations, list_published_ids
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Line, Scorecard
from scoring.results.verdict import read_verdict
from scoring.rule_snippets import make_snippet

MAX_PLACES: Final = 50
"""Maximum number of places of a finding, and of ids in a comparison."""

SUGGESTIONS: Final = 10

_TEXT: Final = 300
_NAME: Final = 120
_PREFIX: Final = "srv_"


class Unanswerable(Exception):
    """The question cannot be answered; the message says what was expected and found, and what to do."""


class McpAnswers(Struct, frozen=True):
    """Answers from a store. `base_url` is the site's address; `hidden` tells whether a server must not be shown."""

    store: Store
    base_url: str
    hidden: Callable[[Server], bool]

    def search(self, query: ListingQuery, cursor: str, limit: int) -> SearchResult:
        """One page of servers."""
        try:
            page = self.store.listing.read_page(query, cursor or None, limit)
        except BadCursor as error:
            raise Unanswerable("expected a cursor from next_cursor of the same search, found another text") from error
        except UnknownRubric as error:
            raise Unanswerable(f"no server has a receipt of {query.rubric}; try rubric adaptive") from error
        shown = [listed for listed in page.servers if not self.hidden(listed.server)]
        matches = self.store.listing.read_matches(query.text, [listed.server.id for listed in shown])
        return SearchResult(
            servers=[self._ranked(query, listed, matches.get(listed.server.id, ())) for listed in shown],
            order=describe_order(query),
            qualities=list_qualities(query.text),
            next_cursor=page.after,
            total=page.total,
            run=page.run,
        )

    def references(self, beginning: str) -> list[str]:
        """References of the best servers that match the typed text, without those that contain hidden characters."""
        page = self.store.listing.read_page(ListingQuery(text=beginning, sort="relevance"), limit=SUGGESTIONS)
        refs = [listed.server.ref for listed in page.servers if not self.hidden(listed.server)]
        return [ref for ref in refs if make_visible(ref, limit=_TEXT) == ref]

    def receipt(self, server: str, rubric: str, members: Collection[str], limit: int) -> Receipt:
        """The newest receipt of one server under one rubric; `members` selects among `parts`, `lines` and `caveats`."""
        listed = self._listed(server)
        card = self._card(listed, rubric)
        lines = _by_cost(card) if "lines" in members else []
        return Receipt(
            server=self._found(listed, listed.score(card.rubric, card.version)),
            run=listed.run,
            parts=[_part(part) for part in card.dimensions if "parts" in members],
            lines=[_line(line) for line in lines[:limit]],
            lines_left_out=max(0, len(lines) - limit),
            caps=[make_visible(cap, limit=_TEXT) for cap in read_verdict(card).caps],
            caveats=[make_visible(caveat, limit=_TEXT) for caveat in card.caveats if "caveats" in members],
            methodology=f"{self.base_url}/methods/{card.rubric}@{card.version}",
        )

    def explain(self, finding: str, server: str) -> Explanation:
        """Explain the id of a rule or a published id, and list its places on a server."""
        if finding == WITHHELD:
            raise Unanswerable("withheld stands for findings that are not shown until they are disclosed to the vendor")
        rules = _rules_of(finding)
        if not rules:
            raise Unanswerable(
                f"expected the id of a rule such as tool-description-missing, or a `finding` of a receipt, "
                f"found {make_visible(finding, limit=_NAME)!r}; get_scorecard lists the findings of a server"
            )
        places: Sequence[Line] = ()
        listed = self._listed(server) if server else None
        if listed is not None:
            places = list(self._places(listed, finding, frozenset(rule.id for rule in rules)))
        return Explanation(
            rules=[self._explained(rule) for rule in rules],
            server=None if listed is None else listed.server.id,
            places=[_line(line) for line in places[:MAX_PLACES]],
            places_left_out=max(0, len(places) - MAX_PLACES),
        )

    def compare(self, first: str, second: str, rubric: str) -> Comparison:
        """Two servers under the newest receipts of one rubric."""
        one, other = self._listed(first), self._listed(second)
        left, right = self._card(one, rubric), self._card(other, rubric)
        pair = pair_receipts(left, right)
        return Comparison(
            comparable=not pair.incomparable,
            why_not=_explain_incomparable(pair),
            first=self._found(one, one.score(left.rubric, left.version)),
            second=self._found(other, other.score(right.rubric, right.version)),
            difference=_number(pair.difference),
            parts=[
                PartDifference(name=part.name, first=_number(part.left), second=_number(part.right))
                for part in pair.parts
                if part.left is not None
            ],
            only_first=_ids_on_first_only(left, right),
            only_second=_ids_on_first_only(right, left),
            page=f"{self.base_url}/compare?server={one.server.id}&server={other.server.id}",
        )

    def _listed(self, server: str) -> ListedServer:
        found = self.store.listing.find_server(server if server.startswith(_PREFIX) else server_id(server))
        if found is None or self.hidden(found.server):
            raise Unanswerable(
                f"expected the id (srv_...) or the exact reference of a published server, "
                f"found {make_visible(server, limit=_NAME)!r}; search_servers finds ids by name"
            )
        return found

    def _ranked(self, query: ListingQuery, listed: ListedServer, matches: Sequence[MatchedWords]) -> RankedServer:
        score = listed.score(query.rubric, query.version)
        reasons = give_reasons(query, matches, score, self._main_card(listed))
        return RankedServer(**self._found(listed, score), reasons=reasons)

    def _main_card(self, listed: ListedServer) -> Scorecard | None:
        """The newest receipt under the main rubric, read alone where that is possible."""
        rubric = find_main_rubric(listed.scores)
        shown = self.store.listing.find_shown(listed.server.id)
        outline = None if shown is None else read_server_outline(self.store, shown, rubric)
        if outline is not None:
            return outline.main
        return None if rubric is None else self._newest_cards(listed).get(rubric)

    def _newest_cards(self, listed: ListedServer) -> Mapping[str, Scorecard]:
        shown = read_public_server(self.store, listed.run, listed.server.id)
        return shown.newest_scorecards() if shown else {}

    def _card(self, listed: ListedServer, rubric: str) -> Scorecard:
        """The newest receipt under a rubric."""
        card = self._newest_cards(listed).get(rubric)
        if card is None:
            raise Unanswerable(f"{listed.server.id} has no receipt of {rubric} in {listed.run}")
        return card

    def _places(self, listed: ListedServer, finding: str, rules: frozenset[str]) -> Iterator[Line]:
        """Lines about the finding on the newest receipt of each rubric, each place once."""
        seen: set[tuple[str, str]] = set()
        for card in self._newest_cards(listed).values():
            for line in receipt_lines(card):
                asked = line.rule in rules if finding in rules else line.cites.casefold() == finding.casefold()
                if asked and (line.at, line.why) not in seen:
                    seen.add((line.at, line.why))
                    yield line

    def _found(self, listed: ListedServer, score: ListedScore | None) -> FoundServer:
        return FoundServer(
            id=listed.server.id,
            name=make_visible(listed.server.name, limit=_NAME),
            ref=make_visible(listed.server.ref, limit=_TEXT),
            purpose=make_visible(listed.purpose, limit=_TEXT),
            state=listed.state,
            reason=listed.reason,
            ecosystem=listed.ecosystem,
            registries=[make_visible(name, limit=_NAME) for name in listed.registries],
            tools=listed.tools,
            badges=list(listed.badges),
            categories=list(listed.facets.categories),
            access=listed.facets.access or None,
            as_of=listed.as_of.isoformat(timespec="seconds"),
            page=f"{self.base_url}/servers/{listed.server.id}",
            verdict=None if score is None else _verdict(score),
        )

    def _explained(self, rule: Rule) -> ExplainedRule:
        return ExplainedRule(
            rule=rule.id,
            title=rule.title,
            why=rule.rationale,
            remedy=rule.remedy,
            snippet=_snippet(rule),
            severity=rule.severity.value,
            reads=rule.reads,
            specification=rule.spec or None,
            good=list(rule_examples.list_good_examples(rule)),
            bad=list(rule_examples.list_bad_examples(rule)),
            prices=[
                Price(rubric=rubric.name, finding=criterion.cites, points=json_number(criterion.points))
                for rubric, criterion in list_citations(rule)
            ],
            page=f"{self.base_url}/rules/{rule.id}",
        )


def _snippet(rule: Rule) -> RuleSnippet | None:
    snippet = make_snippet(rule)
    if snippet is None:
        return None
    language, where = snippet.language.value, snippet.where
    return RuleSnippet(language=language, where=where, before=snippet.before, after=snippet.after)


def describe_methodologies() -> Mapping[str, str]:
    """A sentence on each rubric version, by its name."""
    return {rubric.name: f"{rubric.title}: {rubric.summary}" for rubric in catalogue.list_rubrics()}


def _rules_of(finding: str) -> tuple[Rule, ...]:
    """The rule of an id, or all rules that a published id cites."""
    known = {rule.id: rule for rule in catalogue.list_rules()}
    if finding in known:
        return (known[finding],)
    if finding not in list_published_ids() and finding.upper() not in list_published_ids():
        return ()
    cited = {
        criterion.rule
        for rubric in catalogue.list_rubrics()
        for criterion in rubric.criteria
        if criterion.cites.casefold() == finding.casefold()
    }
    cited |= {
        criterion.rule
        for rubric in catalogue.list_rubrics()
        for dimension in rubric.dimensions
        for component in dimension.components
        for criterion in component.criteria
        if finding in {dimension.name, f"{dimension.name}.{component.name}"}
    }
    return tuple(known[rule] for rule in sorted(cited))


def _verdict(score: ListedScore) -> Verdict:
    return Verdict(
        rubric=score.rubric,
        version=score.version,
        score=_number(score.score),
        grade=score.grade,
        floor=_number(score.floor),
        ceiling=_number(score.ceiling),
        coverage=json_share(score.coverage),
        thin=score.thin,
        capped=score.capped,
        not_measured=score.not_measured,
    )


def _part(part: DimensionScore) -> Part:
    return Part(
        name=part.name,
        result=_number(part.result),
        base_weight=json_number(part.base_weight),
        effective_weight=json_share(part.effective_weight),
        not_measured=part.result.reason if isinstance(part.result, NotMeasured) else None,
    )


def _line(line: Line) -> LostPoints:
    return LostPoints(
        finding=make_visible(line.cites, limit=_NAME),
        rule=line.rule,
        where=make_visible(line.at, limit=_TEXT),
        points=json_number(line.points),
        why=make_visible(line.why, limit=_TEXT),
    )


def _by_cost(card: Scorecard) -> list[Line]:
    """Lines with points, the most expensive first; lines of equal cost keep the order of the receipt."""
    return sorted((line for line in receipt_lines(card) if line.points), key=lambda line: line.points)


def _explain_incomparable(pair: ReceiptPair) -> str | None:
    if {Incomparable.VERSION, Incomparable.RULESET, Incomparable.ENGINE} & set(pair.incomparable):
        return "they were judged by different versions of the methodology or of its rules"
    for card in (pair.left, pair.right):
        if card is not None and isinstance(card.score, NotMeasured):
            return f"{card.server} has no score ({card.score.reason})"
        if card is not None and has_thin_evidence(card):
            return f"the score of {card.server} rests on thin evidence"
    return None


def _ids_on_first_only(first: Scorecard, second: Scorecard) -> list[str]:
    return sorted(_ids_that_cost(first) - _ids_that_cost(second))[:MAX_PLACES]


def _ids_that_cost(card: Scorecard) -> set[str]:
    return {make_visible(line.cites, limit=_NAME) for line in receipt_lines(card) if line.points < 0}


def _number(value: Decimal | NotMeasured | None) -> float | None:
    return json_number(value) if isinstance(value, Decimal) else None
