"""The handbook's table of the protocol's checks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from scoring.engine.rule import SPECIFICATION
from scoring.protocol import conformance
from scoring.protocol.conformance import ConformanceCheck


def render_check_page() -> Iterator[str]:
    """The lines of the page: every check with its level, revisions, page of the specification and rule."""
    found = conformance.list_checks()
    yield from ("# Checks of the protocol", "")
    yield f"{len(found)} checks of what a server does on the wire, each judged by a [rule](README.md) from recorded"
    yield "exchanges, so that a new rule can judge an old run. A: 2024-11-05, B: 2025-03-26, C: 2025-06-18,"
    yield "D: 2025-11-25, E: 2026-07-28. `info` is shown and counts for nothing: no requirement, or one that cannot be"
    yield f"checked reliably from outside. Pages are those of the [specification]({SPECIFICATION})."
    yield ""
    yield "A check ends as *pass*, *fail*, *warn* (a SHOULD that is not met, or a tolerated deviation),"
    yield "*not applicable* or *inconclusive*: timeouts, 408, 425, 429, 5xx, refused access and bodies beyond the caps"
    yield "never fail a check."
    for title, members in groupby(found, key=lambda check: check.section):
        yield from (
            "",
            f"## {title}",
            "",
            "| check | level | revisions | what is wrong | rule |",
            "|---|---|---|---|---|",
        )
        yield from (_row(check) for check in members)


def _row(check: ConformanceCheck) -> str:
    requirement, rule = check.requirement, check.rule
    named = f"[{requirement.id}]({requirement.link})" if requirement.link else requirement.id
    link = f"[`{rule.id}`]({rule.family}.md#{rule.id})"
    return f"| {named} | {requirement.level.value} | {requirement.revisions} | {rule.title} | {link} |"
