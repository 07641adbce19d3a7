"""Counts the dashboard's numbers: distributions, reasons, frequent failures, and score changes since the previous run.

The servers of each part of a run are counted by themselves; the numbers are made from the counts of all parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from evidence.model import Run
from evidence.store import ListedScore, ListedServer, Store
from evidence.store.listing.ranks import rank_score
from publish.publication.server_tallies import ServerTallies, name_server
from publish.views.comparisons.servers import JUDGING_PINS
from publish.views.headlines import find_turn
from publish.views.listed_servers import CountedServer
from publish.views.server_summary import HISTOGRAM_BINS, MeasuredState
from scoring.engine import catalogue

MAX_MOVERS: Final = 20
MAX_FAILURES: Final = 12
MAX_BEST: Final = 6
MAX_MOVES: Final = 10
"""Servers of a category that are named: the best, more than pages show, since some may opt out; the changes."""

_BATCH: Final = 500
_STATES: Final = tuple(state.value.replace(" ", "_") for state in MeasuredState)
_MOVES: Final = ("up", "down", "same", "new", "unscored", "lost_score", "gained_score")
_CATEGORY_MOVES: Final = ("up", "down", "lost_score", "gained_score", "new")


class ServerCounter:
    """Counts servers of a run and compares their scores with those of the whole run before it."""

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._before = store, find_earlier_run(store, run)

    def count(self, servers: Sequence[CountedServer]) -> ServerTallies:
        """The counts of some servers."""
        tallies = ServerTallies()
        for server in servers:
            tallies.receipts.add(server.newest)
            _add_server(tallies, server.listed)
        for start in range(0, len(servers), _BATCH):
            self._compare(tallies, [server.listed for server in servers[start : start + _BATCH]])
        return tallies

    def _compare(self, tallies: ServerTallies, servers: Sequence[ListedServer]) -> None:
        if self._before is None:
            return
        known = self._store.listing.read_scores(self._before.id, [one.server.id for one in servers], _default())
        for listed in servers:
            if listed.server.id in known:
                tallies.of("moves")["known"] += 1
                _add_comparison(tallies, listed, known[listed.server.id])
            else:
                _count_move(tallies, listed, "new")


def find_earlier_run(store: Store, run: Run) -> Run | None:
    """The run before this one with the same trigger, of those that were not rescored with some rubrics only."""
    whole = (row.run for row in store.listing.list_published_runs() if not row.is_partial)
    return next((one for one in whole if one.id < run.id and one.trigger is run.trigger), None)


def make_dashboard(store: Store, run: Run, tallies: ServerTallies) -> dict[str, Any]:
    """The numbers as JSON values: decimals are strings, unknown values are null."""
    states = tallies.of("states")
    return {
        "servers": states.total(),
        "states": _states(states),
        "reasons": [{"reason": name, "servers": count} for name, count in _most(tallies.of("reasons"))],
        "rubrics": [_make_rubric(tallies, *name) for name in _list_newest(tallies)],
        "movers": _make_movers(store, run, tallies),
        "categories": _make_categories(tallies),
        "registries": _make_groups(tallies, "registry"),
        "ecosystems": _make_groups(tallies, "ecosystem"),
    }


def _add_server(tallies: ServerTallies, listed: ListedServer) -> None:
    tallies.of("states")[listed.state] += 1
    if listed.reason is not None:
        tallies.of("reasons")[listed.reason] += 1
    for score in listed.scores:
        _add_score(tallies, score)
    main = listed.score(_default())
    for group in (*(("registry", name) for name in listed.registries), ("ecosystem", listed.ecosystem)):
        tallies.of(*group, "states")[listed.state] += 1
        if main is not None and main.score is not None and not main.thin:
            tallies.of(*group, "scores")[str(main.score)] += 1
    for name in listed.facets.categories:
        tallies.of("category", name)["servers"] += 1
        # The best are those that guarantee most and whose evidence is not thin.
        if main is not None and main.score is not None and not main.thin:
            shown = {"score": format(main.score, "f"), "grade": main.grade}
            tallies.heaviest(MAX_BEST, "best", name).add(Decimal(-rank_score(main)), name_server(listed) | shown)


def _add_score(tallies: ServerTallies, score: ListedScore) -> None:
    """Thin scores are only counted."""
    rubric = ("rubric", f"{score.rubric}@{score.version}")
    tallies.of(*rubric, "coverage")[str(_bin(score.coverage))] += 1
    if score.grade is not None:
        tallies.of(*rubric, "grades")[score.grade] += 1
    if score.score is None:
        tallies.of(*rubric, "others")["unscored"] += 1
    elif score.thin:
        tallies.of(*rubric, "others")["thin"] += 1
    else:
        tallies.of(*rubric, "scores")[str(score.score)] += 1


def _add_comparison(tallies: ServerTallies, listed: ListedServer, known: tuple[int, Decimal | None] | None) -> None:
    score, (version, before) = listed.score(_default()), known or (None, None)
    if score is None or version is None or before is None or score.score is None or score.thin:
        tallies.of("moves")["unscored"] += 1
        if turn := find_turn(before, score.score if score else None):
            _count_move(tallies, listed, turn.name.lower())
        return
    tallies.of("versions").update({str(version): 1, str(score.version): 1})
    points = score.score - before
    if not points:
        tallies.of("moves")["same"] += 1
        return
    _count_move(tallies, listed, "up" if points > 0 else "down")
    named = name_server(listed) | {"before": _plain(before), "after": _plain(score.score)}
    tallies.heaviest(MAX_MOVERS, "movers").add(abs(points), named)
    for name in listed.facets.categories:
        tallies.heaviest(MAX_MOVES, "moves", name).add(abs(points), named)


def _count_move(tallies: ServerTallies, listed: ListedServer, what: str) -> None:
    tallies.of("moves")[what] += 1
    for name in listed.facets.categories:
        tallies.of("category", name)[what] += 1


def _list_newest(tallies: ServerTallies) -> list[tuple[str, int]]:
    """The newest version of each rubric, the default one first."""
    pairs = (name.rpartition("@") for name in tallies.list_sections("rubric"))
    newest = dict(sorted((rubric, int(version)) for rubric, _, version in pairs))
    return sorted(newest.items(), key=lambda item: (item[0] != _default(), item))


def _make_rubric(tallies: ServerTallies, rubric: str, version: int) -> dict[str, Any]:
    section = ("rubric", f"{rubric}@{version}")
    coverage, others = tallies.of(*section, "coverage"), tallies.of(*section, "others")
    parts = tallies.receipts.dimensions.get((rubric, version), {})
    titles = {rule.id: rule.title for rule in catalogue.list_rules()}
    return {
        "rubric": rubric,
        "version": version,
        **_distribution(tallies.of(*section, "scores")),
        "thin": others["thin"],
        "unscored": others["unscored"],
        "grades": [{"grade": name, "servers": count} for name, count in sorted(tallies.of(*section, "grades").items())],
        "coverage": [coverage[str(number)] for number in range(HISTOGRAM_BINS)],
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
            for one in tallies.receipts.failures.most(rubric, version, MAX_FAILURES)
        ],
    }


def _make_movers(store: Store, run: Run, tallies: ServerTallies) -> dict[str, Any]:
    """Without a previous run `since` is null and all counts are 0."""
    before, moves = find_earlier_run(store, run), tallies.of("moves")
    counts = {name: moves[name] for name in _MOVES}
    known = store.listing.read_dashboard(before.id) if before else None
    versions = list(map(int, tallies.of("versions")))
    return {
        "since": None if before is None else before.id,
        "rubric": _default(),
        **counts,
        "version": max(versions, default=None),
        "compared": counts["up"] + counts["down"] + counts["same"],
        "gone": None if known is None else max(0, int(str(known[1]["servers"])) - moves["known"]),
        "most": tallies.heaviest(MAX_MOVERS, "movers").list_named(),
        "why": [] if before is None else list(_other_differences(before, run, versions)),
    }


def _other_differences(before: Run, run: Run, versions: Sequence[int]) -> Iterator[str]:
    """Other differences between the two runs; if there are none, every change comes from the servers."""
    if any(before.pins.get(name) != run.pins.get(name) for name in JUDGING_PINS):
        yield "ruleset"
    if len(versions) > 1:
        yield "methodology"


def _make_categories(tallies: ServerTallies) -> list[dict[str, Any]]:
    """All categories under the default methodology, the one with the most servers first."""
    found = {name: tallies.of("category", name) for name in tallies.list_sections("category")}
    return [
        {
            "name": name,
            "servers": counts["servers"],
            **{what: counts[what] for what in _CATEGORY_MOVES},
            "best": tallies.heaviest(MAX_BEST, "best", name).list_named(),
            "moves": tallies.heaviest(MAX_MOVES, "moves", name).list_named(),
        }
        for name, counts in sorted(found.items(), key=lambda item: (-item[1]["servers"], item[0]))
    ]


def _make_groups(tallies: ServerTallies, kind: str) -> list[dict[str, Any]]:
    """Servers of each registry or ecosystem, the largest first."""
    found = {name: tallies.of(kind, name, "states") for name in tallies.list_sections(kind)}
    return [
        {
            "name": name,
            "servers": states.total(),
            **_states(states),
            **_distribution(tallies.of(kind, name, "scores")),
        }
        for name, states in sorted(found.items(), key=lambda item: (-item[1].total(), item[0]))
    ]


def _default() -> str:
    return next((rubric.id for rubric in catalogue.list_rubrics() if rubric.default), "")


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _states(counts: Mapping[str, int]) -> dict[str, int]:
    return {state: counts.get(state, 0) for state in _STATES}


def _distribution(scores: Mapping[str, int]) -> dict[str, Any]:
    """Number of scores, median, and a histogram of ten equal bins."""
    bins = [0] * HISTOGRAM_BINS
    for score, count in scores.items():
        bins[_bin(Decimal(score) / 100)] += count
    return {"scored": sum(scores.values()), "median": _plain(_median(scores)), "bins": bins}


def _bin(share: Decimal) -> int:
    """The tenth that a share of 1 lies in; 1 is in the last."""
    return max(0, min(HISTOGRAM_BINS - 1, int(share * HISTOGRAM_BINS)))


def _median(counts: Mapping[str, int]) -> Decimal | None:
    """The median of the counted values; None without values."""
    total, passed = sum(counts.values()), 0
    if not total:
        return None
    middle = {(total - 1) // 2, total // 2}
    found: list[Decimal] = []
    for value, count in sorted((Decimal(text), count) for text, count in counts.items()):
        found += [value for place in sorted(middle) if passed <= place < passed + count]
        passed += count
    return sum(found, Decimal(0)) / len(found)


def _plain(number: Decimal | None) -> str | None:
    return None if number is None else format(number, "f")
