"""The verdict of every protocol check on a terminal, by section, and a table of failures to fix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from publish.views.evidence.check_verdicts import CheckSection, CheckVerdicts
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Level
from scoring.scopes.conversation import NOT_ASKED
from workers.cli.display.console import clean_text, make_table

_WORDS: Final = {
    Verdict.PASS: ("pass", "green"),
    Verdict.FAIL: ("FAIL", "bold red"),
    Verdict.WARN: ("warn", "yellow"),
    Verdict.NOT_APPLICABLE: ("does not apply", "dim"),
    Verdict.INCONCLUSIVE: ("inconclusive", "dim"),
}
_BAD: Final = (Verdict.FAIL, Verdict.WARN)


def render_verdicts(found: CheckVerdicts) -> RenderableType:
    """All sections, and a table of the failures with links to the specification."""
    parts: list[RenderableType] = [_heading(found)]
    parts += [_section(section) for section in found.sections if _is_shown(found, section)]
    bad = [result for section in found.sections for result in section.with_verdict(*_BAD)]
    if bad:
        parts += ["", Text("What to fix", style="bold"), _fixes(bad)]
    return Group(*parts, "")


def _is_shown(found: CheckVerdicts, section: CheckSection) -> bool:
    """Without a conversation, only sections with verdicts from other evidence, such as access challenges."""
    if found.absent is None:
        return bool(section.results)
    return bool(section.with_verdict(Verdict.PASS, *_BAD))


def _heading(found: CheckVerdicts) -> Text:
    heading = Text.assemble(("conformance", "bold underline"), "  ")
    if found.absent is not None:
        detail = found.absent.detail or found.absent.reason.value.replace("_", " ")
        return heading.append_text(clean_text(f"not measured: {detail}", "italic"))
    return heading.append_text(describe_counts(found))


def describe_counts(found: CheckVerdicts) -> Text:
    """How many checks ended with each verdict, and how the server was asked."""
    counts = [f"{count} {_WORDS[verdict][0].lower()}" for verdict, count in found.counts.items() if count]
    asked = f"  {found.depth} probe, {' and '.join(found.eras)} era, {found.requests} exchanges"
    return Text.assemble(", ".join(counts), (asked, "dim"))


def _section(section: CheckSection) -> RenderableType:
    grid = make_table(("", "left"), "")
    grid.show_header = False
    for verdict, (word, style) in _WORDS.items():
        results = section.with_verdict(verdict)
        for why, ids in _by_reason(results):
            grid.add_row(Text(f"  {word}", style=style), Text.assemble(" ".join(ids), clean_text(why, "dim")))
    return Group("", Text(section.title, style="bold"), grid)


def _by_reason(results: tuple[CheckResult, ...]) -> Iterator[tuple[str, list[str]]]:
    grouped: defaultdict[str, list[str]] = defaultdict(list)
    for result in results:
        grouped[result.why].append(result.check.requirement.id)
    for why, ids in grouped.items():
        words = "only a full probe tests this (--full)" if why == NOT_ASKED else why
        yield f"  {words}" if words else "", ids


def _fixes(results: list[CheckResult]) -> RenderableType:
    grid = make_table("Check", "Level", "Where", "What", "Specification")
    for result in results:
        requirement = result.check.requirement
        for finding in result.findings:
            style = "red" if result.verdict is Verdict.FAIL and not finding.tolerated else "yellow"
            grid.add_row(
                Text(requirement.id, style=style),
                "tolerated" if finding.tolerated and requirement.level is Level.MUST else requirement.level.value,
                clean_text(finding.at.removeprefix("exchanges/")),
                clean_text(finding.message),
                Text(requirement.link, style="dim", overflow="fold"),
            )
    return grid
