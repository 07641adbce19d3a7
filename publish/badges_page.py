"""The part of docs/guide/badges.md that is made from the declarations: every requirement with its number."""

from __future__ import annotations

from collections.abc import Iterator

from publish import gate
from publish.figures import number, percent
from publish.gate import Requirement


def requirement_tables() -> str:
    """A heading, a sentence and a table for the gate and each badge."""
    return "\n".join(_lines()).rstrip() + "\n"


def needs(requirement: Requirement) -> str:
    """What is needed, with its unit."""
    if requirement.unit == "share":
        return percent(requirement.needs)
    if requirement.unit == "count":
        return number(requirement.needs)
    return f"{number(requirement.needs)} {requirement.unit}"


def _lines() -> Iterator[str]:
    for rule in gate.RULES:
        yield from (
            f"### {rule.title}",
            "",
            rule.meaning,
            "",
            "| criterion | at least | what is counted |",
            "|---|---|---|",
        )
        for requirement, _ in rule.requirements:
            yield f"| {requirement.title} | {needs(requirement)} | {requirement.looks_at} |"
        yield ""
