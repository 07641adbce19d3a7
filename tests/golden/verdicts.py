"""The golden verdicts of recorded full probes; refresh with `python -m tests.golden.verdicts --write`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scoring.engine.assess import assess_dossier
from scoring.protocol import conformance
from scoring.protocol.conformance import Verdict
from tests.dossiers import recorded

GOLDEN = Path(__file__).with_name("verdicts.json")


def current() -> dict[str, dict[str, str]]:
    """Server, verdict, ids; what did not apply is left out."""
    return {name: _verdicts(name) for name in recorded()}


def committed() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def _verdicts(name: str) -> dict[str, str]:
    results = conformance.evaluate_checks(assess_dossier(recorded()[name]))
    by_verdict = {
        verdict.value: " ".join(one.check.requirement.id for one in results if one.verdict is verdict)
        for verdict in Verdict
        if verdict is not Verdict.NOT_APPLICABLE
    }
    return {verdict: ids for verdict, ids in by_verdict.items() if ids}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    GOLDEN.write_text(json.dumps(current(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
