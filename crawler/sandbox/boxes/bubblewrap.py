"""Starts a command in a box with bubblewrap, which waits at a gate until the limits of the box are set."""

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

from crawler.sandbox.boxes import child_preparation
from crawler.sandbox.boxes.box import Bind, Box, Descriptors, Scratch, bubblewrap_options, encode_options
from crawler.sandbox.boxes.process_tree import ContainedProcess, InitProcess, read_available
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel import cgroup, seccomp_filter
from crawler.sandbox.kernel.libc import load_libc
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.user_ids import Identity
from crawler.sandbox.kernel.zombie_reaping import reap_group
from crawler.sandbox.monitoring.decoys import write_decoys
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
    build_options: OptionsBuilder = bubblewrap_options,
    runtime: str = "bubblewrap",
) -> ContainedProcess:
    """Start `command` in `box`; raises SandboxError if bubblewrap cannot create the box.

    `build_options` makes the bubblewrap options; `runtime` is the name of the runtime in the evidence.
    """
    handover = ListenerHandover(platform.machine()) if box.watched and build_options is bubblewrap_options else None
    with contextlib.ExitStack() as always, contextlib.ExitStack() as undo:  # `undo` runs on failure and cancellation
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
            process = _spawn(
                box, command, identity, setup, inherited, build_options=build_options, steps=steps, handover=handover
            )
        finally:
            os.close(info_theirs)
            os.close(gate_theirs)
            if group is not None:
                group.close()
            if handover is not None:
                listener = handover.finish()
        undo.callback(_abandon, process)
        monitor = None if listener is None else SyscallMonitor(listener, platform.machine())
        if monitor is not None:
            undo.callback(monitor.end)
            monitor.start()
        init = await _wait_for_init(info, process)
        undo.callback(os.close, init.handle)
        decoys = await write_decoys(init.pid, identity.uid) if handover is not None else None
        observation = BoxObservation(monitor, decoys)
        undo.callback(observation.end)
        if group is not None:
            await group.add_process(init.pid)
            if monitor is not None:
                monitor.few = not group.shares_processors(init.pid)
        try:
            _open_gate(init, box.limits, identity, gate)
        except OSError as error:
            raise SandboxError(f"the sandbox could not be limited: {type(error).__name__}") from error
        undo.pop_all()
    contained = ContainedProcess(process, init, box.limits, facts or {}, runtime=runtime)
    if handover is not None:
        contained.set_observer(observation.finish)
    if group is not None:
        contained.set_memory_check(group.starved)
        contained.after_stop(group.remove_after_stop)
    return contained


def _spawn(
    box: Box,
    command: Sequence[str],
    identity: Identity,
    setup: tuple[int, int],
    inherited: Sequence[int],
    *,
    build_options: OptionsBuilder,
    steps: list[Callable[[], None]],
    handover: ListenerHandover | None,
) -> subprocess.Popen[bytes]:
    binary = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if binary is None:
        raise SandboxError("bubblewrap is missing")
    binds = list({bind.source: bind for bind in (Bind(box.root, "/"), *box.binds)}.values())
    opened: list[int] = []
    try:
        filter_fd = _memory_file(seccomp_filter.filter_program(platform.machine()), opened)
        descriptors = Descriptors(seccomp=filter_fd, info=setup[0], gate=setup[1])
        if identity.uid is None and not child_preparation.can_mount_as_user():
            options = build_options(box, {bind.source: str(bind.source) for bind in binds}, None, descriptors)
        else:
            stage = child_preparation.plan_stage(binds, devices=identity.uid is not None)
            steps.append(child_preparation.make_child_preparation(stage, box.limits, identity.uid))
            options = build_options(box, stage.places, stage.scratch, descriptors)
        steps.append(_end_with_parent(os.getpid()))
        if handover is not None:  # last, since it waits for a message of the parent
            steps.append(handover.install)
        arguments = _memory_file(encode_options(options), opened)
        # An empty environment, since the server can read that of the first process in /proc/1/environ.
        return subprocess.Popen(  # noqa: S603
            [binary, "--args", str(arguments), "--", *command],
            env={},
            cwd="/",
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(arguments, filter_fd, *setup, *inherited),
            preexec_fn=partial(_run_steps, steps),  # noqa: PLW1509 (system calls prepared beforehand)
            start_new_session=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError, seccomp_filter.UnsupportedMachineError) as error:
        raise SandboxError(f"the sandbox could not be started: {error}") from error
    finally:
        for handle in opened:
            os.close(handle)


def _run_steps(steps: Sequence[Callable[[], None]]) -> None:
    for step in steps:
        step()


def _end_with_parent(parent: int) -> Callable[[], None]:
    """Make the kernel kill the child if we die before bubblewrap ensures that; a change of user id resets this."""
    prctl = load_libc().prctl

    def end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the call
            os._exit(1)

    return end_with_parent


def _open_gate(init: InitProcess, limits: Limits, identity: Identity, gate: int) -> None:
    """Set the limits of a box that waits at the gate, then open the gate."""
    if identity.uid is None:
        _set_limits(init.pid, limits)
    os.write(gate, b"\0")


def _abandon(process: subprocess.Popen[bytes]) -> None:
    # The whole group: a box at the gate does not yet die with bubblewrap, and would start when the gate is closed.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    reap_group(process.pid)


def _memory_file(data: bytes, opened: list[int]) -> int:
    """A memory file that contains `data`; its descriptor is added to `opened`."""
    handle = os.memfd_create("hallmark")
    opened.append(handle)
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


async def _wait_for_init(info: int, process: subprocess.Popen[bytes]) -> InitProcess:
    """The first process of the box, which bubblewrap reports before the gate opens."""
    try:
        async with asyncio.timeout(SETUP_SECONDS):
            text = await _read_object(info)
        pid = int(json.loads(text)["child-pid"])
        return InitProcess(pid, os.pidfd_open(pid))
    except (OSError, ValueError, KeyError, TypeError) as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        message = process.stderr.read().decode("utf-8", "replace").strip() if process.stderr else ""
        raise SandboxError(
            f"bubblewrap could not set the sandbox up: {message[-300:] or type(error).__name__}"
        ) from error


async def _read_object(handle: int) -> bytes:
    os.set_blocking(handle, False)
    found = b""
    while not found.rstrip().endswith(b"}") and (chunk := await read_available(handle, 4096)):
        found += chunk
    return found


def _set_limits(init: int, limits: Limits) -> None:
    """Set the limits of an ordinary user's box at the gate. Its user namespace counts processes from 0."""
    for number, most in (*limits.resources(), (resource.RLIMIT_NPROC, limits.processes)):
        hard = resource.prlimit(init, number)[1]
        lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.prlimit(init, number, (lower, lower))
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, init, 5)
