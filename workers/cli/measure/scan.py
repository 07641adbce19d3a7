"""The work of `hallmark scan`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import typer

from evidence.kinds import listing
from evidence.model import Absent, Dossier, Reason
from publish.scan_reports import junit, sarif
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.gate import Gate, GateDecision, GateStatus, decide_gate
from publish.views.evidence.check_verdicts import CheckVerdicts, judge_checks
from publish.views.fix_costs import rank_costs
from scoring.engine.assess import assess_dossier
from scoring.remedy import plan_fixes_of
from scoring.results.outcome import Level
from scoring.results.scorecard import Scorecard
from scoring.rubrics.sdk_tier import SDK_TIER_1
from workers.cli.display.console import ExitCode, print_data, print_json, print_note
from workers.cli.display.observations import show_observed
from workers.cli.display.protocol_verdicts import render_verdicts
from workers.cli.display.scan_summary import render_summary
from workers.cli.display.server_page import show_server
from workers.cli.display.snippets import render_snippets
from workers.cli.display.verdicts import make_verdict_object
from workers.cli.error_boundary import explain_failures
from workers.cli.measure.scan_collection import collect_dossier, read_allowed_endpoints
from workers.cli.measure.scan_file import encode_dossier
from workers.cli.measure.scan_options import FailOn, Format
from workers.cli.rubric_selection import select_rubrics
from workers.cli.session import configure_command_logging
from workers.settings.environment import Settings, read_code_version

FIXES_SHOWN: Final = 5

_LEVELS: Final = {
    FailOn.NEVER: frozenset[Level](),
    FailOn.MUST: frozenset({Level.MUST}),
    FailOn.SHOULD: frozenset({Level.MUST, Level.SHOULD}),
}
_EXIT_CODES: Final = {
    GateStatus.PASSED: ExitCode.OK,
    GateStatus.REFUSED: ExitCode.BELOW,
    GateStatus.NOT_MEASURED: ExitCode.NOTHING,
}


def run_scan(
    *,
    target: str | None,
    command: list[str] | None,
    source: Path | None,
    rubric: list[str] | None,
    fail_under: Decimal | None,
    fail_on: FailOn,
    allow_private: bool,
    no_sandbox: bool,
    network: list[str] | None,
    anyway: bool,
    full: bool,
    official_client: bool,
    deadline: float,
    save_to: Path | None,
    evidence: bool,
    verbose: bool,
    form: Format,
    as_json: bool,
    sarif_file: Path | None,
    junit_file: Path | None,
) -> None:
    """Measure one server and print its verdict or receipts; end the command with its exit code."""
    with explain_failures():
        rubrics = select_rubrics(rubric)
        settings = Settings()
        settings = settings.model_copy(update={"depth": "full" if full else "core"})
        if official_client:
            settings = settings.model_copy(update={"interop": "weekly"})  # a scan knows no earlier week, so it is due
        if allow_private:
            settings = settings.model_copy(update={"allow_private": True})
        configure_command_logging(settings, "error")
        is_sandboxed = not (no_sandbox or source is not None or "://" in (target or ""))
        endpoints = read_allowed_endpoints(network or (), is_sandboxed=is_sandboxed, allow_private=allow_private)
        dossier = collect_dossier(
            settings, target, command, source, endpoints, deadline=deadline, no_sandbox=no_sandbox, anyway=anyway
        )
        if save_to is not None:
            save_to.write_bytes(encode_dossier(dossier))
            print_note(f"evidence saved in {save_to}")
        assessment = assess_dossier(dossier, [*rubrics, SDK_TIER_1])
        cards = [one.score(assessment) for one in rubrics]
        checks = judge_checks(assessment)
        form = Format.JSON if as_json else form
        is_summary = form is Format.TEXT and not (rubric or verbose or evidence)
        has_gains = is_summary and isinstance(cards[0].score, Decimal)
        costly = [cost.rule for cost in rank_costs(cards[:1])] if has_gains else []
        remedies = plan_fixes_of(assessment, rubrics[0], cards[0], costly[:FIXES_SHOWN]) if costly else ()
        del assessment  # of ten thousand tools it takes 30 MiB, and so does the output
        judged = cards if rubric else cards[:1]
        decision = decide_gate(Gate(minimum=fail_under, levels=_LEVELS[fail_on]), dossier, judged, checks)
        if junit_file is not None:
            junit_file.write_bytes(junit.render_junit(checks, decision, dossier.server.ref))
            print_note(f"verdicts written to {junit_file}")
        if sarif_file is not None or form is Format.SARIF:  # of a thousand tools it takes 50 MiB
            place = _location(target, source)
            document = sarif.render_sarif(dossier, cards, decision, code=read_code_version(), location=place)
            _write_sarif(document, sarif_file, on_stdout=form is Format.SARIF)
        if form is Format.JSON:
            print_json(_make_document(dossier, cards, checks, decision))
        elif is_summary:
            print_data(render_summary(dossier, cards, checks, remedies, len(costly) - len(remedies)))
        elif form is Format.TEXT:
            show_server(dossier, cards, evidence=evidence)
            print_data(render_snippets(judged))
            if rubric is None or SDK_TIER_1 in rubrics:
                print_data(render_verdicts(checks))
                show_observed(dossier)
        content = dossier.read(listing.KIND)
        if isinstance(content, Absent) and content.reason is Reason.BLOCKED_ADDRESS and not settings.allow_private:
            print_note("If this is your own server: --allow-private also contacts loopback and private addresses.")
        _print_decision(decision)
        raise typer.Exit(_EXIT_CODES[decision.status])


def _write_sarif(document: dict[str, Any], file: Path | None, *, on_stdout: bool) -> None:
    if file is not None:
        file.write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")
        print_note(f"findings written to {file}")
    if on_stdout:
        print_json(document)


def _make_document(
    dossier: Dossier, cards: Sequence[Scorecard], checks: CheckVerdicts, decision: GateDecision
) -> dict[str, Any]:
    verdicts = list(map(make_verdict_object, cards))
    return {"verdicts": verdicts, **make_scan_document(dossier, cards, checks, decision)}


def _print_decision(decision: GateDecision) -> None:
    """Notes about what the gate refuses, and about the checks that it demands and that could not be examined."""
    for score in decision.scores:
        if score.why:
            print_note(score.why)
    for result in decision.violated:
        demanded = result.check.requirement
        print_note(f"{demanded.id} ({demanded.level}) is violated: {demanded.link or 'see hallmark explain'}")
    levels = decision.gate.levels
    if unseen := [one.check.requirement for one in decision.not_examined if one.check.requirement.level in levels]:
        print_note(f"not examined, so neither passed nor failed: {', '.join(demanded.id for demanded in unseen)}")


def _location(target: str | None, source: Path | None) -> str:
    """The scanned file as a URI reference; empty when no file was scanned."""
    file = source if source is not None else Path(target) if target and Path(target).is_file() else None
    return "" if file is None else file.as_posix()
