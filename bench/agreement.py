"""Compares the methodologies over one run: the scores of each server, the spread, and rank correlations.

    python -m bench.agreement DATABASE_URL [RUN] > table.md

The page has one row for each server with a score or a reason, the standard deviation, letters and components of the
default rubric, and Spearman's rank correlation of the default with each other methodology over the servers that both
score. A tie has the mean of its ranks.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from evidence.store import open_store
from publish.text.numbers import format_number
from scoring import receipt
from scoring.engine import catalogue
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict

DEFAULT = next(rubric for rubric in catalogue.list_rubrics() if rubric.default)
LARGE = Decimal("0.05")
"""Share of the weight from which a component has to tell servers apart."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database")
    parser.add_argument("run", nargs="?")
    options = parser.parse_args()
    store = open_store(options.database)
    run = options.run or max(row.run.id for row in store.list_runs())
    cards: dict[str, dict[str, Scorecard]] = defaultdict(dict)
    for stored in store.read_scorecards(run):
        card = receipt.decode_scorecard(stored.body)
        cards[card.server][f"{card.rubric}@{card.version}"] = card
    names = {one.server.id: one.server.ref for one in store.read_dossiers(run, list(cards))}
    store.close()
    for line in render({names[server]: found for server, found in cards.items()}):
        print(line)


def render(servers: Mapping[str, Mapping[str, Scorecard]]) -> Iterator[str]:
    """The page as lines of Markdown; servers are keyed by reference, their scorecards by rubric and version."""
    columns = [f"{DEFAULT.id}@1", DEFAULT.name, *_others()]
    yield f"| server | {' | '.join(columns)} | caps |"
    yield f"|---{'|---' * (len(columns) + 1)}|"
    order = sorted(servers, key=lambda ref: (-_number(servers[ref][DEFAULT.name]), ref))
    for ref in order:
        caps = [line.cites for line in servers[ref][DEFAULT.name].lines if line.cites.startswith("cap.")]
        shown = " | ".join(_shown(servers[ref].get(column)) for column in columns)
        yield f"| `{ref}` | {shown} | {', '.join(caps)} |"
    main = [found[DEFAULT.name] for found in servers.values()]
    scored = [card for card in main if isinstance(card.score, Decimal)]
    spread = statistics.stdev(float(card.score) for card in scored if isinstance(card.score, Decimal))
    letters = Counter(card.grade for card in scored)
    letter_counts = ", ".join(
        f"{grade} {count}" for grade, count in sorted(letters.items(), key=lambda item: str(item[0]))
    )
    yield from (
        "",
        f"{DEFAULT.name}: {len(scored)} scored, standard deviation {spread:.1f}; letters: {letter_counts}.",
        "",
    )
    constant = ", ".join(_constant_components(scored)) or "none"
    yield f"Components with more than {LARGE:.0%} of the weight that are equal for all: {constant}."
    yield from ("", "| methodology | servers | rank correlation |", "|---|--:|--:|")
    for other in (f"{DEFAULT.id}@1", *_others()):
        pairs = [
            (float(a), float(b))
            for found in servers.values()
            if isinstance(a := found[DEFAULT.name].score, Decimal)
            and isinstance(b := _score(found.get(other)), Decimal)
        ]
        value = spearman(pairs) if len(pairs) > 2 else math.nan
        yield f"| {other} | {len(pairs)} | {value:.2f} |"


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's rank correlation, -1 to 1; nan when one side is constant."""
    left, right = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    return statistics.correlation(left, right) if len(set(left)) > 1 and len(set(right)) > 1 else math.nan


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values)):
        places[value].append(place)
    return [statistics.mean(places[value]) for value in values]


def _constant_components(cards: Sequence[Scorecard]) -> Iterator[str]:
    whole = sum((dimension.weight for dimension in DEFAULT.dimensions), Decimal(0))
    results: dict[str, set[object]] = defaultdict(set)
    for card in cards:
        for dimension in card.dimensions:
            for component in dimension.components:
                results[f"{dimension.name}.{component.name}"].add(component.floor)
    for dimension in DEFAULT.dimensions:
        for component in dimension.components:
            name = f"{dimension.name}.{component.name}"
            if component.weight / whole > LARGE and len(results[name]) < 2:
                yield name


def _others() -> list[str]:
    newest = {rubric.id: rubric.name for rubric in catalogue.list_rubrics()}
    return [name for rubric, name in newest.items() if rubric != DEFAULT.id]


def _score(card: Scorecard | None) -> object:
    return None if card is None else card.score


def _number(card: Scorecard) -> Decimal:
    return card.score if isinstance(card.score, Decimal) else Decimal(-1)


def _shown(card: Scorecard | None) -> str:
    if card is None:
        return "-"
    verdict = read_verdict(card)
    if verdict.value is None:
        return verdict.status.replace("_", " ")
    return f"{format_number(verdict.value)} {verdict.grade or ''}".strip()


if __name__ == "__main__":
    main()
