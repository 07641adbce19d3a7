"""Collects the evidence of one scan, without a store: from the server itself, or from a saved file."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.collectors.derivers import build_derivers
from crawler.projects.project import Project
from evidence.derive.drift import no_approval
from evidence.garbage import keep_imported, return_freed_memory
from evidence.model import Absent, Dossier, Reason, Target
from evidence.store import Stage
from workers.cli.display.console import ExitCode, exit_with_error, open_stderr, print_note
from workers.cli.extras import PACKAGES, require_extra
from workers.cli.measure.opt_out_check import refuse_opted_out
from workers.cli.measure.scan_masking import mask_dossier, mask_server, mask_text
from workers.cli.measure.scan_progress import ScanProgress
from workers.cli.measure.scan_target import (
    EXPECTED_TARGET,
    InvalidTarget,
    ScanTarget,
    read_command_target,
    read_folder_target,
    read_target,
    refuse_hidden_files,
)
from workers.cli.measure.scan_time import is_spent, limit_probe, limit_time
from workers.clock import Clock, clock_at
from workers.event_loop import run_coroutine
from workers.log import Log, get_log
from workers.settings.environment import Settings, read_user_environment
from workers.stages.collect_inputs import CollectInput
from workers.stages.collecting_time import TimeLeft
from workers.stages.routing import StageCollectors, is_remote
from workers.stages.server_collection import CollectedServer, collect_server, record_stage_absent
from workers.stall_watch import MAX_VISITS, STOOD_STILL, StallWatch, StoodStill
from workers.wiring.network import NetworkWiring

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.launcher import LaunchedServer, Launcher
    from crawler.sandbox.boxes.egress_relay import AllowedEndpoints
    from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
    from crawler.sandbox.toolchain.package_indexes import Endpoint

UNSANDBOXED_WARNING: Final = (
    "Running without a sandbox: the command has all your rights, your files, your network and your environment. "
    "The evidence records this and can never be published."
)
OPEN_SANDBOX_WARNING: Final = "The sandbox may reach {}. The evidence records this and can never be published."
STUB_WARNING: Final = (
    "The sandbox answers for {} with an empty JSON object. The evidence records this and can never be published."
)
_PLACE: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?")


class CollectedScan(Struct, frozen=True):
    """The evidence of a scan, and the project on this machine that it is about."""

    dossier: Dossier
    project: Project | None = None


def collect_dossier(
    settings: Settings,
    target: str | None,
    command: Sequence[str] | None,
    source: Path | None,
    endpoints: AllowedEndpoints | None,
    *,
    indexes: ConfiguredIndexes,
    deadline: float | None,
    began: float,
    no_sandbox: bool,
    anyway: bool,
    lines: bool,
) -> CollectedScan:
    """The evidence of the target, command or saved file, with credentials masked; exits on an invalid combination.

    `indexes`: those of the user's tools. `deadline`: seconds from `began`, a time of the monotonic clock, to the
    verdict; None for the default.
    `lines`: without a terminal, the phases of a package are printed as lines on stderr.
    """
    is_folder = target is not None and command is not None and Path(target).is_dir()
    if not is_folder and sum(part is not None for part in (target, command, source)) != 1:
        exit_with_error(
            f"expected exactly one of {EXPECTED_TARGET}, or --from FILE. Examples: hallmark scan --help", ExitCode.USAGE
        )
    if no_sandbox and command is None:
        exit_with_error(
            "--no-sandbox is only for a command after --; packages always run in the sandbox", ExitCode.USAGE
        )
    clock = clock_at(settings.clock)
    if source is not None:
        return CollectedScan(mask_dossier(_read_saved(source, clock.now())))
    try:
        subject = _read_subject(target, command)
        if command is not None and not no_sandbox:
            refuse_hidden_files(subject.server.targets[0])
    except InvalidTarget as error:
        exit_with_error(mask_text(str(error)), ExitCode.USAGE)
    if target is not None and subject.project is None and not anyway:
        refuse_opted_out(settings, subject.server)
    if settings.interop != "off" or _needs_packages(subject, no_sandbox=no_sandbox):
        require_extra(PACKAGES)
    subject = _without_unreadable_source(subject)
    if no_sandbox:
        print_note(UNSANDBOXED_WARNING)
    if subject.stated_in:
        print_note(f"the server is started in the sandbox as {subject.stated_in} says")
    subject = replace(subject, server=mask_server(subject.server))
    is_launched = not is_remote(subject.server)
    left = limit_time(
        deadline,
        clock.monotonic() - began,
        is_launched=is_launched,
        no_sandbox=no_sandbox,
        is_project=subject.project is not None,
    )
    limited = replace(settings, server_timeout=min(settings.server_timeout, limit_probe(left)))
    lines = lines and is_launched
    return_freed_memory()
    with ScanProgress(open_stderr(), subject.server.ref, clock.monotonic, lines=lines) as progress:
        network = NetworkWiring(
            limited,
            clock,
            endpoints=endpoints,
            watcher=progress,
            launcher=_choose_launcher(subject, no_sandbox=no_sandbox),
            project=subject.project,
            indexes=indexes,
        )
        dossier = run_coroutine(_collect(network, _Collecting(limited, clock), subject, left, progress))
    if is_spent(left):
        print_note(
            f"the scan used its {left.given:g} s: what was not asked by then is not collected. "
            "--deadline SECONDS allows more"
        )
    if subject.project is not None and not no_sandbox:
        from workers.cli.measure.uninstalled_projects import excuse_missing_dependencies  # noqa: PLC0415  only for a project

        dossier = excuse_missing_dependencies(dossier, subject.project)
    return_freed_memory()
    return CollectedScan(mask_dossier(dossier), subject.project)


def _read_saved(source: Path, now: datetime) -> Dossier:
    from evidence.recorded_capture import InvalidCapture  # noqa: PLC0415  loads all rules
    from workers.cli.measure.scan_file import InvalidSavedDossier, decode_dossier  # noqa: PLC0415

    try:
        return decode_dossier(source.read_bytes(), now)
    except (InvalidSavedDossier, InvalidCapture) as error:
        exit_with_error(mask_text(str(error)), ExitCode.USAGE)


def _read_subject(target: str | None, command: Sequence[str] | None) -> ScanTarget:
    if target is None:
        return read_command_target(command or (), Path.cwd())
    return read_target(target) if command is None else read_folder_target(Path(target), command)


def _needs_packages(subject: ScanTarget, *, no_sandbox: bool) -> bool:
    server = subject.server
    return server.repository is not None or not (no_sandbox or is_remote(server))


def _without_unreadable_source(subject: ScanTarget) -> ScanTarget:
    """The target without its source when a command is started and the libraries that read source are missing."""
    if subject.project is None or not (missing := PACKAGES.find_missing()):
        return subject
    print_note(f"the files of the project are not read: {missing[0]} is not installed. {PACKAGES.install_command}")
    return replace(subject, project=None)


def _choose_launcher(subject: ScanTarget, *, no_sandbox: bool) -> Launcher | None:
    """What starts the server in place of the sandbox; None for the sandbox."""
    if subject.unstarted:
        return _NotStarted(Absent(Reason.NOT_COLLECTED, subject.unstarted))
    if not no_sandbox:
        return None
    from crawler.sandbox import UnsandboxedLauncher  # noqa: PLC0415  only for --no-sandbox

    return UnsandboxedLauncher(read_user_environment())


class _NotStarted(Struct, frozen=True):
    """The launcher of a project that does not say how it is started."""

    why: Absent

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        del target
        return self.why


def read_allowed_endpoints(
    allowed: Sequence[str], *, is_sandboxed: bool, allow_private: bool
) -> AllowedEndpoints | None:
    """The endpoints that servers in the sandbox may reach; exits on a malformed value or without a sandbox."""
    if not allowed:
        return None
    from crawler.sandbox.boxes.egress_relay import AllowedEndpoints  # noqa: PLC0415  only for --network
    from crawler.sandbox.toolchain.package_indexes import parse_endpoint  # noqa: PLC0415

    endpoints: dict[str, set[Endpoint]] = {"allow": set(), "stub": set()}
    for text in allowed:
        verb, _, place = text.partition(":")
        one = parse_endpoint(f"https://{place}") if verb in endpoints and _PLACE.fullmatch(place) else None
        if one is None:
            expected = "allow:HOST[:PORT] or stub:HOST[:PORT], such as allow:api.example.com"
            exit_with_error(f"--network: expected {expected}, found {text!r}", ExitCode.USAGE)
        endpoints[verb].add(one)
    if not is_sandboxed:
        exit_with_error("--network is only for servers that run in the sandbox", ExitCode.USAGE)
    for verb, warning in (("allow", OPEN_SANDBOX_WARNING), ("stub", STUB_WARNING)):
        if hosts := sorted(one.host for one in endpoints[verb]):
            print_note(warning.format(", ".join(hosts)))
    reached, stubs = frozenset(endpoints["allow"]), frozenset(endpoints["stub"])
    nothing: frozenset[Endpoint] = frozenset()
    configured, learned = (reached, nothing) if allow_private else (nothing, reached)
    return AllowedEndpoints(configured, learned, stubs=stubs)


class _Collecting(Struct, frozen=True):
    """The `Collecting` of a scan, which has no store."""

    settings: Settings
    clock: Clock

    @property
    def log(self) -> Log:
        return get_log()


async def _collect(
    network: NetworkWiring, collecting: _Collecting, subject: ScanTarget, left: TimeLeft, progress: ScanProgress
) -> Dossier:
    """Collect one server as a run does, with its error boundary, but without a store."""
    now = collecting.clock.now()
    empty = Dossier(server=subject.server, as_of=now)
    known_input = CollectInput(subject.server, subject.refs or None, earlier=empty, found=empty)
    loading = asyncio.create_task(_load_report(progress))
    try:
        sources = StageCollectors(await network.collectors(), await network.followers(), build_derivers(no_approval))
        collected = await _visit(collecting, sources, known_input, left, progress)
    finally:
        loading.cancel()
        await network.close()
    return Dossier(server=subject.server, as_of=now, records={record.kind: record for record in collected.records})


async def _load_report(progress: ScanProgress) -> None:
    """Load what judges the evidence while a package starts: this process has nothing else to do then."""
    await progress.server_starts.wait()
    await asyncio.to_thread(_import_report)


def _import_report() -> None:
    with keep_imported():
        from publish.preloading import load_rules  # noqa: PLC0415  loads all rules

        importlib.import_module("workers.cli.results.scan_report")
    load_rules()


async def _visit(
    collecting: _Collecting, sources: StageCollectors, subject: CollectInput, left: TimeLeft, progress: ScanProgress
) -> CollectedServer:
    """Collect again, with the same time, when this machine stood still; after a few times that is the reason."""
    given = left.seconds
    async with StallWatch(collecting.clock) as watch:
        for _ in range(MAX_VISITS):
            try:
                async with watch.visit():
                    return await collect_server(
                        collecting, sources, Stage.COLLECT, subject, left=left, on_source=progress.show_source
                    )
            except StoodStill:
                print_note("this machine stood still: the scan starts again")
                left.seconds = given
                await watch.recovered()
    return record_stage_absent(collecting, sources, Stage.COLLECT, subject, Absent(Reason.COLLECTOR_ERROR, STOOD_STILL))
