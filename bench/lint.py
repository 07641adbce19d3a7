"""Scoring speed over the recorded captures, against plain rules on `jsonschema` and `re` in the same run.

    python -m bench.lint [--rounds N] [--json FILE]

Every figure starts from the bytes of a listing: parsing, walking, judging and adding up are all in it. The baseline
does what a straightforward linter does: parse, `check_schema` every input schema, and judge the same 22 rules inline.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema

from evidence.model import Dossier, Observed
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.rubrics.lint import LINT_1
from tests.dossiers import captures

NAME = re.compile(r"^[a-z][a-z0-9_-]*$", re.IGNORECASE)
DESCRIBED = ("type", "enum", "oneOf", "anyOf", "allOf", "$ref")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = measure(list(captures().values()), options.rounds)
    for name, value in result.items():
        print(f"{name:36} {value:>10}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(dossiers: list[Dossier], rounds: int) -> dict[str, float]:
    """Median microseconds of CPU per server, measured in turns so that a busy machine slows all alike."""
    contenders: dict[str, Callable[[Dossier], object]] = {
        "lint_us": lint,
        "full_us": full,
        "full_with_receipts_us": full_with_receipts,
        "baseline_lint_us": baseline_lint,
        "baseline_with_schemas_us": baseline_with_schemas,
    }
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, contender in contenders.items():
            started = time.process_time()
            for dossier in dossiers:
                contender(dossier)
            if turn:
                taken[name].append((time.process_time() - started) / len(dossiers) * 1e6)
    medians = {name: round(statistics.median(values), 1) for name, values in taken.items()}
    tools = sum(len(_body(dossier)["lists"]["tools"]["pages"][0]["tools"]) for dossier in dossiers)
    return {
        "servers": len(dossiers),
        "tools": tools,
        **medians,
        "baseline_with_schemas_to_full": round(medians["baseline_with_schemas_us"] / medians["full_us"], 1),
        "servers_per_second_full": round(1e6 / medians["full_with_receipts_us"]),
    }


def lint(dossier: Dossier) -> object:
    return LINT_1.score(assess_dossier(dossier, [LINT_1]))


def full(dossier: Dossier) -> object:
    assessment = assess_dossier(dossier)
    return [rubric.score(assessment) for rubric in catalogue.list_rubrics()]


def full_with_receipts(dossier: Dossier) -> object:
    assessment = assess_dossier(dossier)
    return [receipt.encode_scorecard(rubric.score(assessment)) for rubric in catalogue.list_rubrics()]


def baseline_with_schemas(dossier: Dossier) -> int:
    for tool in _tools(dossier):
        jsonschema.Draft202012Validator.check_schema(tool.get("inputSchema") or {})
    return baseline_lint(dossier)


def baseline_lint(dossier: Dossier) -> int:
    score = 100
    for tool in _tools(dossier):
        description = (tool.get("description") or "").strip()
        schema = tool.get("inputSchema") or {}
        properties = schema.get("properties") or {}
        required = schema.get("required") or []
        score -= 15 * (not description) + 5 * (0 < len(description) < 10) + 5 * (len(description) > 500)
        score -= 5 * (description.lower().replace("_", " ") == tool["name"].lower().replace("_", " "))
        score -= (not NAME.match(tool["name"])) + (schema.get("type") != "object") + bool(properties and not required)
        score -= 15 * sum(name not in properties for name in required)
        for value in properties.values():
            score -= 5 * (not value.get("description")) + 5 * (not any(value.get(keyword) for keyword in DESCRIBED))
    return max(0, score)


def _tools(dossier: Dossier) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = _body(dossier)["lists"]["tools"]["pages"][0]["tools"]
    return tools


def _body(dossier: Dossier) -> Mapping[str, Any]:
    content = dossier.read("listing")
    assert isinstance(content, Observed)
    body: Mapping[str, Any] = json.loads(content.body)
    return body


if __name__ == "__main__":
    main()
