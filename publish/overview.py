"""What a whole run adds up to: shares, distributions, reasons, common failures. One small row per server is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson

from evidence.canonical import NotJson
from evidence.kinds import listing
from evidence.kinds.listing import LISTS, End, Listing
from evidence.model import Absent, Dossier, Reason, Server, ServerId
from scoring import standing
from scoring.scorecard import Line, Scorecard
from scoring.standing import RankKey

BINS = 10
_WHOLE = {End.COMPLETE, End.NOT_ASKED}
_TOOLS = "tools"
_UNREAD = "could not be listed"
"""What every rubric says in a caveat when a list could not be read to its end; a test holds them to it."""


class State(StrEnum):
    """How much of what a server says of itself was seen."""

    MEASURED = "measured"
    PARTIAL = "partial"
    NOT_TESTABLE = "not testable"


@dataclass(frozen=True, slots=True)
class Mark:
    """One rubric's verdict in a table row; no score is not a zero. `thin` ones rest on too little to be compared.

    `floor` is what is left of the score with everything unmeasured at 0; None where it is the score itself.
    """

    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    coverage: Decimal
    thin: bool = False
    floor: Decimal | None = None

    def rank(self, server: ServerId) -> RankKey:
        """Sorts rows as `scoring.standing` sorts their cards, best first."""
        floor = self.floor if self.floor is not None else self.score or Decimal(0)
        return standing.key(floor=floor, coverage=self.coverage, score=self.score, server=server)


@dataclass(frozen=True, slots=True)
class ServerRow:
    """One server in a table."""

    id: ServerId
    name: str
    ref: str
    state: State
    reason: Reason | None
    detail: str
    tools: int | None
    marks: tuple[Mark, ...]

    def mark(self, rubric: str, version: int) -> Mark | None:
        """The verdict of one version of one rubric."""
        return next((mark for mark in self.marks if (mark.rubric, mark.version) == (rubric, version)), None)


@dataclass(frozen=True, slots=True)
class Failure:
    """A criterion that cost points: on how many servers, how often, and how many points in all."""

    rubric: str
    version: int
    cites: str
    rule: str | None
    servers: int
    times: int
    points: Decimal
    example: str


@dataclass
class Failures:
    """Counts what costs points, server by server."""

    _found: dict[tuple[str, int, str, str | None], Failure] = field(default_factory=dict)

    def count(self, rubric: str, version: int, lines: Iterable[Line]) -> None:
        """Count the lines of one receipt."""
        here: dict[tuple[str, str], list[Line]] = {}
        for line in lines:
            if line.points < 0 and line.rule is not None:  # rounding and the like are nobody's failure
                here.setdefault((line.cites, line.rule), []).append(line)
        for (cites, rule), found in here.items():
            points = sum((line.points for line in found), Decimal(0))
            self.add(Failure(rubric, version, cites, rule, 1, len(found), points, found[0].why))

    def add(self, found: Failure) -> None:
        """Count what was counted elsewhere, of other servers."""
        key = (found.rubric, found.version, found.cites, found.rule)
        known = self._found.get(key)
        if known is not None:
            found = replace(
                known,
                servers=known.servers + found.servers,
                times=known.times + found.times,
                points=known.points + found.points,
            )
        self._found[key] = found

    def all(self) -> Collection[Failure]:
        """Everything that was counted."""
        return self._found.values()

    def most(self, rubric: str, version: int, limit: int = 12) -> list[Failure]:
        """What cost points on most servers."""
        found = [item for item in self._found.values() if (item.rubric, item.version) == (rubric, version)]
        return sorted(found, key=lambda item: (-item.servers, -item.times, item.cites, item.rule or ""))[:limit]


@dataclass
class Overview:
    """Collects rows and counts while a run streams by; memory is a few hundred bytes per server."""

    rows: list[ServerRow] = field(default_factory=list)
    _failures: Failures = field(default_factory=Failures)
    _dimensions: Counter[tuple[str, int, str, str]] = field(default_factory=Counter)

    def add(self, dossier: Dossier, cards: Sequence[Scorecard]) -> ServerRow:
        """Count one server and return its row."""
        row = row_of(dossier, cards)
        self.rows.append(row)
        for card in cards:
            self._failures.count(card.rubric, card.version, all_lines(card))
            for part in card.dimensions:
                self._dimensions[card.rubric, card.version, part.name, part.status] += 1
        return row

    @property
    def states(self) -> dict[State, int]:
        """Servers per state, all states named."""
        counts = Counter(row.state for row in self.rows)
        return {state: counts[state] for state in State}

    @property
    def reasons(self) -> list[tuple[Reason, int]]:
        """Why listings are absent, the most common first."""
        counts = Counter(row.reason for row in self.rows if row.reason)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0].value))

    def scores(self, rubric: str, version: int) -> list[Decimal]:
        """Scores of one rubric that can be compared: servers without one, or with a thin one, are not in it."""
        marks = (row.mark(rubric, version) for row in self.rows)
        return sorted(mark.score for mark in marks if mark and mark.score is not None and not mark.thin)

    def thin(self, rubric: str, version: int) -> int:
        """How many servers have a score that rests on thin evidence."""
        marks = (row.mark(rubric, version) for row in self.rows)
        return sum(1 for mark in marks if mark and mark.score is not None and mark.thin)

    def grades(self, rubric: str, version: int) -> list[tuple[str, int]]:
        """Servers per grade, by name."""
        marks = (row.mark(rubric, version) for row in self.rows)
        return sorted(Counter(mark.grade for mark in marks if mark and mark.grade).items())

    def dimensions(self, rubric: str, version: int) -> list[tuple[str, dict[str, int]]]:
        """Status counts of each dimension, in the rubric's order."""
        table: dict[str, dict[str, int]] = {}
        for (of, number, name, status), count in self._dimensions.items():
            if (of, number) == (rubric, version):
                table.setdefault(name, {})[status] = count
        return list(table.items())

    def failures(self, rubric: str, version: int, limit: int = 12) -> list[Failure]:
        """What cost points on most servers."""
        return self._failures.most(rubric, version, limit)


