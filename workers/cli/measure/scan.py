"""`hallmark scan`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from crawler.collectors.derivers import build_derivers
from crawler.launcher import Launcher
from crawler.sandbox import UnsandboxedLauncher
from crawler.sandbox.boxes.egress_relay import AllowedEndpoints
from crawler.sandbox.toolchain.package_indexes import parse_endpoint
from evidence.derive.drift import no_approval
from evidence.kinds import listing
from evidence.model import Absent, Dossier, Reason
from evidence.recorded_capture import InvalidCapture
from evidence.store import Stage
from publish.scan_reports import junit, sarif
from publish.scan_reports.document import make_scan_document
from publish.views.evidence.check_verdicts import CheckVerdicts, judge_checks
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import Level, NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.sdk_tier import SDK_TIER_1
from workers import log
from workers.cli.display.console import ExitCode, exit_with_error, open_stderr, print_data, print_json, print_note
from workers.cli.display.observations import show_observed
from workers.cli.display.protocol_verdicts import render_verdicts
from workers.cli.display.server_page import show_server
from workers.cli.error_boundary import explain_failures
from workers.cli.measure.opt_out_check import refuse_opted_out
from workers.cli.measure.scan_file import InvalidSavedDossier, decode_dossier, encode_dossier
from workers.cli.measure.scan_masking import mask_dossier, mask_server, mask_text
from workers.cli.measure.scan_target import EXPECTED_TARGET, InvalidTarget, ScanTarget, read_command_target, read_target
from workers.cli.rubric_selection import Rubrics, select_rubrics
from workers.clock import Clock, clock_at
from workers.event_loop import run_coroutine
from workers.settings.environment import Settings, read_code_version, read_user_environment
from workers.stages.collect_inputs import CollectInput
from workers.stages.routing import StageCollectors
from workers.stages.server_collection import collect_server
from workers.wiring.network import NetworkWiring

app = typer.Typer(add_completion=False)

UNSANDBOXED_WARNING: Final = (
    "Running without a sandbox: the command has all your rights, your files, your network and your environment. "
    "The evidence says so and can never be published."
)
OPEN_SANDBOX_WARNING: Final = "The sandbox has a way to {}. The evidence says so and can never be published."
_COMMAND: Final = "hallmark.command"
_PLACE: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?")


class Format(StrEnum):
    """What is printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class FailOn(StrEnum):
    """Which checks of the protocol decide about the exit code."""

    NEVER = "never"
    MUST = "must"
    SHOULD = "should"


def _points(text: str) -> Decimal:
    try:
        points = Decimal(text)
    except InvalidOperation:
        points = Decimal("NaN")
    if not points.is_finite():
        raise typer.BadParameter(f"expected a number such as 75, found {text!r}")
    return points


