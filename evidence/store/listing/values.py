"""Values of the listing index: listed servers and scores, queries, pages, and points of a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from evidence.model import Server, Trigger

SortOrder: TypeAlias = Literal["rank", "name", "seen", "added", "relevance"]

SORT_ORDERS: Final[tuple[SortOrder, ...]] = ("rank", "name", "seen", "added", "relevance")


class ListedScore(Struct, frozen=True, kw_only=True):
    """The score of a server by one rubric version. Without a score, `not_measured` has the reason; it is not 0.

    `floor` and `ceiling` bound the score with complete evidence, `coverage` is a share of 1. A `thin` score is based on
    too little evidence for comparisons. `capped`: something limits the grade; the receipt says what.
    """

    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    floor: Decimal | None
    ceiling: Decimal | None
    coverage: Decimal
    thin: bool = False
    capped: bool = False
    not_measured: str | None = None


class ServerFacets(Struct, frozen=True, kw_only=True):
    """Properties of a server that lists show and filter by; a text is empty where the property is not known.

    `categories` are ids, the best first. `transport` is `streamable-http`, `sse` or `stdio`. `access` is `open` or
    `credentials`, `read_only` and `advisories` (in it or in its dependencies) are `yes` or `no`.
    """

    categories: tuple[str, ...] = ()
    transport: str = ""
    access: str = ""
    read_only: str = ""
    advisories: str = ""


class ListedServer(Struct, frozen=True, kw_only=True):
    """One server as lists show it. It contains public data only.

    `as_of` is when its evidence was collected, `state` is `measured`, `partial` or `not_testable`, `reason` is why its
    listing is absent, `ecosystem` is `remote`, `npm`, `pypi`, ..., `tools` is None when they could not be counted, and
    with `gate` its page may be indexed. `purpose` is one line of its own description, empty without one.
    `tool_texts` and `readme_texts` are for the search index, and not read back: names and descriptions of its tools,
    and parts of its README.
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
    purpose: str = ""
    tool_texts: tuple[str, ...] = ()
    readme_texts: tuple[str, ...] = ()
    facets: ServerFacets = ServerFacets()

    def score(self, rubric: str, version: int | None = None) -> ListedScore | None:
        """The score by a version of a rubric, by default the newest."""
        found = [one for one in self.scores if one.rubric == rubric and version in {None, one.version}]
        return max(found, key=lambda one: one.version, default=None)


class ListingQuery(Struct, frozen=True, kw_only=True):
    """The filters and the sort order of a list; every filter is optional.

    `text` holds prefixes of words of the name, reference, purpose, tools or README; all must match, but in the order
    `relevance` any. `grade`, `minimum` (of points) and the orders `rank` and `relevance` refer to `rubric` and
    `version`, by default the newest. `rank` sorts the best first, as `scoring.ranking` does, `name` from A to Z, `seen`
    the newest evidence first, `added` the last discovered first; `reverse` reverses them. `relevance` has one page of
    the servers that fit best; without a text it is `rank`. The filters from `category` on are properties of
    `ServerFacets`.
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
    minimum: Decimal | None = None
    category: str | None = None
    transport: str | None = None
    access: str | None = None
    read_only: str | None = None
    advisories: str | None = None


class ListingPage(Struct, frozen=True, kw_only=True):
    """A page of a list. `after` and `before` are the cursors of the next and previous page, None at the ends.

    `total` is the number of servers on all pages, None when counting would cost too much: then it is greater than
    `counted`. `run` is the published run, None before the first.
    """

    servers: Sequence[ListedServer] = ()
    after: str | None = None
    before: str | None = None
    total: int | None = 0
    counted: int = 0
    run: str | None = None


class HistoryPoint(Struct, frozen=True, kw_only=True):
    """The score of a server by one rubric version in one run. `pins` is a digest of `pinned`, the run's versions."""

    run: str
    as_of: datetime
    trigger: Trigger
    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    pins: str
    pinned: Mapping[str, str]
