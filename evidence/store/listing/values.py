"""The board's values: one listed server, what may be asked, a page of the answer, and a point of a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from evidence.model import Server, Trigger

SortOrder: TypeAlias = Literal["rank", "name", "seen"]

SORT_ORDERS: Final[tuple[SortOrder, ...]] = ("rank", "name", "seen")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedScore:
    """What one version of a rubric says of a server; no score is not a zero, and `not_measured` says why there is none.

    `floor` and `ceiling` bound what complete evidence could give, `coverage` is a share of 1. A `thin` score rests on
    too little to be compared.
    """

    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    floor: Decimal | None
    ceiling: Decimal | None
    coverage: Decimal
    thin: bool = False
    not_measured: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedServer:
    """One server as lists show it. It contains public data only.

    `as_of` is when its evidence was collected, `state` is `measured`, `partial` or `not_testable`, `reason` says why
    its listing is absent, `ecosystem` is `remote`, `npm`, `pypi`, ..., `tools` is None where they could not be counted,
    and `gate` says whether its page may be indexed.
    """

    server: Server
    run: str
    as_of: datetime
    state: str
    reason: str | None
    ecosystem: str
    registries: tuple[str, ...]
    tools: int | None
    gate: bool
    badges: tuple[str, ...] = ()
    scores: tuple[ListedScore, ...] = ()

    def score(self, rubric: str, version: int | None = None) -> ListedScore | None:
        """The verdict of a version of a rubric, of the newest when none is named."""
        found = [one for one in self.scores if one.rubric == rubric and version in {None, one.version}]
        return max(found, key=lambda one: one.version, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingQuery:
    """What a list shows, and in which order; every filter may be left out.

    `text` are the beginnings of words of a name or reference, all of which must be there. `rubric` and `version` (the
    newest by default) are those that `grade` and `least` (points of the score) are about, and that `rank` sorts by:
    best first, as `scoring.ranking` ranks. `name` sorts from A to Z, `seen` the newest evidence first. `reverse` turns
    an order round.
    """

    text: str = ""
    rubric: str = "adaptive"
    version: int | None = None
    sort: SortOrder = "rank"
    reverse: bool = False
    state: str | None = None
    reason: str | None = None
    ecosystem: str | None = None
    registry: str | None = None
    grade: str | None = None
    badge: str | None = None
    least: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingPage:
    """Some servers in the order asked. `after` and `before` are the cursors of the pages beside it, None at the ends.

    `total` is how many there are on all pages, None where counting them would cost too much: then there are more than
    `counted`. `run` is the run shown, None when nothing was published yet.
    """

    servers: Sequence[ListedServer] = ()
    after: str | None = None
    before: str | None = None
    total: int | None = 0
    counted: int = 0
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """What one version of a rubric said of a server in one run. `pins` is a digest of `pinned`, the run's versions."""

    run: str
    as_of: datetime
    trigger: Trigger
    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    pins: str
    pinned: Mapping[str, str]
