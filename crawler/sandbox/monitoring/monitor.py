"""Monitors the system calls of a box: installs the notification filter and receives the held calls."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import struct
import threading
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from crawler.sandbox.kernel import syscall_notification
from crawler.sandbox.kernel.libc import load_libc
from crawler.sandbox.kernel.syscall_notification import HeldCall
from crawler.sandbox.monitoring.decoys import Decoys
from crawler.sandbox.monitoring.syscall_events import SyscallEvents
from evidence.kinds.behaviour import Behaviour
from evidence.model import Absent, Reason

# linux/seccomp.h, linux/prctl.h, asm-generic/unistd.h
NEW_LISTENER = 1 << 3
SET_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 1, 38
PIDFD_GETFD = 438
SECCOMP: Mapping[str, int] = {"x86_64": 317, "aarch64": 277}

FIRST_EXEC_MILLISECONDS = 10_000
BATCH = 16
FREE_CALLS = 4096  # calls that are continued at once; later ones are delayed by PAUSE, so that a flood costs us little
PAUSE = 0.01
# Sessions that a box without a control group for processors may start: the scheduler shares the processors among
# sessions (sched(7), autogroup), so that a box with sixty would leave its neighbours a thirtieth of them.
SESSIONS = 4


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


class ListenerHandover:
    """Installs the filter: `install` runs in the forked child, while a thread of the parent fetches the listener.

    Create one before the fork and call `finish` after it, also if the fork failed.
    """

    def __init__(self, machine: str) -> None:
        self._code = syscall_notification.notification_program(machine)
        self._program = _Program(len(self._code) // 8, ctypes.cast(ctypes.c_char_p(self._code), ctypes.c_void_p))
        self._libc = load_libc()
        self._number = SECCOMP[machine]
        self._from_child, self._to_parent = os.pipe()
        self._from_parent, self._to_child = os.pipe()
        self._listener: int | None = None
        # A thread, since the child's exec is held while the caller of fork waits for it.
        self._thread = threading.Thread(target=self._fetch, name="listener-handover", daemon=True)
        self._thread.start()

    def install(self) -> None:
        """Install the filter, if the parent can monitor; called by the child between fork and exec."""
        os.write(self._to_parent, struct.pack("<i", os.getpid()))
        if os.read(self._from_parent, 1) != b"y":
            return
        self._libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        listener = self._libc.syscall(self._number, SET_MODE_FILTER, NEW_LISTENER, ctypes.byref(self._program))
        os.write(self._to_parent, struct.pack("<i", listener))
        if listener >= 0:
            os.read(self._from_parent, 1)  # the parent has the listener, or is dead; then the exec fails
            os.close(listener)

    def finish(self) -> int | None:
        """The listener, after the child's first exec was continued; None if the kernel or our permissions refuse."""
        os.close(self._to_parent)
        os.close(self._from_parent)
        self._thread.join()
        os.close(self._from_child)
        os.close(self._to_child)
        return self._listener

    def _fetch(self) -> None:
        with contextlib.suppress(OSError):  # the child has ended, or we lack permissions: it is not monitored
            pid = self._read_number()
            if pid is not None:
                process = os.pidfd_open(pid)
                try:
                    self._listener = self._take(process, pid)
                finally:
                    os.close(process)

    def _take(self, process: int, pid: int) -> int | None:
        os.write(self._to_child, b"y" if self._can_monitor(process, pid) else b"n")
        number = self._read_number()
        if number is None or number < 0:
            return None
        listener = int(self._libc.syscall(PIDFD_GETFD, process, number, 0))
        os.write(self._to_child, b"y")
        if listener < 0:
            return None
        if syscall_notification.wait_for_call(listener, FIRST_EXEC_MILLISECONDS) and (
            notice := syscall_notification.receive_call(listener)
        ):
            syscall_notification.continue_call(listener, notice)
        return listener

    def _can_monitor(self, process: int, pid: int) -> bool:
        """Whether we may monitor the child. Without a receiver of its calls, a filtered child could not start."""
        copy = int(self._libc.syscall(PIDFD_GETFD, process, self._from_child, 0))
        if copy < 0:
            return False
        os.close(copy)
        try:
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return False
        return True

    def _read_number(self) -> int | None:
        data = os.read(self._from_child, 4)
        return int(struct.unpack("<i", data)[0]) if len(data) == 4 else None


