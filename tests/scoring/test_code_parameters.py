"""A topic, an arithmetic expression and the code of a currency are not code to run; commands, scripts and SQL are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidence.kinds.listing import Item
from scoring.rules.power.tool_runs_code import tool_runs_code
from scoring.scopes.base import Tool

_HONEST = Path(__file__).parents[1] / "evidence" / "poisoning" / "honest" / "honest_sentences.jsonl"


def _runs_code(name: str, parameter: str, description: str = "") -> bool:
    schema = {"properties": {parameter: {"type": "string", "description": description}}}
    return bool(list(tool_runs_code(Tool(item=Item({"name": name, "inputSchema": schema}, 0)))))


def test_no_honest_parameter_takes_code_to_run() -> None:
    rows = [json.loads(line) for line in _HONEST.read_text(encoding="utf-8").splitlines()]
    named = [row for row in rows if "parameter" in row]
    assert len(named) >= 25
    assert not [row for row in named if _runs_code(row["tool"], row["parameter"], row["text"])]


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("execute_blender_code", "code"),
        ("evaluate_script", "function"),
        ("query", "sql"),
        ("puppeteer_evaluate", "script"),
        ("browser_run_code_unsafe", "code"),
        ("start_process", "command"),
        ("explain_and_run", "code"),
        ("evaluate", "expression"),
        ("execute_query", "statement"),
        ("query_database", "query"),
    ],
)
def test_a_parameter_that_is_run_takes_code(name: str, parameter: str) -> None:
    assert _runs_code(name, parameter)


def test_a_description_does_not_change_what_a_parameter_is() -> None:
    assert _runs_code("execute", "code", "An arithmetic expression, the code of a currency, a topic.")
