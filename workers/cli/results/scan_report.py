"""The report of `hallmark scan`: judges the evidence, prints it, and writes the files that were asked for.

It needs all rules. A scan imports it while it waits for the server.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Group

from crawler.projects.project import ARCHIVE_ENDINGS
from evidence.garbage import return_freed_memory
from evidence.kinds import listing
from evidence.model import Absent, Reason
from publish.scan_reports import junit, sarif
from publish.scan_reports.baseline import AppliedBaseline, BaselineEntry
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.file_places import FilePlaces, list_file_places
from publish.scan_reports.findings import FindingGrade, list_scan_findings, list_tolerated, list_violated
from publish.scan_reports.gate import Gate, GateDecision, GateStatus, decide_gate
from publish.views.evidence.check_verdicts import CheckVerdicts, judge_checks
from publish.views.fix_costs import rank_costs
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Rubric
from scoring.remedy import Remedy, plan_fixes_of
from scoring.results.outcome import Level
from scoring.results.scorecard import Scorecard
from scoring.rubrics.sdk_tier import SDK_TIER_1
from workers.cli.display.console import ExitCode, print_data, print_json, print_note
from workers.cli.display.observations import show_observed
from workers.cli.display.protocol_verdicts import render_verdicts
from workers.cli.display.scan_findings import list_finding_lines
from workers.cli.display.scan_summary import list_selection_lines, render_summary
from workers.cli.display.server_page import show_server
from workers.cli.display.snippets import render_snippets
from workers.cli.display.verdicts import make_verdict_object
from workers.cli.measure.project_lines import LineFinder
from workers.cli.measure.scan_baseline import read_baseline, use_baseline
from workers.cli.measure.scan_collection import CollectedScan
from workers.cli.measure.scan_options import FailOn, Format, ReportOptions
from workers.cli.rubric_selection import select_rubrics
from workers.settings.environment import read_code_version

FIXES_SHOWN: Final = 5

_LEVELS: Final = {FailOn.MUST: {Level.MUST}, FailOn.SHOULD: {Level.MUST, Level.SHOULD}}
_GRADES: Final = {
    FailOn.HIGH: {FindingGrade.HIGH},
    FailOn.MEDIUM: {FindingGrade.HIGH, FindingGrade.MEDIUM},
    FailOn.LOW: set(FindingGrade),
}
_EXIT_CODES: Final = {
    GateStatus.PASSED: ExitCode.OK,
    GateStatus.REFUSED: ExitCode.BELOW,
    GateStatus.NOT_MEASURED: ExitCode.NOTHING,
}


class ReportInputs(Struct, frozen=True):
    """What the options of a report name: the rubrics, and the entries of the baseline."""

    rubrics: Sequence[Rubric]
    entries: Sequence[BaselineEntry]


def read_report_inputs(options: ReportOptions) -> ReportInputs:
    """Exit for an unknown rubric or a baseline that cannot be read."""
    return ReportInputs(select_rubrics(options.rubric), read_baseline(options.baseline, options.write_baseline))


def report_scan(
    scanned: CollectedScan, options: ReportOptions, inputs: ReportInputs | None, *, allows_private: bool
) -> ExitCode:
    """Print the verdict or the receipts of a scan and write its files; how the command ends.

    `inputs` are read here if they are None. `allows_private`: whether private addresses were contacted; if not, a note
    says how.
    """
    dossier = scanned.dossier
    inputs = inputs or read_report_inputs(options)
    rubrics, entries = inputs.rubrics, inputs.entries
    is_text = options.form is Format.TEXT
    is_summary = is_text and not (options.rubric or options.verbose or options.evidence)
    found = _judge(
        scanned,
        rubrics,
        has_selection=bool(options.rubric),
        with_remedies=is_summary,
        gate=_read_gate(options.fail_under, options.fail_on),
    )
    found = replace(found, applied=use_baseline(found.applied.findings, entries, dossier, options.write_baseline))
    decision = found.decide()
    if options.junit_file is not None:
        options.junit_file.write_bytes(junit.render_junit(found.checks, decision, dossier.server.ref))
        print_note(f"verdicts written to {options.junit_file}")
    if options.sarif_file is not None or options.form is Format.SARIF:  # of a thousand tools it takes 50 MiB
        document = _make_sarif(found, decision, _location(options.target, options.source))
        _write_sarif(document, options.sarif_file, on_stdout=options.form is Format.SARIF)
    shows_findings = found.is_project or bool(entries)
    if options.form is Format.JSON:
        print_json(_make_document(found, decision))
    elif is_summary:
        shown = found.applied if shows_findings else None
        print_data(render_summary(dossier, found.cards, found.checks, found.remedies, more=found.more, findings=shown))
    elif is_text:
        show_server(dossier, found.cards, evidence=options.evidence)
        print_data(Group(*list_selection_lines(dossier)))
        if shows_findings:
            print_data(Group(*list_finding_lines(found.applied, limit=None), ""))
        print_data(render_snippets(found.judged))
        if not options.rubric or SDK_TIER_1 in rubrics:
            print_data(render_verdicts(found.checks))
            show_observed(dossier)
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent) and content.reason is Reason.BLOCKED_ADDRESS and not allows_private:
        print_note("If this is your own server: --allow-private also contacts loopback and private addresses.")
    _print_decision(decision)
    return _EXIT_CODES[decision.status]


class _Judgement(Struct, frozen=True, kw_only=True):
    """What the rubrics say. The `judged` cards decide; `more` is the number of rules without a remedy here."""

    scanned: CollectedScan
    gate: Gate
    cards: Sequence[Scorecard]
    judged: Sequence[Scorecard]
    checks: CheckVerdicts
    applied: AppliedBaseline
    remedies: Sequence[Remedy] = ()
    more: int = 0

    @property
    def is_project(self) -> bool:
        return self.scanned.project is not None

    def decide(self) -> GateDecision:
        return decide_gate(
            self.gate,
            self.scanned.dossier,
            self.judged,
            self.checks,
            self.applied.findings,
            is_project=self.is_project,
        )


def _judge(
    scanned: CollectedScan, rubrics: Sequence[Rubric], *, has_selection: bool, with_remedies: bool, gate: Gate
) -> _Judgement:
    """Assess the evidence, which takes 20 MiB for ten thousand tools and is dropped here."""
    dossier = scanned.dossier
    assessment = assess_dossier(dossier, [*rubrics, SDK_TIER_1])
    cards = [one.score(assessment) for one in rubrics]
    checks = judge_checks(assessment)
    has_gains = with_remedies and isinstance(cards[0].score, Decimal)
    costly = [cost.rule for cost in rank_costs(cards[:1])] if has_gains else []
    remedies = plan_fixes_of(assessment, rubrics[0], cards[0], costly[:FIXES_SHOWN]) if costly else ()
    del assessment
    return_freed_memory()
    judged = cards if has_selection else cards[:1]
    findings = list_scan_findings(
        dossier,
        cards,
        list_violated(checks, gate.levels),
        judged=judged,
        tolerated=list_tolerated(checks),
        places=_find_places(scanned),
    )
    return _Judgement(
        scanned=scanned,
        gate=gate,
        cards=cards,
        judged=judged,
        checks=checks,
        applied=AppliedBaseline(findings),
        remedies=remedies,
        more=len(costly) - len(remedies),
    )


def _make_sarif(found: _Judgement, decision: GateDecision, location: str) -> dict[str, Any]:
    project = found.scanned.project
    return sarif.render_sarif(
        found.scanned.dossier,
        found.cards,
        decision,
        code=read_code_version(),
        location=location,
        findings=found.applied.findings,
        folder=project.path_in_repository if project is not None else None,
    )


def _write_sarif(document: dict[str, Any], file: Path | None, *, on_stdout: bool) -> None:
    if file is not None:
        with file.open("w", encoding="ascii") as written:
            json.dump(document, written, indent=1)
            written.write("\n")
        print_note(f"findings written to {file}")
    if on_stdout:
        print_json(document)


def _read_gate(minimum: Decimal | None, fail_on: Sequence[FailOn]) -> Gate:
    levels = frozenset(level for one in fail_on for level in _LEVELS.get(one, ()))
    grades = frozenset(grade for one in fail_on for grade in _GRADES.get(one, ()))
    return Gate(minimum=minimum, levels=levels, grades=grades)


def _find_places(scanned: CollectedScan) -> FilePlaces:
    project = scanned.project
    if project is None:
        return list_file_places(scanned.dossier)
    return list_file_places(scanned.dossier, is_project=True, find_line=LineFinder(project).find)


def _make_document(found: _Judgement, decision: GateDecision) -> dict[str, Any]:
    verdicts = list(map(make_verdict_object, found.cards))
    document = make_scan_document(found.scanned.dossier, found.cards, found.checks, decision, found.applied)
    return {"verdicts": verdicts, **document}


def _print_decision(decision: GateDecision) -> None:
    """Notes about what the gate refuses, and about the checks that it demands and that could not be examined."""
    if decision.untested and decision.status is GateStatus.PASSED:
        print_note(f"the server was not tested ({decision.untested}); only the files of the project were")
    elif decision.untested and not decision.gate.is_open:
        print_note(f"the server could not be tested: {decision.untested}")
    for score in decision.scores:
        if score.why:
            print_note(score.why)
    for result in decision.violated:
        demanded = result.check.requirement
        print_note(f"{demanded.id} ({demanded.level}) is violated: {demanded.link or 'see hallmark explain'}")
    if decision.found:
        severities = ", ".join(sorted({one.grade.value for one in decision.found}))
        print_note(f"refused findings ({severities}) that no baseline accepts: {len(decision.found)}")
    levels = decision.gate.levels
    if unseen := [one.check.requirement for one in decision.not_examined if one.check.requirement.level in levels]:
        print_note(f"not examined, so neither passed nor failed: {', '.join(demanded.id for demanded in unseen)}")


def _location(target: str | None, source: Path | None) -> str:
    """The scanned file as a URI reference; empty when no file was scanned."""
    is_document = target is not None and Path(target).is_file() and not target.endswith(ARCHIVE_ENDINGS)
    file = source if source is not None else Path(target) if target and is_document else None
    return "" if file is None else file.as_posix()
