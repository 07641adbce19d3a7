"""What a box does, heard as it does it: how the filter gets into the box, and who listens."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

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

FIRST_EXEC_MILLISECONDS = 10_000  # milliseconds until the first exec
BATCH = 16
FREE_CALLS = 4096  # calls that are answered at once; more of them wait their turn, so that a flood costs us little
PAUSE = 0.01


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


class ListenerHandover:
    """The filter on its way into a box: `install` runs in the forked child while a thread of ours fetches the listener.

    Make one before the fork and `finish` it after, whatever came of it.
    """

    def __init__(self, machine: str) -> None:
        self._code = syscall_notification.notification_program(machine)
        self._program = _Program(len(self._code) // 8, ctypes.cast(ctypes.c_char_p(self._code), ctypes.c_void_p))
        self._libc = load_libc()
        self._number = SECCOMP[machine]
        self._said, self._say = os.pipe()
        self._heard, self._tell = os.pipe()
        self._listener: int | None = None
        # Held calls are the child's exec, for which the caller of fork waits.
        self._thread = threading.Thread(target=self._fetch, name="tripwire", daemon=True)
        self._thread.start()

    def install(self) -> None:
        """Become watched, if the parent can watch; for the child, between fork and exec."""
        os.write(self._say, struct.pack("<i", os.getpid()))
        if os.read(self._heard, 1) != b"y":
            return
        self._libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        listener = self._libc.syscall(self._number, SET_MODE_FILTER, NEW_LISTENER, ctypes.byref(self._program))
        os.write(self._say, struct.pack("<i", listener))
        if listener >= 0:
            os.read(self._heard, 1)  # the parent has it, or is dead, which ends us at the exec
            os.close(listener)

    def finish(self) -> int | None:
        """The listener, once the child's first exec was let go; None when the kernel or our rights refuse it."""
        os.close(self._say)
        os.close(self._heard)
        self._thread.join()
        os.close(self._said)
        os.close(self._tell)
        return self._listener

    def _fetch(self) -> None:
        with contextlib.suppress(OSError):  # the child is gone, or we lack the rights: it is not watched
            pid = self._hear()
            if pid is not None:
                process = os.pidfd_open(pid)
                try:
                    self._listener = self._take(process, pid)
                finally:
                    os.close(process)

    def _take(self, process: int, pid: int) -> int | None:
        os.write(self._tell, b"y" if self._may_watch(process, pid) else b"n")
        number = self._hear()
        if number is None or number < 0:
            return None
        listener = int(self._libc.syscall(PIDFD_GETFD, process, number, 0))
        os.write(self._tell, b"y")
        if listener < 0:
            return None
        if syscall_notification.wait_for_call(listener, FIRST_EXEC_MILLISECONDS) and (
            notice := syscall_notification.receive_call(listener)
        ):
            syscall_notification.continue_call(listener, notice)
        return listener

    def _may_watch(self, process: int, pid: int) -> bool:
        """Tried before the child is watched: with a listener that nobody has it could not start anything."""
        copy = int(self._libc.syscall(PIDFD_GETFD, process, self._said, 0))
        if copy < 0:
            return False
        os.close(copy)
        try:
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return False
        return True

    def _hear(self) -> int | None:
        said = os.read(self._said, 4)
        return int(struct.unpack("<i", said)[0]) if len(said) == 4 else None


@dataclass(slots=True)
class SyscallMonitor:
    """What a box does, heard in the event loop from `attend` to `end`."""

    listener: int
    machine: str
    deeds: SyscallEvents = field(default_factory=SyscallEvents)
    _started: bool = False
    _answered: int = 0
    _waiting: asyncio.TimerHandle | None = None
    _ended: bool = False

    def attend(self) -> None:
        """Answer from now on. Nothing is noted before the server's own exec: bubblewrap is still setting the box up."""
        asyncio.get_running_loop().add_reader(self.listener, self._ready)

    def end(self) -> None:
        """Hear no more; what still runs could make none of the watched calls."""
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
            self._waiting = asyncio.get_running_loop().call_later(PAUSE, self.attend)

    def _answer(self) -> None:
        notice = syscall_notification.receive_call(self.listener)
        if notice is None:
            return
        self._answered += 1
        try:
            self._hear(notice)
        finally:
            syscall_notification.continue_call(self.listener, notice)

    def _hear(self, notice: HeldCall) -> None:
        name = next(
            (each.name for each in syscall_notification.MONITORED_CALLS if each.number(self.machine) == notice.call), ""
        )
        if not self._started:
            self._started = name == "execve"
            return
        if self._answered > FREE_CALLS:
            self.deeds.cut = True
            return
        try:
            handle = os.open(f"/proc/{notice.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            self.deeds.cut = True
            return
        except OSError:
            return
        try:
            if syscall_notification.is_call_held(self.listener, notice):
                self.deeds.note(name, notice.arguments, HeldProcess(notice.pid, handle))
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class HeldProcess:
    """The process whose call is held: its memory, opened while it surely was that process."""

    pid: int
    handle: int

    def memory(self, address: int, size: int) -> bytes:
        """At most `size` bytes at `address`; raises OSError when there are none, ValueError for no address."""
        try:
            return os.pread(self.handle, size, address)
        except OverflowError as error:
            raise ValueError("no file has that offset") from error

    def link(self, name: str) -> str:
        """What `cwd` or `fd/3` of it is; raises OSError when it is gone."""
        return str(Path(f"/proc/{self.pid}/{name}").readlink())


@dataclass(frozen=True, slots=True)
class BoxObservation:
    """Everything that is observed of one box; `watch` None: the kernel, or our rights, refuse to hold calls for us."""

    watch: SyscallMonitor | None
    decoys: Decoys | None

    def tell(self) -> Behaviour | Absent:
        """What it did, once it is dead; nothing is observed any more."""
        touched, lost = self.decoys.touched() if self.decoys else (None, False)
        self.end()
        if self.watch is None:
            return Absent(Reason.SANDBOX_RESTRICTED, "the kernel does not let us watch the system calls of a process")
        self.watch.deeds.cut = self.watch.deeds.cut or lost
        return self.watch.deeds.told(touched)

    def end(self) -> None:
        """Observe no more."""
        if self.watch is not None:
            self.watch.end()
        if self.decoys is not None:
            self.decoys.close()