def all_lines(card: Scorecard) -> Iterator[Line]:
    """Every line of a receipt, at whatever level it stands."""
    yield from card.lines
    for part in card.dimensions:
        yield from part.lines
        for component in part.components:
            yield from component.lines


def histogram(scores: Sequence[Decimal], bins: int = BINS) -> list[int]:
    """Servers per equal part of 0 to 100; 100 falls into the last part."""
    counts = [0] * bins
    for score in scores:
        counts[max(0, min(bins - 1, int(score * bins / 100)))] += 1
    return counts


def row_of(dossier: Dossier, cards: Sequence[Scorecard]) -> ServerRow:
    """The row of a server from what was seen of it, and its receipts, of which the heads are enough."""
    content = dossier.read(listing.KIND)
    absent = content if isinstance(content, Absent) else None
    seen = None if isinstance(content, Absent) else _parse(content.body)
    return ServerRow(
        id=dossier.server.id,
        name=dossier.server.name,
        ref=dossier.server.ref,
        state=_state(seen),
        reason=absent.reason if absent else None,
        detail=absent.detail if absent else "",
        tools=len(seen.tools.items) if seen and seen.tools.end in _WHOLE else None,
        marks=tuple(_mark(card) for card in cards),
    )


def _parse(body: bytes) -> Listing | None:
    try:
        return Listing.parse(body)
    except NotJson:
        return None


def _state(seen: Listing | None) -> State:
    if seen is None:
        return State.NOT_TESTABLE
    return State.MEASURED if all(seen.list_of(name).end in _WHOLE for name in LISTS) else State.PARTIAL


def _mark(card: Scorecard) -> Mark:
    score = card.score if isinstance(card.score, Decimal) else None
    floor = None if card.floor == score else card.floor
    return Mark(card.rubric, card.version, score, card.grade, card.coverage, is_thin(card), floor)


def row_of_cards(server: Server, absent: Absent | None, cards: Sequence[Scorecard]) -> ServerRow:
    """The row of a server from its receipts alone, for tables that shall not read every dossier.

    `tools` is None where no receipt counts them.
    """
    unread = any(_UNREAD in caveat for card in cards for caveat in card.caveats)
    return ServerRow(
        id=server.id,
        name=server.name,
        ref=server.ref,
        state=State.NOT_TESTABLE if absent else State.PARTIAL if unread else State.MEASURED,
        reason=absent.reason if absent else None,
        detail=absent.detail if absent else "",
        tools=None if absent or unread else next(_tool_counts(cards), None),
        marks=tuple(_mark(card) for card in cards),
    )


def tool_scores(card: Scorecard) -> list[dict[str, Any]] | None:
    """Name and score of each tool, of receipts that score tools one by one."""
    fact = card.facts.get(_TOOLS, "")
    found: list[dict[str, Any]] | None = orjson.loads(fact) if fact.startswith("[") else None
    return found


def _tool_counts(cards: Sequence[Scorecard]) -> Iterator[int]:
    """How many tools each receipt counted, those that score every tool first: some others read one page only."""
    yield from (len(scores) for card in cards if (scores := tool_scores(card)) is not None)
    yield from (int(card.facts[_TOOLS]) for card in cards if card.facts.get(_TOOLS, "").isdecimal())


def is_thin(card: Scorecard) -> bool:
    """The rubric itself says that it saw too little (docs/decisions/0024)."""
    return card.facts.get("evidence") == "thin"
