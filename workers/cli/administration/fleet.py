"""`hallmark fleet`: everything that one machine of a fleet runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from workers import schedule
from workers.cli.display.console import ExitCode, exit_with_error, make_table, print_data, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.extras import FLEET, SITE, require_extra
from workers.cli.options import json_lines_option
from workers.cli.session import configure_command_logging
from workers.settings.environment import VARIABLE_PREFIX, Settings, is_set, read_settings, read_user_environment

if TYPE_CHECKING:
    from workers.fleet.plan import PlannedProcess


@click.command()
@click.option(
    "--queues", metavar="QUEUE,...", help=f"Start workers of these queues only. Default: {','.join(schedule.QUEUES)}."
)
@click.option("--beat/--no-beat", default=True, help="Start the scheduler, which one machine of a fleet needs.")
@click.option(
    "--health-port",
    type=click.IntRange(min=0, max=65_535),
    default=9180,
    help="Port of /healthz, /readyz and /metrics at 127.0.0.1. 0: no health app.",
)
@click.option(
    "--site-port",
    type=click.IntRange(min=0, max=65_535),
    help="Port of the site at 127.0.0.1. 0: no site. Default: 8080 with the scheduler and the extra `site`.",
)
@click.option("--dry-run", is_flag=True, help="Print what would start, and end.")
@json_lines_option
def fleet(
    *, queues: str | None, beat: bool, health_port: int, site_port: int | None, dry_run: bool, as_json: bool
) -> None:
    """Start everything that one machine of a fleet runs: the scheduler, workers for all queues, metrics and the site.

    It needs HALLMARK_DATABASE_URL (PostgreSQL) and HALLMARK_REDIS_URL, migrates the database, checks and builds the
    sandbox, and starts one worker per queue.

    Workers of probe, scan and score have one process per core, at most one per 2 GiB of memory; the others have one.

    The site is at http://127.0.0.1:8080, health and metrics at http://127.0.0.1:9180. Others reach neither: put a proxy
    with TLS in front of the site and set HALLMARK_WEB_URL (docs/guide/site.md).

    A process that ends by itself is started again after a pause of 1 to 60 s (event process_ended). Ctrl-C or SIGTERM
    lets workers return their work, within two minutes; a second one kills them.

    Exit codes: 0 everything ended when asked, 1 it could not start, or a process failed or was killed, 2 wrong usage.

    Examples:

    hallmark fleet --dry-run

    HALLMARK_REGISTRIES='["starter"]' hallmark fleet

    hallmark fleet --no-beat --queues sandbox        # a second machine, for packages only
    """
    chosen = _read_queues(queues)
    with explain_failures():
        require_extra(FLEET)
        from workers.fleet.plan import count_shards, measure_machine, plan_processes  # noqa: PLC0415

        settings, machine = read_settings(), measure_machine()
        ports = _choose_ports(health_port, site_port, beat=beat)
        folder = settings.home.absolute()
        planned = plan_processes(machine, chosen, beat=beat, folder=folder, fleet=os.getpid(), ports=ports)
        _show(planned, as_json=as_json)
        if dry_run:
            return
        configure_command_logging(settings, "info")
        _prepare(settings, chosen, ports, beat=beat)
        shards = settings.shards if is_set("shards") else count_shards(machine)
        _say_started(ports)
        raise click.exceptions.Exit(ExitCode.OK if _supervise(settings, planned, shards) else ExitCode.FAILURE)


def _choose_ports(health_port: int, site_port: int | None, *, beat: bool) -> dict[str, int]:
    """The ports of the apps to start. The site starts where beat does, when it is installed or asked for."""
    from workers.fleet import plan  # noqa: PLC0415  needs the extra

    if site_port:
        require_extra(SITE)
    elif site_port is None and beat and not SITE.find_missing():
        site_port = plan.SITE_PORT
    chosen = {plan.HEALTH: health_port, plan.SITE: site_port or 0}
    return {name: port for name, port in chosen.items() if port}


def _say_started(ports: Mapping[str, int]) -> None:
    from workers.fleet.plan import HOST  # noqa: PLC0415  needs the extra

    apps = "".join(f"; {name}: http://{HOST}:{port}" for name, port in ports.items())
    print_note(f"started{apps}. Ctrl-C ends it. In another terminal: hallmark status --watch")


def _read_queues(text: str | None) -> list[str]:
    asked = [name.strip() for name in text.split(",")] if text is not None else list(schedule.QUEUES)
    if unknown := [name for name in asked if name not in schedule.QUEUES]:
        exit_with_error(
            f"expected queues among {', '.join(schedule.QUEUES)}; found {', '.join(map(repr, unknown))}", ExitCode.USAGE
        )
    return [name for name in schedule.QUEUES if name in asked]


def _show(planned: Sequence[PlannedProcess], *, as_json: bool) -> None:
    if as_json:
        for one in planned:
            print_json({"process": one.name, "purpose": one.purpose, "pool": one.pool, "command": list(one.command)})
        return
    grid = make_table("Process", ("Pool", "right"), "Purpose")
    for one in planned:
        grid.add_row(one.name, str(one.pool or ""), one.purpose)
    print_data(grid)


def _prepare(settings: Settings, queues: Sequence[str], ports: Mapping[str, int], *, beat: bool) -> None:
    from workers.fleet import preflight  # noqa: PLC0415  needs the extra

    try:
        preflight.check_broker(settings)
        print_note("Redis answers")
        if beat:
            preflight.check_single_beat(settings)
        preflight.check_ports(ports)
        preflight.migrate_database(settings)
        print_note("PostgreSQL answers, its tables are up to date")
        print_note(f"sandbox: {preflight.prepare_sandbox(settings, queues)}")
        print_note("loading the code, once for all processes")
        preflight.load_code()
    except preflight.NotReady as error:
        exit_with_error(str(error))
    settings.home.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        print_note("running as root; an ordinary user is safer")


def _supervise(settings: Settings, planned: Sequence[PlannedProcess], shards: int) -> bool:
    from workers.fleet.supervisor import Supervisor  # noqa: PLC0415  needs the extra

    is_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    own = {"LOG_FORMAT": "json" if is_json else "console", "SHARDS": str(shards)}
    environment = {**read_user_environment(), **{f"{VARIABLE_PREFIX}{name}": text for name, text in own.items()}}
    return Supervisor(planned, environment, sys.stderr.buffer, is_json=is_json).run()
