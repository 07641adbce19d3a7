"""Counts the dashboard's numbers: distributions, reasons, frequent failures, and score changes since the previous run.

Servers are counted one by one, so memory does not grow with the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from evidence.model import Run
from evidence.store import ListedScore, ListedServer, Store
from publish.publication.category_counts import CategoryCounts, Heaviest, name_server
from publish.publication.receipt_counts import ReceiptCounts
from publish.views.comparisons.servers import JUDGING_PINS
from publish.views.headlines import Turn, find_turn
from publish.views.server_summary import HISTOGRAM_BINS, MeasuredState
from scoring.engine import catalogue

MAX_MOVERS: Final = 20
MAX_FAILURES: Final = 12
_BATCH: Final = 500
_STATES: Final = tuple(state.value.replace(" ", "_") for state in MeasuredState)


@dataclass
class ScoreCounter:
    """The distribution of scores under one rubric version. Thin scores are only counted."""

    comparable: Counter[Decimal] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    coverage: Counter[int] = field(default_factory=Counter)
    thin: int = 0
    unscored: int = 0

    def add(self, score: ListedScore) -> None:
        self.coverage[_bin(score.coverage)] += 1
        if score.grade is not None:
            self.grades[score.grade] += 1
        if score.score is None:
            self.unscored += 1
        elif score.thin:
            self.thin += 1
        else:
            self.comparable[score.score] += 1

    def as_json(self) -> dict[str, Any]:
        """Number of scores, median, and a histogram of ten equal bins."""
        bins = [0] * HISTOGRAM_BINS
        for score, count in self.comparable.items():
            bins[_bin(score / 100)] += count
        return {"scored": self.comparable.total(), "median": _plain(_median(self.comparable)), "bins": bins}


@dataclass
class GroupCounter:
    """Servers of one registry or ecosystem."""

    states: Counter[str] = field(default_factory=Counter)
    scores: ScoreCounter = field(default_factory=ScoreCounter)

    def as_json(self, name: str) -> dict[str, Any]:
        return {"name": name, "servers": self.states.total(), **_states(self.states), **self.scores.as_json()}


class DashboardCounter:
    """Counts the servers of one run; then `as_json` returns the counts."""

    def __init__(self, movers: MoverCounter) -> None:
        self.tally = ReceiptCounts()
        self._movers = movers
        self._categories = movers.categories
        self._states: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._rubrics: dict[tuple[str, int], ScoreCounter] = {}
        self._registries: dict[str, GroupCounter] = {}
        self._ecosystems: dict[str, GroupCounter] = {}

    def add(self, listed: ListedServer) -> None:
        self._states[listed.state] += 1
        if listed.reason is not None:
            self._reasons[listed.reason] += 1
        for score in listed.scores:
            self._rubrics.setdefault((score.rubric, score.version), ScoreCounter()).add(score)
        main = listed.score(_default())
        for groups, names in ((self._registries, listed.registries), (self._ecosystems, (listed.ecosystem,))):
            for name in names:
                group = groups.setdefault(name, GroupCounter())
                group.states[listed.state] += 1
                if main is not None:
                    group.scores.add(main)
        self._categories.add(listed, main)
        self._movers.add(listed)

    def as_json(self) -> dict[str, Any]:
        """The numbers as JSON values: decimals are strings, unknown values are null."""
        movers = self._movers.as_json()
        return {
            "servers": self._states.total(),
            "states": _states(self._states),
            "reasons": [{"reason": name, "servers": count} for name, count in _most(self._reasons)],
            "rubrics": [self._rubric(*name) for name in self._newest()],
            "movers": movers,
            "categories": self._categories.as_json(),
            "registries": _groups(self._registries),
            "ecosystems": _groups(self._ecosystems),
        }

    def _newest(self) -> list[tuple[str, int]]:
        """The newest version of each rubric, the default one first."""
        newest = dict(sorted(self._rubrics))
        return sorted(newest.items(), key=lambda item: (item[0] != _default(), item))

    def _rubric(self, rubric: str, version: int) -> dict[str, Any]:
        scores = self._rubrics[rubric, version]
        parts = self.tally.dimensions.get((rubric, version), {})
        titles = {rule.id: rule.title for rule in catalogue.list_rules()}
        return {
            "rubric": rubric,
            "version": version,
            **scores.as_json(),
            "thin": scores.thin,
            "unscored": scores.unscored,
            "grades": [{"grade": grade, "servers": count} for grade, count in sorted(scores.grades.items())],
            "coverage": [scores.coverage[number] for number in range(HISTOGRAM_BINS)],
            "dimensions": [{"name": name, **_states(statuses)} for name, statuses in parts.items()],
            "failures": [
                {
                    "cites": one.cites,
                    "rule": one.rule,
                    "example": titles.get(one.rule or "", ""),
                    "servers": one.servers,
                    "times": one.times,
                    "points": _plain(one.points),
                }
                for one in self.tally.failures.most(rubric, version, MAX_FAILURES)
            ],
        }


class MoverCounter:
    """Counts score changes since the previous run under the default rubric, some servers at a time."""

    def __init__(self, store: Store, run: Run) -> None:
        whole = (row.run for row in store.listing.list_published_runs() if not row.is_partial)
        earlier = (one for one in whole if one.id < run.id and one.trigger is run.trigger)
        self._store, self._run, self._before = store, run, next(earlier, None)
        self._batch: list[ListedServer] = []
        self._counts: Counter[str] = Counter()
        self._versions: set[int] = set()
        self._most = Heaviest(MAX_MOVERS)
        self.categories = CategoryCounts()

    def add(self, listed: ListedServer) -> None:
        if self._before is None:
            return
        self._batch.append(listed)
        if len(self._batch) == _BATCH:
            self._compare()

    def as_json(self) -> dict[str, Any]:
        """The movers as JSON values; without a previous run `since` is null and all counts are 0."""
        self._compare()
        reference = {"since": None if self._before is None else self._before.id, "rubric": _default()}
        counts = {name: self._counts[name] for name in ("up", "down", "same", "new", "unscored")}
        counts |= {turn.name.lower(): self._counts[turn] for turn in Turn}
        compared = counts["up"] + counts["down"] + counts["same"]
        known = self._store.listing.read_dashboard(self._before.id) if self._before else None
        gone = None if known is None else max(0, int(str(known[1]["servers"])) - self._counts["known"])
        version = max(self._versions, default=None)
        return (
            reference
            | counts
            | {"version": version, "compared": compared, "gone": gone, "most": self._most.as_json(), "why": self._why()}
        )

    def _compare(self) -> None:
        batch, self._batch = self._batch, []
        if self._before is None or not batch:
            return
        rubric = _default()
        known = self._store.listing.read_scores(self._before.id, [one.server.id for one in batch], rubric)
        for listed in batch:
            score = listed.score(rubric)
            if listed.server.id not in known:
                self._counts["new"] += 1
                self.categories.count(listed, "new")
                continue
            self._counts["known"] += 1
            version, before = known[listed.server.id] or (None, None)
            if score is None or version is None or before is None or score.score is None or score.thin:
                self._counts["unscored"] += 1
                if turn := find_turn(before, score.score if score else None):
                    self._counts[turn] += 1
                    self.categories.count(listed, turn.name.lower())
                continue
            self._versions |= {version, score.version}
            self._add_move(listed, before, score.score)

    def _add_move(self, listed: ListedServer, before: Decimal, after: Decimal) -> None:
        points = after - before
        self._counts["up" if points > 0 else "down" if points < 0 else "same"] += 1
        if not points:
            return
        self._most.add(abs(points), name_server(listed) | {"before": _plain(before), "after": _plain(after)})
        self.categories.add_move(listed, before, after)

    def _why(self) -> list[str]:
        """Other differences between the two runs; if there are none, every change comes from the servers."""
        if self._before is None:
            return []
        old, new = self._before.pins, self._run.pins
        differs = [name for name in JUDGING_PINS if old.get(name) != new.get(name)]
        return [*(["ruleset"] if differs else []), *(["methodology"] if len(self._versions) > 1 else [])]


def _default() -> str:
    return next((rubric.id for rubric in catalogue.list_rubrics() if rubric.default), "")


def _groups(groups: Mapping[str, GroupCounter]) -> list[dict[str, Any]]:
    """The largest first."""
    ordered = sorted(groups.items(), key=lambda item: (-item[1].states.total(), item[0]))
    return [group.as_json(name) for name, group in ordered]


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _states(counts: Mapping[str, int]) -> dict[str, int]:
    return {state: counts.get(state, 0) for state in _STATES}


def _bin(share: Decimal) -> int:
    """The tenth that a share of 1 lies in; 1 is in the last."""
    return max(0, min(HISTOGRAM_BINS - 1, int(share * HISTOGRAM_BINS)))


def _median(counts: Counter[Decimal]) -> Decimal | None:
    """The median of the counted values; None without values."""
    total, passed = counts.total(), 0
    if not total:
        return None
    middle = {(total - 1) // 2, total // 2}
    found: list[Decimal] = []
    for value, count in sorted(counts.items()):
        found += [value for place in sorted(middle) if passed <= place < passed + count]
        passed += count
    return sum(found, Decimal(0)) / len(found)


def _plain(number: Decimal | None) -> str | None:
    return None if number is None else format(number, "f")
