"""The golden scorecards of `adaptive` over the captures; refresh with `python -m tests.golden.adaptive --write`."""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path

from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from tests.dossiers import captures

GOLDEN = Path(__file__).with_name("adaptive.json")


@cache
def current() -> dict[str, object]:
    rubric = catalogue.get_rubric("adaptive@1")
    return {name: _compact(rubric.score(assess_dossier(dossier, [rubric]))) for name, dossier in captures().items()}


def committed() -> dict[str, object]:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def _compact(card: Scorecard) -> dict[str, object]:
    return {
        "score": str(card.score),
        "coverage": f"{card.coverage:.6f}",
        "bounds": f"{card.floor}..{card.ceiling}",
        "components": {
            f"{dimension.name}.{part.name}": f"{part.result:.6f}"
            for dimension in card.dimensions
            for part in dimension.components
            if not isinstance(part.result, NotMeasured)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    lines = (f"{json.dumps(name)}: {json.dumps(card)}" for name, card in current().items())
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
