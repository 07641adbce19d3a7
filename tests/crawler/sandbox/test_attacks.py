"""Attacks that run inside real boxes."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import time
from pathlib import Path

import pytest

from crawler.sandbox import Limits
from crawler.sandbox.boxes import bubblewrap, child_preparation
from crawler.sandbox.boxes.process_tree import list_descendants
from crawler.sandbox.kernel import cgroup, user_ids
from crawler.sandbox.kernel.cgroup import ControlGroup
from crawler.sandbox.monitoring.monitor import SESSIONS
from evidence.model import Target, TargetType
from tests.crawler.sandbox.driving import HOSTILE, alive, attack, sandbox

pytestmark = pytest.mark.sandbox
MIB = 1 << 20
ROOT = os.geteuid() == 0


@pytest.fixture(params=[*([pytest.param("own user id", marks=pytest.mark.soak)] if ROOT else []), "our user id"])
def cache_of(request: pytest.FixtureRequest, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache; as root, once with a user id per slot and once the way an ordinary user runs."""
    if request.param == "our user id" and ROOT:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return cache


def test_files_of_the_host_are_not_there(cache_of: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    places = ["/root", "/home", "/etc/shadow", "/var", "/etc/ssl/private", str(secret), str(Path.cwd())]
    found, _ = attack(cache_of, "host_files", *places, "/sys")
    assert all(found[place] == ["refused", "ENOENT"] for place in places)
    assert found["/sys"] == ["ok", []]


def test_environment_of_the_host_does_not_enter(cache_of: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "topsecret")
    found, _ = attack(cache_of, "environments")
    assert "topsecret" not in str(found)
    assert found["processes"]["1"][0] == ["ok", ""]
    assert str(cache_of) not in found["processes"]["1"][1][1]
    assert sorted(found["processes"]) == ["1", "2"]


def test_network_of_the_host_is_out_of_reach(cache_of: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own = f"127.0.0.1:{listener.getsockname()[1]}"
        found, _ = attack(cache_of, "dial", own, "192.0.2.1:443", "1.1.1.1:53", "::1:80", "2001:db8::1:443")
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert {answer[0] for answer in found.values()} == {"refused"}


def test_only_loopback_exists(cache_of: Path) -> None:
    found, _ = attack(cache_of, "interfaces")
    assert found["interfaces"] == ["lo"]
    assert found["udp"][0] == "refused"


def test_unix_sockets_of_the_host_are_out_of_reach(cache_of: Path, tmp_path: Path) -> None:
    name = f"hallmark-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as file:
        abstract.bind("\0" + name)
        abstract.listen()
        file.bind(str(tmp_path / "socket"))
        file.listen()
        found, _ = attack(cache_of, "unix", name, str(tmp_path / "socket"))
    assert found == {"abstract": ["refused", "ECONNREFUSED"], "file": ["refused", "ENOENT"]}


def test_exotic_socket_families_are_refused(cache_of: Path) -> None:
    found, _ = attack(cache_of, "families")
    assert {name for name, answer in found.items() if answer == ["refused", "EAFNOSUPPORT"]} == {
        "PACKET", "ALG", "VSOCK", "BLUETOOTH", "XDP",
    }  # fmt: skip
    assert found["INET"][0] == found["UNIX"][0] == "ok"


def test_routes_may_be_read_and_nothing_of_them_changed(cache_of: Path) -> None:
    found, _ = attack(cache_of, "routes")
    assert found["interfaces"] == found["with_addresses"] == ["lo"]
    changes = [found[each] for each in ("set", "new", "address", "route", "to_another", "membership")]
    assert changes == [["refused", "EPERM"]] * 6
    assert found["protocols"] == ["EPROTONOSUPPORT"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64")
def test_dangerous_system_calls_are_refused(cache_of: Path) -> None:
    found, _ = attack(cache_of, "calls")
    assert found.pop("clone3") == found.pop("unknown") == "ENOSYS"
    assert set(found.values()) == {"EPERM"}


def test_nothing_inside_can_raise_its_rights(cache_of: Path) -> None:
    found, _ = attack(cache_of, "who")
    assert found["status"]["CapEff"] == found["status"]["CapBnd"] == "0000000000000000"
    assert (found["status"]["NoNewPrivs"], found["status"]["Seccomp"]) == ("1", "2")
    assert found["status"]["Uid"].split()[0] == "1000"
    assert (found["shells"], found["setuid"]) == ([], [])


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_inode_flood_stops_at_the_cap(cache_of: Path, folder: str) -> None:
    found, _ = attack(cache_of, "inodes", folder, "50000")
    assert found["error"] == "ENOSPC"
    assert found["files"] < 2048


def test_fork_bomb_stops_at_the_limit(cache: Path) -> None:
    found, _ = attack(cache, "forks", "500", limits=Limits(processes=40))
    assert found["error"] == "EAGAIN"
    assert found["forks"] < 40


def test_many_processes_yield_to_neighbours(cache_of: Path) -> None:
    found, _ = attack(cache_of, "crowd", "30")
    assert (found["before"], found["after"], found["policy"]) == (5, 19, os.SCHED_BATCH)


def test_box_is_made_where_only_bubblewrap_may_mount(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(child_preparation, "can_mount_as_user", lambda: False)
    found, _ = attack(cache, "who")
    assert found["status"]["CapBnd"] == "0000000000000000"
    _, end = attack(cache, "inodes", "/tmp", "50000")
    assert end.stderr == "sandbox: stopped at the limit of 2048 temporary files"


def test_few_sessions_can_be_started_where_they_share_the_processors(
    cache_of: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_parents", lambda _: iter(()))
    found, _ = attack(cache_of, "sessions", "12")
    assert found["sessions"] == SESSIONS


def test_few_sessions_can_be_started_when_the_group_of_processors_was_not_entered(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ControlGroup, "enter", lambda _: None)
    found, _ = attack(cache, "sessions", "12")
    assert found["sessions"] == SESSIONS


def test_disk_fill_stops_at_the_cap(cache_of: Path) -> None:
    found, _ = attack(cache_of, "disk", "/tmp", "/dev/shm", "/dev", "/app", "/", "/project", "/usr")
    assert found["/tmp"][2] <= 32 * MIB
    assert found["/dev/shm"][2] <= 4 * MIB
    assert all(found[place][2] == 0 for place in ("/dev", "/app", "/", "/project", "/usr"))


def test_shared_anonymous_memory_is_refused(cache_of: Path) -> None:
    found, _ = attack(cache_of, "shared_memory")
    assert found == {"anonymous": ["refused", "ENOMEM"], "zero": ["refused", "ENOENT"]}


def test_memory_of_one_process_is_limited(cache: Path) -> None:
    found, _ = attack(cache, "memory", "700", limits=Limits(data=300 * MIB))
    assert found["error"] == "MemoryError"
    assert found["mib"] < 300


def test_memory_of_all_processes_together_is_limited(cache_of: Path) -> None:
    began = time.monotonic()
    _, end = attack(cache_of, "hoard", "6", "60", limits=Limits(memory=200 * MIB))
    assert (end.code, end.stderr) == (None, "sandbox: stopped at the memory limit of 200 MiB")
    assert time.monotonic() - began < 100


def test_output_flood_is_cut_off(cache: Path) -> None:
    _, end = attack(cache, "flood", "stdout", "64", limits=Limits(output=4 * MIB))
    assert end.stderr == "sandbox: stopped at the output limit of 4 MiB"


def test_stderr_flood_is_cut_off_and_its_tail_kept(cache: Path) -> None:
    _, end = attack(cache, "flood", "stderr", "64", limits=Limits(errors=4 * MIB))
    assert end.stderr.endswith("sandbox: stopped at the stderr limit of 4 MiB")
    assert len(end.stderr) <= 8192 + 64


def test_endless_server_is_stopped_at_the_deadline(cache: Path) -> None:
    began = time.monotonic()
    said, end = attack(cache, "sleep", "300", limits=Limits(seconds=6))
    assert said == "asleep\n"
    assert end.stderr == "sandbox: stopped at the time limit of 6 seconds"
    assert time.monotonic() - began < 100


def test_spinning_server_runs_out_of_processor_time(cache: Path) -> None:
    if not ROOT:
        pytest.skip("covered as root: the limit is set the same way")
    _, end = attack(cache, "spin", limits=Limits(cpu_seconds=1, seconds=30))
    assert end.code is not None
    assert end.code != 0


def test_daemonised_children_do_not_survive(cache_of: Path) -> None:
    async def scenario() -> None:
        box = await sandbox(cache_of)
        command = Target(
            type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "attack.py", "daemons", "5")
        )
        launched = await box.launch(command)
        await launched.read(4096)
        pids = list_descendants(launched._init.pid)
        assert len(pids) >= 6
        await launched.stop()
        assert [pid for pid in pids if alive(pid)] == []

    asyncio.run(scenario())


def test_cancelled_launch_leaves_no_box_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned, spawn = [], bubblewrap._spawn
    monkeypatch.setattr(bubblewrap, "_spawn", lambda *given, **how: spawned.append(spawn(*given, **how)) or spawned[-1])
    monkeypatch.setattr(bubblewrap, "_wait_for_init", lambda *_: asyncio.Event().wait())

    async def scenario() -> None:
        box = await sandbox(cache, slots=1)
        command = Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "attack.py", "who"))
        for _ in range(2):  # the only slot is free again
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(box.launch(command), 0.5)

    asyncio.run(scenario())
    assert [process.returncode for process in spawned] == [-9, -9]
    assert [process.stdout.closed for process in spawned] == [True, True]  # no process inside holds it open


def test_two_sandboxes_never_share_a_user_id(cache: Path) -> None:
    async def scenario() -> None:
        async with (
            user_ids.claim_slot(cache) as one,
            user_ids.claim_slot(cache) as other,
            user_ids.claim_slot(cache / "x") as third,
        ):
            assert one.uid is None if not ROOT else len({one.uid, other.uid, third.uid}) == 3

    asyncio.run(scenario())
