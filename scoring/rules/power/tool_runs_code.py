"""Rule `tool-runs-code`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.words import parse_word_list, split_tokens

_TAKES: Final = frozenset(
    {"bash", "cmd", "code", "command", "eval", "expression", "javascript", "script", "shell", "sql"}
)
_RUNS: Final = frozenset({"eval", "evaluate", "exec", "execute", "query", "run"})

_OTHER_USES: Final = {
    "code": parse_word_list(
        """
        address country count coupon currency diagram error exchange explain format highlight language lint login order
        postal promo redeem sms translate validate verify voucher
        """
    ),
    "command": parse_word_list("describe docs documentation explain help man manual"),
    "expression": parse_word_list(
        """
        arithmetic calc calculate calculation calculator convert cron filter math maths schedule sum unit units
        """
    ),
}
"""Words in the name of a tool that gives such a parameter another meaning: the code of a currency, for instance.

Only names count: a description can claim anything.
"""
_DATA: Final = parse_word_list(
    """
    date file filename format id ids key lang language name number path slug tag time title topic uid uri url version
    """
)
"""Last words of names of parameters that say which thing a tool works on, not what it runs."""
_READS: Final = frozenset({"fetch", "find", "get", "list", "look", "lookup", "read", "search", "show", "view"})
_SEARCHED: Final = frozenset({"doc", "docs", "documentation", "help", "knowledge"})


@rule(
    "tool-runs-code",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A tool runs code, a command or SQL that it receives",
    remedy="Replace the free-text parameter with an `enum` of allowed values, or offer each operation as a separate "
    "tool with its own parameters.",
    since="2026.1",
    version=2,
    fix=(
        build_tool(
            "control-timer",
            description="Starts or stops the timer.",
            inputSchema={"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        ),
        build_tool(
            "control-timer",
            description="Starts or stops the timer.",
            inputSchema={
                "type": "object",
                "properties": {"command": {"enum": ["start", "stop"]}},
                "required": ["command"],
            },
        ),
    ),
    good=[
        build_tool_with_params(query={"type": "string"}),
        build_tool_with_params(command={"enum": ["start", "stop"]}),
        build_tool("run_report"),
        build_tool("run_report", inputSchema={"properties": {"report_name": {"type": "string"}}}),
        build_tool("calculate", inputSchema={"properties": {"expression": {"type": "string"}}}),
        build_tool("simulate-research-query", inputSchema={"properties": {"topic": {"type": "string"}}}),
        build_tool("query-docs", inputSchema={"properties": {"question": {"type": "string"}}}),
        build_tool("get_exchange_rate", inputSchema={"properties": {"code": {"type": "string"}}}),
    ],
    bad=[
        build_tool_with_params(sql={"type": "string"}),
        build_tool("execute", inputSchema={"properties": {"text": {"type": "string"}}}),
        build_tool("evaluate", inputSchema={"properties": {"expression": {"type": "string"}}}),
        build_tool("run_and_explain", inputSchema={"properties": {"code": {"type": "string"}}}),
    ],
)
def tool_runs_code(tool: Tool) -> Iterator[str]:
    """A string that is run as a shell command, a script or SQL gives the caller the rights of the server.

    A topic to search for, the id of a thing, an arithmetic expression or the code of a currency is not code to run.
    Offer the operations as separate tools, or accept only values of an enum.
    """
    words = split_tokens(tool.name)
    runs = _is_named_for_running(words)
    for name, schema in tool.properties.items():
        free = isinstance(schema, dict) and schema.get("type") == "string" and "enum" not in schema
        if not free or _has_other_use(name.lower(), words, runs=runs):
            continue
        if name.lower() in _TAKES:
            yield "a parameter accepts code, a command or SQL as free text"
            return
        if runs and _DATA.isdisjoint(split_tokens(name)[-1:]):
            yield "the name has a verb of execution, and a parameter accepts free text"
            return


def _has_other_use(name: str, words: Sequence[str], *, runs: bool) -> bool:
    """Whether the name of the tool gives a parameter another meaning. A tool that is named for running runs code."""
    means_other = not _OTHER_USES.get(name, frozenset()).isdisjoint(words)
    return means_other and (name == "expression" or not runs)


def _is_named_for_running(words: Sequence[str]) -> bool:
    """Whether the name has a verb of running. In "get_run" it is a noun, and "query_docs" searches."""
    at = next((at for at, word in enumerate(words) if word in _RUNS), None)
    if at is None or ("and" not in words and not _READS.isdisjoint(words[:at])):
        return False
    return words[at] != "query" or _SEARCHED.isdisjoint(words)
