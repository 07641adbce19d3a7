"""A fleet has beat and a worker for each queue, sized by cores and memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from celery.bin.celery import celery as celery_command
from hypothesis import given
from hypothesis import strategies as st

from tests.infra.test_deployment import parsed
from workers import schedule
from workers.fleet.plan import (
    BEAT,
    GIB,
    HEALTH,
    SITE,
    Machine,
    PlannedProcess,
    count_shards,
    measure_machine,
    plan_processes,
)


def plan(machine: Machine, *queues: str, beat: bool = True) -> dict[str, PlannedProcess]:
    chosen = queues or schedule.QUEUES
    planned = plan_processes(machine, chosen, beat=beat, folder=Path("/home"), fleet=7, ports={})
    return {one.name: one for one in planned}


def test_every_queue_has_a_worker_of_its_own() -> None:
    found = plan(Machine(2, 8 * GIB))
    assert list(found) == [BEAT, *schedule.QUEUES]
    for queue in schedule.QUEUES:
        words = found[queue].command
        assert words[words.index("--queues") + 1] == queue
        assert words[words.index("--concurrency") + 1] == str(found[queue].pool)


@pytest.mark.parametrize(
    ("machine", "shards"),
    [
        (Machine(1, GIB // 2), 1),
        (Machine(2, 4 * GIB), 2),
        (Machine(8, 8 * GIB), 4),
        (Machine(8, 64 * GIB), 8),
    ],
)
def test_work_of_processors_has_a_process_per_core_that_memory_allows(machine: Machine, shards: int) -> None:
    assert count_shards(machine) == shards
    pools = {name: one.pool for name, one in plan(machine).items()}
    assert {name for name, pool in pools.items() if pool == shards} >= {"probe", "scan", "score"}
    assert [pools[name] for name in ("github", "sandbox", "publish", "retest")] == [1, 1, 1, 1]


@given(st.integers(1, 512), st.integers(1, 1 << 44))
def test_no_machine_is_left_without_a_worker(processors: int, memory: int) -> None:
    assert all(one.pool >= 1 for one in plan(Machine(processors, memory), beat=False).values())


def test_celery_understands_every_command() -> None:
    for one in plan(Machine(2, 4 * GIB)).values():
        words = one.command[one.command.index("celery") + 1 :]
        words = [word for word in words if word != "--quiet"]
        assert words[:2] == ["-A", "workers.celery_app"]
        _, rest = parsed(celery_command.commands[words[2]], list(words[3:]))
        assert rest == []


def test_a_second_machine_starts_only_what_it_is_asked_for() -> None:
    assert list(plan(Machine(2, 4 * GIB), "sandbox", beat=False)) == ["sandbox"]


def test_the_apps_listen_on_loopback_at_the_ports_that_are_asked_for() -> None:
    apps = plan_processes(Machine(2, 4 * GIB), [], beat=False, folder=Path("/"), fleet=7, ports={HEALTH: 91, SITE: 80})
    assert [(one.name, one.pool, one.purpose.rpartition(" ")[2]) for one in apps] == [
        (HEALTH, 0, "http://127.0.0.1:91"),
        (SITE, 0, "http://127.0.0.1:80"),
    ]
    assert [one.command[-4:] for one in apps] == [
        ("--host", "127.0.0.1", "--port", "91"),
        ("--host", "127.0.0.1", "--port", "80"),
    ]


def test_this_machine_is_measured() -> None:
    machine = measure_machine()
    assert machine.processors >= 1
    assert machine.memory > 1 << 20
