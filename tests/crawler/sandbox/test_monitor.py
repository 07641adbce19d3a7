"""The system calls of real processes in boxes are monitored."""

from __future__ import annotations

import asyncio
import os
import platform
import struct
import time
from pathlib import Path

import pytest

from crawler.launcher import ProcessExit
from crawler.sandbox.kernel import seccomp_filter, syscall_notification
from crawler.sandbox.monitoring import monitor
from crawler.sandbox.monitoring.monitor import ListenerHandover, SyscallMonitor
from evidence.kinds.behaviour import Behaviour, Contact, Decoy
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import HOSTILE, read_all, sandbox
from tests.crawler.sandbox.test_seccomp_filter import verdict

ROOT = os.geteuid() == 0


@pytest.fixture(params=["own user id", "our user id"] if ROOT else ["our user id"])
def cache_of(request: pytest.FixtureRequest, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache; as root, once with a user id per slot and once the way an ordinary user runs."""
    if request.param == "our user id" and ROOT:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return cache


def observe(cache: Path, *arguments: str) -> tuple[Behaviour | Absent, bytes, ProcessExit]:
    """What was seen of the attack script, what it said, and how it ended."""

    async def scenario() -> tuple[Behaviour | Absent, bytes, ProcessExit]:
        box = await sandbox(cache)
        command = Target(
            type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "attack.py", *arguments)
        )
        launched = await box.launch(command)
        assert not isinstance(launched, Absent), launched
        said = await read_all(launched)
        end = await launched.stop()
        return launched.behaviour, said, end

    return asyncio.run(scenario())


@pytest.mark.sandbox
def test_every_attempted_access_is_recorded(cache_of: Path) -> None:
    seen, _, _ = observe(cache_of, "curious")
    assert seen == Behaviour(
        contacts=(
            Contact("/var/run/docker.sock"),
            Contact("127.0.0.1"),  # a short-lived port
            Contact("192.0.2.10", 515),
            Contact("192.0.2.7", 443),
            Contact("192.0.2.8", 80),
            Contact("192.0.2.9", 514),
        ),
        names=("exfil.example.com",),
        programs=("/tmp/home/dropped", "curl"),
        writes=("/etc/cron.d/job", "/etc/passwd"),
        decoys=(Decoy(".aws/"), Decoy(".bashrc", changed=True), Decoy(".ssh/id_rsa")),
    )


@pytest.mark.sandbox
def test_server_that_minds_its_own_business_did_nothing(cache_of: Path) -> None:
    seen, said, _ = observe(cache_of, "sleep", "0")
    assert said == b"asleep\n"
    assert seen == Behaviour(decoys=())


@pytest.mark.sandbox
def test_flood_of_calls_is_slowed_down_and_said(cache: Path) -> None:
    began = time.monotonic()
    seen, said, _ = observe(cache, "knocking", str(monitor.FREE_CALLS + 500))
    assert said
    assert isinstance(seen, Behaviour)
    assert (len(seen.writes), seen.cut) == (64, True)
    assert time.monotonic() - began > 500 / monitor.BATCH * monitor.PAUSE


@pytest.mark.sandbox
def test_server_starts_unobserved_where_the_kernel_refuses(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ListenerHandover, "_can_monitor", lambda *_: False)
    seen, said, _ = observe(cache, "curious")
    assert b"docker" not in said
    assert said.startswith(b"{")
    assert isinstance(seen, Absent)
    assert seen.reason is Reason.SANDBOX_RESTRICTED


@pytest.mark.sandbox
def test_box_whose_supervisor_is_gone_starts_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execve = next(
        each.number(platform.machine()) for each in syscall_notification.MONITORED_CALLS if each.name == "execve"
    )
    monkeypatch.setattr(
        SyscallMonitor, "_record_call", lambda self, _, call: self.end() if call.call == execve else None
    )
    _, said, end = observe(cache, "sleep", "0")
    assert (said, end.code) == (b"", 1)
    assert "execvp" in end.stderr


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_calls_that_tell_something_are_held(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp_filter, "filter_program", syscall_notification.notification_program)
    number = {each.name: each.number(machine) for each in syscall_notification.MONITORED_CALLS}

    def answer(name: str, *arguments: int) -> int:
        found = number[name]
        assert found is not None
        return verdict(machine, found, *arguments)

    held = [answer(name) for name in ("connect", "sendmsg", "sendmmsg", "execve", "execveat")]
    held += [answer("openat", 0, 0, flags) for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC)]
    held += [answer("sendto", 3, 0, 1, 0, 1 << 32), answer("sendto", 3, 0, 1, 0, 8), answer("sendto", 3, 0, 40)]
    assert set(held) == {syscall_notification.HOLD}
    free = [answer("openat", 0, 0, os.O_RDONLY | os.O_CLOEXEC), answer("sendto", 3, 0, 1), answer("sendto", 3, 0, 600)]
    assert set(free) == {seccomp_filter.ALLOW}
    assert verdict(machine, 0) == verdict(machine, 63) == seccomp_filter.ALLOW


def test_strictest_answer_is_never_that_of_the_watch() -> None:
    kinds = {struct.unpack_from("<I", syscall_notification.notification_program("x86_64"), 8 * at + 4)[0]
             for at in range(len(syscall_notification.notification_program("x86_64")) // 8)
             if syscall_notification.notification_program("x86_64")[8 * at] == seccomp_filter.RETURN}  # fmt: skip
    assert kinds == {
        syscall_notification.HOLD,
        seccomp_filter.ALLOW,
    }  # both weaker than ERRNO and KILL (seccomp(2), return values)