class _ScanCommand(TyperCommand):
    """Keeps the words after `--` apart: they are the command line of the server."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            ctx.meta[_COMMAND] = args[cut + 1 :]
            args = args[:cut]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND ...]"]


@app.command(cls=_ScanCommand)
def scan(
    ctx: typer.Context,
    *,
    target: Annotated[
        str | None,
        typer.Argument(help=r"A URL, npm:NAME\[@VERSION], pypi:NAME\[==VERSION], oci:IMAGE or a server.json's path."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Score saved evidence or a capture offline.")
    ] = None,
    rubric: Rubrics = None,
    fail_under: Annotated[
        Decimal | None,
        typer.Option(
            parser=_points, metavar="N", help="Exit 4 when a --rubric (without one: the default) scores below N."
        ),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit 4 when a MUST, or also a SHOULD, of the protocol is not kept.")
    ] = FailOn.NEVER,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also contact loopback and private addresses.")
    ] = False,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Run the command after -- as it is, with all your rights.")
    ] = False,
    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="allow:HOST[:PORT]",
            help="Let a server in the sandbox reach this host over TLS, through a proxy that it is told of. "
            "Repeatable; never done unless you say so.",
        ),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also look at who asked this operator not to be looked at.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--core", help="Ask every question (at most 65 requests), or only those of every night (7)."
        ),
    ] = True,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--save", "--transcript", metavar="FILE", help="Save all that was asked and answered, to judge it again."
        ),
    ] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Also show what was observed.")] = False,
    form: Annotated[Format, typer.Option("--format", help="What stdout gets.")] = Format.TEXT,
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --format json; docs/schemas/scan.json describes it.")
    ] = False,
    sarif_file: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Also write the findings as SARIF 2.1.0.")
    ] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the verdict of every check as JUnit XML.")
    ] = None,
) -> None:
    """Measure one server now and print its receipt. Nothing is stored unless you say --save.

    Examples:

    hallmark scan https://example.com/mcp

    hallmark scan npm:@modelcontextprotocol/server-everything --rubric lint

    hallmark scan http://127.0.0.1:8000/mcp --allow-private

    hallmark scan -- python server.py

    hallmark scan npm:my-server --network allow:api.example.com

    hallmark scan https://example.com/mcp --core

    hallmark scan pypi:mcp-server-time --transcript time.json --junit time.xml

    hallmark scan --from time.json --rubric lint@1 --rubric adaptive --json

    hallmark scan server.json --rubric lint --fail-under 75 --sarif hallmark.sarif

    Exit codes: 0 measured, 1 Hallmark failed, 2 wrong usage, 3 the server could not be tested or is left alone, or
    with --fail-under a rubric could not be measured, 4 a score is below --fail-under or a check of --fail-on is not
    kept, 130 interrupted.
    """
    with explain_failures():
        rubrics = select_rubrics(rubric)
        command: list[str] | None = ctx.meta.get(_COMMAND)
        settings = Settings()
        settings = settings.model_copy(update={"depth": "full" if full else "core"})
        if allow_private:
            settings = settings.model_copy(update={"allow_private": True})
        log.configure_logging(
            "error" if "log_level" not in settings.model_fields_set else settings.log_level, settings.log_format
        )
        boxed = not (no_sandbox or source is not None or "://" in (target or ""))
        doors = _doors(network or (), boxed=boxed, allow_private=allow_private)
        dossier = _dossier(settings, target, command, source, doors, no_sandbox=no_sandbox, anyway=anyway)
        if keep is not None:
            keep.write_bytes(encode_dossier(dossier))
            print_note(f"evidence saved in {keep}")
        assessment = assess_dossier(dossier, [*rubrics, SDK_TIER_1])
        cards = [one.score(assessment) for one in rubrics]
        checked = judge_checks(assessment)
        found = sarif.render_sarif(dossier, cards, code=read_code_version(), location=_location(target, source))
        if sarif_file is not None:
            sarif_file.write_text(json.dumps(found, indent=1) + "\n", encoding="ascii")
            print_note(f"findings written to {sarif_file}")
        if junit_file is not None:
            junit_file.write_bytes(junit.render_junit(checked, dossier.server.ref))
            print_note(f"verdicts written to {junit_file}")
        match Format.JSON if as_json else form:
            case Format.JSON:
                print_json(make_scan_document(dossier, cards, checked))
            case Format.SARIF:
                print_json(found)
            case Format.TEXT:
                show_server(dossier, cards, evidence=evidence)
                if rubric is None or SDK_TIER_1 in rubrics:
                    print_data(render_verdicts(checked))
                    show_observed(dossier)
        content = dossier.read(listing.KIND)
        if isinstance(content, Absent) and content.reason is Reason.BLOCKED_ADDRESS and not settings.allow_private:
            print_note("If it is your own server: --allow-private also contacts loopback and private addresses.")
        judged = cards if rubric else cards[:1]
        if isinstance(content, Absent):
            raise typer.Exit(ExitCode.NOTHING)
        raise typer.Exit(max(_verdict(judged, fail_under), _kept(checked, fail_on)))


def _verdict(cards: Sequence[Scorecard], least: Decimal | None) -> ExitCode:
    """What `--fail-under` makes of the scores; a score that is too low says more than one that is missing."""
    if least is None:
        return ExitCode.OK
    low = [card for card in cards if isinstance(card.score, Decimal) and card.score < least]
    missing = [card for card in cards if isinstance(card.score, NotMeasured)]
    for card in low:
        print_note(f"{card.rubric}@{card.version} is {card.score}, at least {least} was asked for")
    for card in missing:
        print_note(f"{card.rubric}@{card.version} could not be measured, at least {least} was asked for")
    return ExitCode.BELOW if low else ExitCode.NOTHING if missing else ExitCode.OK


def _kept(checked: CheckVerdicts, least: FailOn) -> ExitCode:
    """What `--fail-on` makes of the checks. A remark on something that is tolerated fails nothing."""
    levels = {FailOn.NEVER: set[Level](), FailOn.MUST: {Level.MUST}, FailOn.SHOULD: {Level.MUST, Level.SHOULD}}[least]
    broken = [
        result.check.requirement
        for result in checked.results
        if result.check.requirement.level in levels and any(not finding.tolerated for finding in result.findings)
    ]
    for requirement in broken:
        print_note(f"{requirement.id} ({requirement.level}) is not kept: {requirement.link or 'see hallmark explain'}")
    return ExitCode.BELOW if broken else ExitCode.OK


def _location(target: str | None, source: Path | None) -> str:
    """The file that was scanned, in the form of a URI reference; empty when it was something else."""
    file = source if source is not None else Path(target) if target and Path(target).is_file() else None
    return "" if file is None else file.as_posix()


def _dossier(
    settings: Settings,
    target: str | None,
    command: Sequence[str] | None,
    source: Path | None,
    doors: AllowedEndpoints,
    *,
    no_sandbox: bool,
    anyway: bool,
) -> Dossier:
    """The evidence, from wherever it is asked for, without credentials; fails on a combination that means nothing."""
    if sum(part is not None for part in (target, command, source)) != 1:
        exit_with_error(
            f"expected exactly one of {EXPECTED_TARGET}, or --from FILE. Examples: hallmark scan --help", ExitCode.USAGE
        )
    if no_sandbox and command is None:
        exit_with_error(
            "--no-sandbox is only for a command that you typed after --; packages never run without it", ExitCode.USAGE
        )
    clock = clock_at(settings.clock)
    try:
        if source is not None:
            return mask_dossier(decode_dossier(source.read_bytes(), clock.now()))
        subject = read_target(target) if target is not None else read_command_target(command or (), Path.cwd())
    except (InvalidTarget, InvalidSavedDossier, InvalidCapture) as error:
        exit_with_error(mask_text(str(error)), ExitCode.USAGE)
    if target is not None and not anyway:
        refuse_opted_out(settings, subject.server)
    if no_sandbox:
        print_note(UNSANDBOXED_WARNING)
    subject = replace(subject, server=mask_server(subject.server))
    with open_stderr().status(f"looking at {subject.server.ref}"):
        network = _Bare(settings, clock) if no_sandbox else NetworkWiring(settings, clock, doors=doors)
        return mask_dossier(run_coroutine(_collect(network, _Collecting(settings, clock, log.get_log()), subject)))


def _doors(allowed: Sequence[str], *, boxed: bool, allow_private: bool) -> AllowedEndpoints:
    """What servers in the sandbox may reach; fails on anything but `allow:HOST[:PORT]`, and where none is `boxed`."""
    found = set()
    for text in allowed:
        verb, _, place = text.partition(":")
        one = parse_endpoint(f"https://{place}") if verb == "allow" and _PLACE.fullmatch(place) else None
        if one is None:
            exit_with_error(
                f"--network: expected allow:HOST[:PORT], such as allow:api.example.com, found {text!r}", ExitCode.USAGE
            )
        found.add(one)
    if found and not boxed:
        exit_with_error("--network opens the sandbox; without one there is nothing to open", ExitCode.USAGE)
    if found:
        print_note(OPEN_SANDBOX_WARNING.format(", ".join(sorted(one.host for one in found))))
    return AllowedEndpoints(frozenset(found)) if allow_private else AllowedEndpoints(frozenset(), frozenset(found))


@dataclass(frozen=True, slots=True)
class _Collecting:
    """What collecting one server uses, without a store."""

    settings: Settings
    clock: Clock
    log: log.Log


async def _collect(network: NetworkWiring, collecting: _Collecting, subject: ScanTarget) -> Dossier:
    """The records of one server, collected by the step of a run and behind its error boundary, without a store."""
    now = collecting.clock.now()
    empty = Dossier(server=subject.server, as_of=now)
    case = CollectInput(subject.server, subject.refs or None, earlier=empty, found=empty)
    try:
        sources = StageCollectors(await network.collectors(), await network.followers(), build_derivers(no_approval))
        looked = await collect_server(collecting, sources, Stage.COLLECT, case)
    finally:
        await network.close()
    return Dossier(server=subject.server, as_of=now, records={record.kind: record for record in looked.records})


class _Bare(NetworkWiring):
    """The network of a command that its user asked to run as is."""

    async def _launcher(self) -> Launcher | None:
        return UnsandboxedLauncher(read_user_environment())
