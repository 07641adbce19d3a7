"""The processes that one machine needs: beat, a worker for each queue with a size that fits the machine, and two apps.

The apps listen on loopback only: the health app with the metrics, and the site.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from crawler.sandbox.box_slots import count_processors, measure_memory
from workers import schedule

BEAT: Final = "beat"
HEALTH: Final = "health"
SITE: Final = "site"
HOST: Final = "127.0.0.1"
HEALTH_PORT: Final = 9180
SITE_PORT: Final = 8080
GIB: Final = 1 << 30
MEMORY_OF_A_CORE: Final = 2 * GIB
"""A probing or scoring process is planned for each core, but no more than one for so much memory."""

_PER_CORE: Final = frozenset({schedule.PROBE_QUEUE, schedule.SCAN_QUEUE, schedule.SCORE_QUEUE})
_PURPOSES: Final[Mapping[str, str]] = {
    BEAT: "issues the tasks of the schedule",
    schedule.PROBE_QUEUE: "plans runs, probes servers with remotes only",
    schedule.GITHUB_QUEUE: "reads repositories",
    schedule.SCAN_QUEUE: "scans sources and dependencies",
    schedule.SANDBOX_QUEUE: "installs and probes packages",
    schedule.SCORE_QUEUE: "scores what is collected",
    schedule.PUBLISH_QUEUE: "distributes work, publishes runs",
    schedule.RETEST_QUEUE: "re-tests, requests of visitors",
    HEALTH: "answers /healthz, /readyz and /metrics at",
    SITE: "serves the site, the API and badges at",
}
_CELERY: Final = ("-A", "workers.celery_app")
_HEALTH_APP: Final = ("--factory", "workers.observability.health:create_app", "--no-access-log")
_APPS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    HEALTH: ("uvicorn", (*_HEALTH_APP, "--log-level", "warning", "--host", HOST)),
    SITE: ("workers.cli", ("web", "--host", HOST)),
}


class Machine(Struct, frozen=True):
    """Processors and bytes of memory that this process may use."""

    processors: int
    memory: int


class PlannedProcess(Struct, frozen=True, kw_only=True):
    """A Python module to run; `pool` is the number of child processes of a worker, 0 for others."""

    name: str
    purpose: str
    pool: int
    module: str
    arguments: tuple[str, ...]

    @property
    def command(self) -> tuple[str, ...]:
        """What starts the same process by hand."""
        return (sys.executable, "-m", self.module, *self.arguments)


def measure_machine() -> Machine:
    """This machine, or the part of it that a control group leaves."""
    return Machine(count_processors(), measure_memory())


def count_shards(machine: Machine) -> int:
    """Processes of a queue whose work needs processors, and so the tasks that wait in it: one per core."""
    return max(1, min(machine.processors, machine.memory // MEMORY_OF_A_CORE))


def plan_processes(
    machine: Machine, queues: Sequence[str], *, beat: bool, folder: Path, fleet: int, ports: Mapping[str, int]
) -> list[PlannedProcess]:
    """Beat first, then a worker for each queue, since none waits behind the long tasks of another, then the apps.

    The number `fleet` makes the names of the workers unique on a machine. Beat writes its schedule to `folder`. `ports`
    has the port of each app to start.
    """
    planned = [_plan_beat(folder)] if beat else []
    shards = count_shards(machine)
    planned += [_plan_worker(queue, shards if queue in _PER_CORE else 1, fleet) for queue in queues]
    return planned + [_plan_app(name, port) for name, port in ports.items()]


def _plan_beat(folder: Path) -> PlannedProcess:
    arguments = (*_CELERY, "--quiet", "beat", "--schedule", str(folder / "beat-schedule"), "--pidfile=")
    return PlannedProcess(name=BEAT, purpose=_PURPOSES[BEAT], pool=0, module="celery", arguments=arguments)


def _plan_app(name: str, port: int) -> PlannedProcess:
    purpose = f"{_PURPOSES[name]} http://{HOST}:{port}"
    module, arguments = _APPS[name]
    return PlannedProcess(
        name=name, purpose=purpose, pool=0, module=module, arguments=(*arguments, "--port", str(port))
    )


def _plan_worker(queue: str, pool: int, fleet: int) -> PlannedProcess:
    options = ("--queues", queue, "--concurrency", str(pool), "--hostname", f"{queue}-{fleet}@%h")
    return PlannedProcess(
        name=queue, purpose=_PURPOSES[queue], pool=pool, module="celery", arguments=(*_CELERY, "worker", *options)
    )
