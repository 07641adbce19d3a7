"""Summaries of servers for tables, and counts of the criteria that cost points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson
from msgspec import Struct, field

from evidence.kinds import listing
from evidence.kinds.listing import LISTS, End, Listing
from evidence.model import Absent, Dossier, Reason, Server, ServerId
from scoring import ranking
from scoring.analysis.token_costs import estimate_tokens
from scoring.ranking import RankKey
from scoring.results.outcome import LIST_FAILED, NotMeasured
from scoring.results.scorecard import Line, Scorecard
from scoring.results.verdict import CAP
from scoring.rubrics.adaptive_gates import read_capped_finding

HISTOGRAM_BINS = 10
_WHOLE = {End.COMPLETE, End.NOT_ASKED}
_TOOLS = "tools"
_UNREAD = "could not be listed"
"""The words of every rubric's caveat about a list that was not read to its end; a test checks them."""


class MeasuredState(StrEnum):
    """How much of a server's declared lists was read."""

    MEASURED = "measured"
    PARTIAL = "partial"
    NOT_TESTABLE = "not testable"


class RubricMark(Struct, frozen=True):
    """One rubric's result in a table row. `thin` results rest on too little evidence to be compared.

    `floor` is the score with everything unmeasured at 0; None if it equals the score.
    """

    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    coverage: Decimal
    thin: bool = False
    floor: Decimal | None = None

    def rank(self, server: ServerId) -> RankKey:
        """Sorts rows as `scoring.ranking` sorts their cards, best first."""
        floor = self.floor if self.floor is not None else self.score or Decimal(0)
        return ranking.rank_key_of_columns(floor=floor, coverage=self.coverage, score=self.score, server=server)


class ServerRow(Struct, frozen=True):
    """One server in a table."""

    id: ServerId
    name: str
    ref: str
    state: MeasuredState
    reason: Reason | None
    detail: str
    tools: int | None
    marks: tuple[RubricMark, ...]

    def mark(self, rubric: str, version: int) -> RubricMark | None:
        """The verdict of one version of one rubric."""
        return next((mark for mark in self.marks if (mark.rubric, mark.version) == (rubric, version)), None)


class FailureCount(Struct, frozen=True):
    """A criterion that cost points: on how many servers, how often, and how many points in all."""

    rubric: str
    version: int
    cites: str
    rule: str | None
    servers: int
    times: int
    points: Decimal
    example: str


class FailureCounter(Struct, dict=True):
    """Counts what costs points, server by server."""

    _found: dict[tuple[str, int, str, str | None], FailureCount] = field(default_factory=dict)

    def count(self, rubric: str, version: int, lines: Iterable[Line]) -> None:
        """Count the lines of one receipt."""
        here: dict[tuple[str, str], list[Line]] = {}
        for line in lines:
            if line.points < 0 and line.rule is not None:  # lines such as rounding have no rule and are no failure
                here.setdefault((line.cites, line.rule), []).append(line)
        for (cites, rule), found in here.items():
            points = sum((line.points for line in found), Decimal(0))
            self.add(FailureCount(rubric, version, cites, rule, 1, len(found), points, found[0].why))

    def add(self, found: FailureCount) -> None:
        """Add the count of other servers."""
        key = (found.rubric, found.version, found.cites, found.rule)
        known = self._found.get(key)
        if known is not None:
            servers, times, points = (
                known.servers + found.servers,
                known.times + found.times,
                known.points + found.points,
            )
            found = FailureCount(*key, servers, times, points, known.example)
        self._found[key] = found

    def all(self) -> Collection[FailureCount]:
        return self._found.values()

    def most(self, rubric: str, version: int, limit: int = 12) -> list[FailureCount]:
        """What cost points on most servers."""
        found = [item for item in self._found.values() if (item.rubric, item.version) == (rubric, version)]
        return sorted(found, key=lambda item: (-item.servers, -item.times, item.cites, item.rule or ""))[:limit]


def receipt_lines(card: Scorecard) -> Iterator[Line]:
    """Every line of a receipt: its own lines and those of its dimensions and components."""
    yield from card.lines
    for part in card.dimensions:
        yield from part.lines
        for component in part.components:
            yield from component.lines


