"""The outcome of a scan on one screen: verdict, dimensions, security, what to fix, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from crawler.http.connection import TIME_OVER
from evidence.kinds import listing, source
from evidence.model import Absent, Dossier, Observed, Reason
from publish.scan_reports.baseline import AppliedBaseline
from publish.views.evidence.check_verdicts import CheckVerdicts
from publish.views.security_summary import SecurityStatus, summarize_security
from scoring.protocol.conformance import Verdict as CheckVerdict
from scoring.remedy import Remedy
from scoring.results.outcome import Level
from scoring.results.scorecard import Scorecard
from workers.cli.display.console import clean_text
from workers.cli.display.protocol_verdicts import describe_counts
from workers.cli.display.scan_findings import list_finding_lines
from workers.cli.display.server_page import count_items, list_absence_lines
from workers.cli.display.verdict_parts import (
    count_further_fixes,
    labelled,
    list_dimension_lines,
    list_fix_rows,
    list_other_scores,
    list_unmeasured,
    list_verdict_lines,
)
from workers.cli.display.verdicts import list_harm_lines
from workers.stages.collecting_time import was_stopped
from workers.stages.routing import is_remote

_FAILURES: Final = 3
_REASONS: Final = 3
_PATHS: Final = 5
_FIXES_BESIDE_FINDINGS: Final = 3
_SECURITY_STYLES: Final = {
    SecurityStatus.FOUND: "bold red",
    SecurityStatus.WITHHELD: "yellow",
    SecurityStatus.CLEAN: "green",
    SecurityStatus.PARTLY_EXAMINED: "yellow",
    SecurityStatus.NOT_EXAMINED: "yellow",
}


def render_summary(
    dossier: Dossier,
    cards: Sequence[Scorecard],
    checks: CheckVerdicts,
    remedies: Sequence[Remedy],
    *,
    more: int,
    findings: AppliedBaseline | None = None,
) -> RenderableType:
    """About 60 lines. The first card gives the verdict; the others stand beside it on one line.

    `remedies` are those to show, `more` is the number of other rules that cost points. `findings` are those of a
    project or beside a baseline.
    """
    main, *others = cards
    shown = remedies if findings is None else remedies[:_FIXES_BESIDE_FINDINGS]
    blocks: list[Iterable[RenderableType]] = [
        list_harm_lines(cards, dossier),
        _identity(dossier),
        _absence(dossier),
        list_verdict_lines(main),
        list_dimension_lines(main),
        (*_security(main), *_protocol(checks)),
        list_finding_lines(findings) if findings is not None else (),
        _fixes(shown, more + len(remedies) - len(shown)),
        _unmeasured(main, dossier),
        list_other_scores(others),
    ]
    parts: list[RenderableType] = []
    for block in blocks:
        if lines := list(block):
            parts += [*lines, ""]
    return Group(*parts, Text("More: --verbose for examples of fixes, receipts and checks, --json for data.", "dim"))


def _identity(dossier: Dossier) -> Iterator[RenderableType]:
    server = dossier.server
    yield clean_text(server.name or server.ref, "bold")
    facts = [server.ref] if server.name and server.name != server.ref else []
    if not isinstance(dossier.read(listing.KIND), Absent):
        facts.append(count_items(dossier))
    content = dossier.read(source.KIND)
    if isinstance(content, Observed):
        facts.append(_describe_files(source.Source.parse(content.body)))
    if facts:
        yield clean_text("  ".join(facts), "dim", limit=400)
    yield from list_selection_lines(dossier)


def list_selection_lines(dossier: Dossier) -> Iterator[RenderableType]:
    """What of a folder was not read, by reason, and what was read although git ignores it."""
    content = dossier.read(source.KIND)
    if not isinstance(content, Observed):
        return
    seen = source.Source.parse(content.body)
    reasons: dict[str, list[str]] = {}
    for one in seen.left_out:
        reasons.setdefault(one.why, []).append(one.path)
    for why, paths in reasons.items():
        yield clean_text(f"not read: {_name_paths(paths)} ({why})", "dim", limit=400)
    if published := seen.paths("published"):
        note = "git ignores it, but a release of the package holds it"
        yield clean_text(f"read: {_name_paths(published)} ({note})", "yellow", limit=400)


def _name_paths(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    return f"{', '.join(paths[:_PATHS])}{more}"


def _describe_files(seen: source.Source) -> str:
    lockfiles = [lock.path for lock in seen.lockfiles if lock.packages is not None]
    parts = [f"{seen.count('files')} files read", f"lockfile {lockfiles[0]}" if lockfiles else "no lockfile"]
    return ", ".join([*parts, *([] if seen.complete else ["not all could be read"])])


def _absence(dossier: Dossier) -> Iterator[RenderableType]:
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent) and content.reason is Reason.NOT_COLLECTED:
        yield Text(f"{_describe_untested(dossier, content)}, so nothing of it is scored", "bold yellow")
        yield clean_text(content.detail[:1].upper() + content.detail[1:], limit=1000)
    elif isinstance(content, Absent):
        yield from list_absence_lines(content)


def _describe_untested(dossier: Dossier, why: Absent) -> str:
    """How far a scan came with a server of which nothing was collected."""
    if was_stopped(why):
        return "The time of this scan was over before the server was tested"
    if why.detail != TIME_OVER:
        return "The server was not started"
    asked = "asked" if is_remote(dossier.server) else "started and asked"
    return f"The server was {asked}, and the time of this scan was over before it answered"


def _security(card: Scorecard) -> Iterator[RenderableType]:
    found = summarize_security(card)
    if found is not None:
        status = Text(f"{found.status.value}: ", style=_SECURITY_STYLES[found.status])
        yield labelled("Security", status.append_text(clean_text(found.text, "default", limit=400)))


def _fixes(remedies: Sequence[Remedy], more: int) -> Iterator[RenderableType]:
    if not remedies:
        return
    yield Text("What to fix first, and the points it brings", style="bold")
    yield from list_fix_rows(remedies)
    if more:
        yield count_further_fixes(more)


def _protocol(checks: CheckVerdicts) -> Iterator[RenderableType]:
    if checks.absent is not None:
        return
    yield labelled("Protocol", describe_counts(checks))
    failed = [one for one in checks.results if one.verdict is CheckVerdict.FAIL]
    failed.sort(key=lambda one: one.check.requirement.level is not Level.MUST)
    for one in failed[:_FAILURES]:
        requirement = one.check.requirement
        title = clean_text(f"{requirement.level.value}: {one.check.rule.title}")
        yield labelled("", Text.assemble((f"{requirement.id} ", "red"), title))
    if (more := len(failed) - _FAILURES) > 0:
        fail = "check fails" if more == 1 else "checks fail"
        yield labelled("", Text(f"{more} more {fail}: --verbose", style="dim"))


def _unmeasured(card: Scorecard, dossier: Dossier) -> Iterator[RenderableType]:
    """The first reasons; why the server was not tested stands above already."""
    content = dossier.read(listing.KIND)
    said: dict[str, str] = {}
    if isinstance(content, Absent) and content.reason is Reason.NOT_COLLECTED:
        what = _describe_untested(dossier, content)
        said[content.detail] = f"{what[:1].lower()}{what[1:]}, as said above"
    found = list(list_unmeasured(card).items())
    if not found:
        return
    yield Text("Not measured", style="bold")
    for why, names in found[:_REASONS]:
        yield labelled("", clean_text(f"{', '.join(names)}: {said.get(why, why)}", limit=300))
    if len(found) > _REASONS:
        reasons = "1 more reason" if len(found) == _REASONS + 1 else f"{len(found) - _REASONS} more reasons"
        yield labelled("", Text(f"{reasons}: --verbose", style="dim"))
