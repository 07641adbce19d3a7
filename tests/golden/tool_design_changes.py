"""How many captured tools change verdict between `tool_design@1` and `@2`, rule by rule, as a page of the handbook.

python -m tests.golden.tool_design_changes --write
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from evidence.model import Dossier
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Rubric
from scoring.results.outcome import Measured
from tests.dossiers import captures

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "tool_design-1-to-2.md"
Verdicts = dict[tuple[str, int], Counter[str]]

HEAD = """\
<!-- Written by `python -m tests.golden.tool_design_changes --write` from the recorded captures. Do not edit. -->

# What changes between `tool_design@1` and `tool_design@2`

The {tools} tools of {servers} recorded captures under both versions. Rules without a difference are left out. A tool
changes verdict when a rule has a finding about it in one version only; `more or fewer` counts tools with another number
of findings. [Reasons](../rubrics/tool_design.md).

| rule | found in 1 | found in 2 | change verdict | fixed in 2 | new in 2 | more or fewer |
|---|--:|--:|--:|--:|--:|--:|
"""

SERVERS = """
| server | tools | score 1 | score 2 |
|---|--:|--:|--:|
"""


def page() -> str:
    first, second = catalogue.get_rubric("tool_design@1"), catalogue.get_rubric("tool_design@2")
    before, after = verdicts(first), verdicts(second)
    rules = list(dict.fromkeys(criterion.cites for criterion in first.criteria))
    rows = [_row(rule, before, after) for rule in rules]
    total = [sum(row[column] for row in rows) for column in range(6)]
    lines = [
        f"| {rule} | {' | '.join(map(str, row))} |" for rule, row in zip(rules, rows, strict=True) if row[2] or row[5]
    ]
    lines.append(f"| **all** | {' | '.join(f'**{value}**' for value in total)} |")
    head = HEAD.format(tools=len(before), servers=len(captures()))
    scores = [_scores(name, evidence, first, second) for name, evidence in captures().items()]
    return head + "\n".join(lines) + "\n" + SERVERS + "\n".join(scores) + "\n"


def verdicts(rubric: Rubric) -> Verdicts:
    """How often each published id was found on each captured tool."""
    found: Verdicts = {}
    for name, evidence in captures().items():
        assessment = assess_dossier(evidence, [rubric])
        walk = assessment.walks[rubric.criteria[0].pages]
        found |= {(name, tool.position[0]): Counter() for tool in walk.tools}
        for criterion in rubric.criteria:
            outcome = assessment.outcome(criterion.question)
            for finding in outcome.findings if isinstance(outcome, Measured) else ():
                found[name, finding.position[0]][criterion.cites] += 1
    return found


def _row(rule: str, before: Verdicts, after: Verdicts) -> list[int]:
    pairs = [(before[tool][rule], after[tool][rule]) for tool in before]
    fixed = sum(bool(old and not new) for old, new in pairs)
    new = sum(bool(new and not old) for old, new in pairs)
    counts = sum(bool(old and new and old != new) for old, new in pairs)
    return [sum(bool(old) for old, _ in pairs), sum(bool(new) for _, new in pairs), fixed + new, fixed, new, counts]


def _scores(name: str, evidence: Dossier, first: Rubric, second: Rubric) -> str:
    assessment = assess_dossier(evidence, [first, second])
    cards = [rubric.score(assessment) for rubric in (first, second)]
    tools = len(assessment.walks[first.criteria[0].pages].tools)
    return f"| {name} | {tools} | {cards[0].score} | {cards[1].score} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
