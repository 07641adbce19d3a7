"""What scoring costs: every rubric alone and all together, the slowest rules, and how cost grows with a tool's size.

    python -m bench.scoring [--rounds N] [--json FILE]

Every figure is CPU time on one core and starts from the bytes of a listing; the fastest of the rounds counts. The
newest version of each rubric is what a night runs; `all versions` is what it costs to keep the old ones running.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evidence.model import Dossier
from scoring import assess as engine
from scoring import catalogue, rule
from scoring.assess import assess
from scoring.rubric import Rubric
from tests.dossiers import captures
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed

SIZES = (1_000, 5_000, 10_000, 50_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = measure(list(captures().values()), options.rounds)
    for part, figures in result.items():
        print(part)
        for name, value in figures.items():
            print(f"  {name:44} {value:>12}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(dossiers: Sequence[Dossier], rounds: int) -> dict[str, dict[str, float]]:
    every = catalogue.rubrics()
    newest = list({rubric.id: rubric for rubric in every}.values())
    alone = {rubric.name: _server_us(dossiers, [rubric], rounds) for rubric in every}
    together = _server_us(dossiers, newest, rounds)
    return {
        "microseconds a server, one rubric": alone,
        "servers a second, one rubric": {name: round(1e6 / value) for name, value in alone.items()},
        "share of each newest rubric, per cent": _shares({name: alone[name] for name in (r.name for r in newest)}),
        "servers a second, all together": {
            "newest of each": round(1e6 / together),
            "all versions": round(1e6 / _server_us(dossiers, every, rounds)),
        },
        "slowest ten rules, microseconds a server": _slowest(dossiers, rounds),
        "milliseconds for one tool with so many parameters": {
            f"{name} {size}": round(_fastest(partial(_score, _wide(size), [catalogue.rubric(name)]), 3) * 1e3, 1)
            for name in ("lint", "tool_design", "adaptive")
            for size in SIZES
        },
    }


def _server_us(dossiers: Sequence[Dossier], rubrics: Sequence[Rubric], rounds: int) -> float:
    def work() -> None:
        for evidence in dossiers:
            _score(evidence, rubrics)

    return round(_fastest(work, rounds) / len(dossiers) * 1e6, 1)


def _score(evidence: Dossier, rubrics: Sequence[Rubric]) -> None:
    assessment = assess(evidence, rubrics)
    for rubric in rubrics:
        rubric.score(assessment)


def _fastest(work: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def _shares(alone: dict[str, float]) -> dict[str, float]:
    return {name: round(100 * value / sum(alone.values()), 1) for name, value in alone.items()}


def _slowest(dossiers: Sequence[Dossier], rounds: int) -> dict[str, float]:
    """Each question on a walk that is built already; a rule under several parameters is added up."""
    fastest: dict[Any, float] = {}
    for _ in range(rounds):
        taken: Counter[Any] = Counter()
        for evidence in dossiers:
            walks = engine._walks(evidence)  # noqa: SLF001 - one question at a time has no public door
            for question in catalogue.questions():
                started = time.process_time()
                engine._ask(rule.discover()[question.rule], question, walks[question.pages], evidence)  # noqa: SLF001
                taken[question] += time.process_time() - started
        fastest = {question: min(value, fastest.get(question, value)) for question, value in taken.items()}
    rules: Counter[str] = Counter()
    for question, value in fastest.items():
        rules[question.rule] += value / len(dossiers) * 1e6
    return {name: round(value, 1) for name, value in rules.most_common(10)}


def _wide(size: int) -> Dossier:
    properties = {f"p{index}": {"type": "string", "description": "A word."} for index in range(size)}
    return dossier(listed=listed({**GOOD_TOOL, "inputSchema": {"type": "object", "properties": properties}}))


if __name__ == "__main__":
    main()
