"""Without Linux there is no sandbox, and everything else works: Linux-only functions are used lazily."""

from __future__ import annotations

import subprocess
import sys

# What Python has on Linux and not on macOS, of what the sandbox uses.
_WITHOUT_LINUX = """
import os, resource, signal
for module, names in (
    (os, "O_PATH P_PIDFD memfd_create pidfd_open sched_getaffinity setresgid setresuid"),
    (resource, "RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RTPRIO RLIMIT_SIGPENDING prlimit"),
    (signal, "pidfd_send_signal"),
):
    for name in names.split():
        delattr(module, name)
os.process_cpu_count = os.cpu_count  # elsewhere Python defines it so
"""
_EVERY_COMMAND = """
import workers.cli.app
from crawler.sandbox.box_slots import count_box_slots
assert count_box_slots() >= 1
"""
_BARE = """
import asyncio, sys
from crawler.sandbox import UnsandboxedLauncher
from evidence.model import Target, TargetType

async def start():
    target = Target(type=TargetType.COMMAND, identifier="/", arguments=(sys.executable, "-c", "print('up')"))
    started = await UnsandboxedLauncher({}).launch(target)
    assert await started.read(64) == b"up\\n"
    assert await started.read(64) == b""
    assert (await started.stop()).code == 0

asyncio.run(start())
"""


def test_every_command_can_be_had_without_linux() -> None:
    _run(_EVERY_COMMAND)


def test_a_bare_command_runs_without_linux() -> None:
    _run(_BARE)


def _run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_LINUX + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