class SyscallMonitor(Struct):
    """Receives the held calls of a box in the event loop, from `start` to `end`.

    A box whose sessions are not `few` may start as many as it may start processes.
    """

    listener: int
    machine: str
    few: bool = True
    events: SyscallEvents = field(default_factory=SyscallEvents)
    _started: bool = False
    _answered: int = 0
    _waiting: asyncio.TimerHandle | None = None
    _ended: bool = False
    _sessions: int = 0

    def start(self) -> None:
        """Start to receive calls. Calls before the server's own exec are bubblewrap's and are not recorded."""
        asyncio.get_running_loop().add_reader(self.listener, self._ready)

    def end(self) -> None:
        """Stop receiving; processes that still run can no longer make monitored calls."""
        if self._ended:
            return
        self._ended = True
        self._pause()
        if self._waiting is not None:
            self._waiting.cancel()
        os.close(self.listener)

    def _pause(self) -> None:
        asyncio.get_running_loop().remove_reader(self.listener)

    def _ready(self) -> None:
        for _ in range(BATCH):
            if not syscall_notification.wait_for_call(self.listener, 0):
                break
            self._answer()
        if syscall_notification.has_no_process(self.listener):
            self._pause()
        elif self._answered > FREE_CALLS:
            self._pause()
            self._waiting = asyncio.get_running_loop().call_later(PAUSE, self.start)

    def _answer(self) -> None:
        notice = syscall_notification.receive_call(self.listener)
        if notice is None:
            return
        self._answered += 1
        name = next(
            (each.name for each in syscall_notification.MONITORED_CALLS if each.number(self.machine) == notice.call), ""
        )
        try:
            self._record_call(name, notice)
        finally:
            if name == "setsid" and self.few and self._sessions > SESSIONS:
                syscall_notification.refuse_call(self.listener, notice, errno.EPERM)
            else:
                syscall_notification.continue_call(self.listener, notice)

    def _record_call(self, name: str, notice: HeldCall) -> None:
        if not self._started:
            self._started = name == "execve"
            return
        if name == "setsid":
            self._sessions += 1
            return
        if self._answered > FREE_CALLS:
            self.events.cut = True
            return
        try:
            handle = os.open(f"/proc/{notice.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            self.events.cut = True
            return
        except OSError:
            return
        try:
            if syscall_notification.is_call_held(self.listener, notice):
                self.events.record_call(name, notice.arguments, HeldProcess(notice.pid, handle))
        finally:
            os.close(handle)


class HeldProcess(Struct, frozen=True):
    """The process of a held call, with its memory, which was opened while the call was held."""

    pid: int
    handle: int

    def memory(self, address: int, size: int) -> bytes:
        """At most `size` bytes at `address`; raises OSError or ValueError for an invalid address."""
        try:
            return os.pread(self.handle, size, address)
        except OverflowError as error:
            raise ValueError("no file has that offset") from error

    def link(self, name: str) -> str:
        """The target of `cwd` or `fd/3` in /proc; raises OSError if the process has ended."""
        return str(Path(f"/proc/{self.pid}/{name}").readlink())


class BoxObservation(Struct, frozen=True):
    """All observations of one box. `monitor` is None if the kernel or our permissions do not allow monitoring."""

    monitor: SyscallMonitor | None
    decoys: Decoys | None

    def finish(self) -> Behaviour | Absent:
        """End the observation of a box that has ended, and return its behaviour."""
        touched, lost = self.decoys.touched() if self.decoys else (None, False)
        self.end()
        if self.monitor is None:
            return Absent(Reason.SANDBOX_RESTRICTED, "the kernel does not let us watch the system calls of a process")
        self.monitor.events.cut = self.monitor.events.cut or lost
        return self.monitor.events.to_behaviour(touched)

    def end(self) -> None:
        """End the observation."""
        if self.monitor is not None:
            self.monitor.end()
        if self.decoys is not None:
            self.decoys.close()
