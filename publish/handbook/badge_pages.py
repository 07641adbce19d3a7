"""The part of docs/guide/badges.md that is made from the declarations: every requirement with its number."""

from __future__ import annotations

from collections.abc import Iterator

from publish.badges import requirements
from publish.badges.requirements import Requirement
from publish.text.numbers import format_number, format_percent


def render_requirement_tables() -> str:
    """A heading, a sentence and a table for the gate and each badge."""
    return "\n".join(_lines()).rstrip() + "\n"


def describe_requirement(requirement: Requirement) -> str:
    """What is needed, with its unit."""
    if requirement.unit == "share":
        return format_percent(requirement.needs)
    if requirement.unit == "count":
        return format_number(requirement.needs)
    return f"{format_number(requirement.needs)} {requirement.unit}"


def _lines() -> Iterator[str]:
    for rule in requirements.BADGE_RULES:
        yield from (
            f"### {rule.title}",
            "",
            rule.meaning,
            "",
            "| criterion | at least | what is counted |",
            "|---|---|---|",
        )
        for requirement, _ in rule.requirements:
            yield f"| {requirement.title} | {describe_requirement(requirement)} | {requirement.looks_at} |"
        yield ""
