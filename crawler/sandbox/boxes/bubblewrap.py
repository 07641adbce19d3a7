"""Start a command in a box: bubblewrap with an empty environment, its options on a descriptor, gated until limited."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from crawler.sandbox.boxes import root_preparation
from crawler.sandbox.boxes.box import Box, Descriptors, Scratch, bubblewrap_options, encode_options
from crawler.sandbox.boxes.process_tree import ContainedProcess, InitProcess, read_available
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel import cgroup, seccomp_filter
from crawler.sandbox.kernel.libc import load_libc
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.user_ids import Identity
from crawler.sandbox.kernel.zombie_reaping import reap_group
from crawler.sandbox.monitoring.decoys import lay_decoys
from crawler.sandbox.monitoring.monitor import BoxObservation, ListenerHandover, SyscallMonitor
from evidence.canonical import Json

SETUP_SECONDS = 15.0
PR_SET_PDEATHSIG = 1
OptionsBuilder: TypeAlias = Callable[[Box, Mapping[Path, str], Scratch | None, Descriptors], list[str]]


async def start_in_box(
    box: Box,
    command: Sequence[str],
    identity: Identity,
    *,
    facts: Mapping[str, Json] | None = None,
    inherited: Sequence[int] = (),
    dress: OptionsBuilder = bubblewrap_options,
    runtime: str = "bubblewrap",
) -> ContainedProcess:
    """Start `command` in `box`; raises SandboxError when bubblewrap cannot set the box up.

    `dress` makes bubblewrap's options for the box; `runtime` names what contains the command.
    """
    tripwire = ListenerHandover(platform.machine()) if box.watched and dress is bubblewrap_options else None
    with contextlib.ExitStack() as always, contextlib.ExitStack() as undo:  # undone when it fails or is cancelled
        group = cgroup.create_group(box.limits)
        if group is not None:
            undo.callback(group.remove_group)
        (info, info_theirs), (gate_theirs, gate) = os.pipe(), os.pipe()
        always.callback(os.close, info)
        always.callback(os.close, gate)
        listener = None
        try:
            steps = [group.enter] if group is not None else []
            setup = (info_theirs, gate_theirs)
            process = _spawn(box, command, identity, setup, inherited, dress=dress, steps=steps, tripwire=tripwire)
        finally:
            os.close(info_theirs)
            os.close(gate_theirs)
            if group is not None:
                group.close()
            if tripwire is not None:
                listener = tripwire.finish()
        undo.callback(_abandon, process)
        watch = None if listener is None else SyscallMonitor(listener, platform.machine())
        if watch is not None:
            undo.callback(watch.end)
            watch.attend()
        init = await _init(info, process)
        undo.callback(os.close, init.handle)
        decoys = await lay_decoys(init.pid, box.root, identity.uid) if tripwire is not None else None
        observation = BoxObservation(watch, decoys)
        undo.callback(observation.end)
        if group is not None:
            await group.admit(init.pid)
        try:
            _admit(init, box.limits, identity, gate)
        except OSError as error:
            raise SandboxError(f"the sandbox could not be limited: {type(error).__name__}") from error
        undo.pop_all()
    contained = ContainedProcess(process, init, box.limits, facts or {}, runtime=runtime)
    if tripwire is not None:
        contained.observed_by(observation.tell)
    if group is not None:
        contained.set_memory_check(group.starved)
        contained.after_stop(group.wait_until_removed)
    return contained


def _spawn(
    box: Box,
    command: Sequence[str],
    identity: Identity,
    setup: tuple[int, int],
    inherited: Sequence[int],
    *,
    dress: OptionsBuilder,
    steps: list[Callable[[], None]],
    tripwire: ListenerHandover | None,
) -> subprocess.Popen[bytes]:
    binary = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if binary is None:
        raise SandboxError("bubblewrap is missing")
    sources = [box.root, *(bind.source for bind in box.binds)]
    opened: list[int] = []
    try:
        filter_fd = _readable(seccomp_filter.filter_program(platform.machine()), opened)
        descriptors = Descriptors(seccomp=filter_fd, info=setup[0], gate=setup[1])
        if identity.uid is None:
            found = dress(box, {source: str(source) for source in sources}, None, descriptors)
        else:
            stage = root_preparation.plan_stage(sources)
            steps.append(root_preparation.make_child_preparation(stage, box.limits, identity.uid))
            found = dress(box, stage.places, stage.scratch, descriptors)
        steps.append(_ending_with(os.getpid()))
        if tripwire is not None:  # it waits for a word of ours
            steps.append(tripwire.install)
        arguments = _readable(encode_options(found), opened)
        # An empty environment: the box's first process shows its own in /proc/1/environ.
        return subprocess.Popen(  # noqa: S603
            [binary, "--args", str(arguments), "--", *command],
            env={},
            cwd="/",
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(arguments, filter_fd, *setup, *inherited),
            preexec_fn=partial(_run, steps),  # noqa: PLW1509 (system calls prepared beforehand)
            start_new_session=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError, seccomp_filter.UnsupportedMachineError) as error:
        raise SandboxError(f"the sandbox could not be started: {error}") from error
    finally:
        for handle in opened:
            os.close(handle)


def _run(steps: Sequence[Callable[[], None]]) -> None:
    for step in steps:
        step()


def _ending_with(parent: int) -> Callable[[], None]:
    """Have the child killed when we die before bubblewrap sees to that itself; a change of user would undo it."""
    prctl = load_libc().prctl

    def end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before we said so
            os._exit(1)

    return end_with_parent


def _admit(init: InitProcess, limits: Limits, identity: Identity, gate: int) -> None:
    """Set the limits of a box that waits at the gate, then open it."""
    if identity.uid is None:
        _limit(init.pid, limits)
    os.write(gate, b"\0")


def _abandon(process: subprocess.Popen[bytes]) -> None:
    # The whole group: a box at the gate does not yet die with bubblewrap, and would start once the gate is closed.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    reap_group(process.pid)


def _readable(data: bytes, opened: list[int]) -> int:
    """A descriptor from which `data` can be read, noted in `opened`; in memory, so that any length fits."""
    handle = os.memfd_create("hallmark")
    opened.append(handle)
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


async def _init(info: int, process: subprocess.Popen[bytes]) -> InitProcess:
    """The box's first process, which bubblewrap reports before it opens the gate."""
    try:
        async with asyncio.timeout(SETUP_SECONDS):
            text = await _read_object(info)
        pid = int(json.loads(text)["child-pid"])
        return InitProcess(pid, os.pidfd_open(pid))
    except (OSError, ValueError, KeyError, TypeError) as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        said = process.stderr.read().decode("utf-8", "replace").strip() if process.stderr else ""
        raise SandboxError(f"bubblewrap could not set the sandbox up: {said[-300:] or type(error).__name__}") from error


async def _read_object(handle: int) -> bytes:
    os.set_blocking(handle, False)
    found = b""
    while not found.rstrip().endswith(b"}") and (chunk := await read_available(handle, 4096)):
        found += chunk
    return found


def _limit(init: int, limits: Limits) -> None:
    """Limits for an unprivileged user's box, set while it waits at the gate; its own user namespace counts from 0."""
    for number, most in (*limits.resources(), (resource.RLIMIT_NPROC, limits.processes)):
        hard = resource.prlimit(init, number)[1]
        lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.prlimit(init, number, (lower, lower))
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, init, 5)