def finding_lines(card: Scorecard) -> Iterator[Line]:
    """The lines that may be about a finding. A cap repeats one that has its own line; where it has none, the cap's line
    with the message of the finding.
    """
    caps = {(line.rule, line.at): line for line in card.lines if line.cites.startswith(CAP) and line.rule}
    rules, places = {rule for rule, _ in caps}, {at for _, at in caps}
    for line in receipt_lines(card):
        if not line.cites.startswith(CAP):
            rules.discard(line.rule)
            places.discard(line.at)
            yield line
    yield from (read_capped_finding(cap) for (rule, at), cap in caps.items() if rule in rules and at in places)


def summarize_server(dossier: Dossier, cards: Sequence[Scorecard]) -> ServerRow:
    """The row of a server from its dossier and its receipts, which may be summaries."""
    content = dossier.read(listing.KIND)
    absent = content if isinstance(content, Absent) else None
    seen = dossier.parsed(listing.KIND, Listing.parse)
    return ServerRow(
        id=dossier.server.id,
        name=dossier.server.name,
        ref=dossier.server.ref,
        state=_state(seen),
        reason=absent.reason if absent else None,
        detail=absent.detail if absent else "",
        tools=count_listed(dossier, "tools"),
        marks=tuple(_mark(card) for card in cards),
    )


def find_ecosystem(server: Server) -> str:
    """`remote`, or where the package comes from, by the target that decides about the server's identity."""
    if not server.targets:
        return "unknown"
    kind = server.targets[0].type
    return "remote" if kind.is_remote else kind.value


def count_listed(dossier: Dossier, name: str) -> int | None:
    """How many tools, prompts, resources or resource templates a server lists (`name` is one of `listing.LISTS`).

    None where the list could not be read to its end.
    """
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if seen is None or (found := seen.list_of(name)).end not in _WHOLE:
        return None
    return len(found.items)


def estimate_listed_tokens(dossier: Dossier) -> int | None:
    """Tokens that the definitions of all tools take in a model's context; None where they could not all be listed."""
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if seen is None or count_listed(dossier, _TOOLS) is None:
        return None
    return sum(estimate_tokens(tool.raw) for tool in seen.tools.items)


def _state(seen: Listing | None) -> MeasuredState:
    if seen is None:
        return MeasuredState.NOT_TESTABLE
    return MeasuredState.MEASURED if all(seen.list_of(name).end in _WHOLE for name in LISTS) else MeasuredState.PARTIAL


def _mark(card: Scorecard) -> RubricMark:
    score = card.score if isinstance(card.score, Decimal) else None
    floor = None if card.floor == score else card.floor
    return RubricMark(card.rubric, card.version, score, card.grade, card.coverage, has_thin_evidence(card), floor)


def make_row_from_receipts(server: Server, absent: Absent | None, cards: Sequence[Scorecard]) -> ServerRow:
    """The row of a server from its receipts alone, for tables that must not read every dossier.

    `tools` is None where no receipt counts them, or the list of tools could not be read to its end.
    """
    unread = [caveat for card in cards for caveat in card.caveats if _UNREAD in caveat]
    scores = [card.score for card in cards]
    unread += [one.detail for one in scores if isinstance(one, NotMeasured) and one.reason == LIST_FAILED]
    are_tools_unread = any(text.startswith(_TOOLS) for text in unread)
    return ServerRow(
        id=server.id,
        name=server.name,
        ref=server.ref,
        state=MeasuredState.NOT_TESTABLE if absent else MeasuredState.PARTIAL if unread else MeasuredState.MEASURED,
        reason=absent.reason if absent else None,
        detail=absent.detail if absent else "",
        tools=None if absent or are_tools_unread else next(_tool_counts(cards), None),
        marks=tuple(_mark(card) for card in cards),
    )


def read_tool_scores(card: Scorecard) -> list[dict[str, Any]] | None:
    """Name and score of each tool, of receipts that score tools one by one."""
    fact = card.facts.get(_TOOLS, "")
    found: list[dict[str, Any]] | None = orjson.loads(fact) if fact.startswith("[") else None
    return found


def _tool_counts(cards: Sequence[Scorecard]) -> Iterator[int]:
    """How many tools each receipt counted, those that score every tool first: some others read one page only."""
    yield from (len(scores) for card in cards if (scores := read_tool_scores(card)) is not None)
    yield from (int(card.facts[_TOOLS]) for card in cards if card.facts.get(_TOOLS, "").isdecimal())


def has_thin_evidence(card: Scorecard) -> bool:
    """Whether the rubric itself marks the evidence as too little (docs/decisions/0024)."""
    return card.facts.get("evidence") == "thin"
