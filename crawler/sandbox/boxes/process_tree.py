"""A started process tree: limits on its output and memory, and a stop that no process survives."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct

from crawler.launcher import ProcessExit
from crawler.sandbox.boxes.listening_ports import list_listening_ports
from crawler.sandbox.kernel.limits import MIB, Limits
from crawler.sandbox.kernel.resource_usage import find_exceeded_limit
from evidence.canonical import Json
from evidence.kinds.behaviour import Behaviour
from evidence.model import Absent, Reason

STDERR_TAIL = 8192
CHUNK = 65536
POLL = 0.05
GRACE = 1.0
CROWD = 16  # threads; Node has eleven
_MEMORY_LINES = re.compile(rb"^(?:RssAnon|VmPTE):\s*(\d+) kB$", re.MULTILINE)


class InitProcess(Struct, frozen=True):
    """The first process of a box's pid namespace: its pid on the host, and a pidfd, which is readable after its death.

    The kernel kills all other processes of the namespace before this one dies.
    """

    pid: int
    handle: int


class ContainedProcess:
    """A running process tree; `init` is None without a sandbox."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        init: InitProcess | None,
        limits: Limits,
        facts: Mapping[str, Json],
        *,
        runtime: str,
    ) -> None:
        self._process = process
        self._init = init
        self._limits = limits
        self._facts = facts
        self._runtime = runtime
        self._gone = False
        self._sockets: list[socket.socket] = []
        self._after_stop: list[Callable[[], Awaitable[None]]] = []
        self._finish_observation: Callable[[], Behaviour | Absent] | None = None
        self._starved: Callable[[], bool] | None = None
        self._behaviour: Behaviour | Absent = Absent(Reason.SANDBOX_RESTRICTED, f"nothing is observed in {runtime}")
        self._seen = 0
        self._ended = False
        self._stopped_for: str | None = None
        self._tail = bytearray()
        self._end: asyncio.Task[ProcessExit] | None = None
        loop = asyncio.get_running_loop()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        self._deadline = loop.call_later(limits.seconds, self.kill, f"time limit of {limits.seconds:g} seconds")
        self._tasks = [loop.create_task(self._drain_errors())]
        if init is not None:
            self._tasks.append(loop.create_task(self._watch(init.pid)))

    @property
    def runtime(self) -> str:
        """The name of the runtime; `none` without a sandbox."""
        return self._runtime

    @property
    def facts(self) -> Mapping[str, Json]:
        """Facts about the started command that are equal on every start."""
        return self._facts

    @property
    def behaviour(self) -> Behaviour | Absent:
        """What the processes tried to reach outside of the box; set by `stop`."""
        return self._behaviour

    @property
    def stop_reason(self) -> str | None:
        """The exceeded limit for which it was killed, or None."""
        return self._stopped_for

    def set_observer(self, finish_observation: Callable[[], Behaviour | Absent]) -> None:
        """Set the source of `behaviour`, which is called once, after all processes have ended."""
        self._finish_observation = finish_observation

    def set_memory_check(self, starved: Callable[[], bool]) -> None:
        """Set the check whether the kernel killed one of the processes because of the memory limit."""
        self._starved = starved

    def keep_sockets(self, sockets: list[socket.socket]) -> None:
        """Keep unconnected sockets of the box's network namespace, for `connect`."""
        self._sockets = sockets

    def after_stop(self, step: Callable[[], Awaitable[None]]) -> None:
        """Add a step that runs after all processes have ended, such as releasing the user id; in order."""
        self._after_stop.append(step)

    async def read(self, limit: int) -> bytes:
        """At most `limit` bytes of stdout; empty at its end or after a limit was exceeded."""
        stream = self._process.stdout
        if stream is None or stream.closed or self._ended:
            return b""
        data = await read_available(stream.fileno(), min(limit, 1 << 20))
        self._seen += len(data)
        if self._seen > self._limits.output:
            self.kill(f"output limit of {self._limits.output // MIB} MiB")
            data = b""
        self._ended = not data
        return data

    async def write(self, data: bytes) -> None:
        """Write to stdin; raises BrokenPipeError if it is closed."""
        stream = self._process.stdin
        if stream is None or stream.closed:
            raise BrokenPipeError("the server's stdin is closed")
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(stream.fileno(), view) :]
            except BlockingIOError:
                await _ready(stream.fileno(), writing=True)
            except BrokenPipeError:
                self._gone = True
                raise

    def list_ports(self) -> tuple[int, ...]:
        """The TCP ports on which its processes listen now."""
        return list_listening_ports(self._init.pid) if self._init and self._process.poll() is None else ()

    async def connect(self, port: int) -> socket.socket:
        """A connection to a port inside the box; raises OSError, also if no socket is left."""
        if not self._sockets:
            raise OSError(errno.ENETUNREACH, "there is no further socket inside the box")
        inner = self._sockets.pop()
        inner.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(inner, ("127.0.0.1", port))
        except BaseException:
            inner.close()
            raise
        return inner

    async def close_stdin(self) -> None:
        """Close stdin, upon which a well-behaved server exits."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def wait(self) -> int:
        """Wait for its end and return the exit code (negative: signal)."""
        await _exited(self._process)
        code = self._process.wait()
        return 128 - code if code > 128 else code

    def kill(self, why: str | None = None) -> None:
        """Kill all processes now. `why` names the exceeded limit, if any."""
        if self._process.poll() is None:
            self._stopped_for = self._stopped_for or why
            _kill(self._process, self._init)

    async def stop(self) -> ProcessExit:
        """Kill all processes and release everything; safe to call twice."""
        if self._end is None:
            self._end = asyncio.get_running_loop().create_task(self._stop())
        return await asyncio.shield(self._end)  # the caller may be cancelled; the stop continues

    async def _stop(self) -> ProcessExit:
        self._deadline.cancel()
        if (self._ended or self._gone) and self._stopped_for is None:  # it is ending: wait for its exit code
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_exited(self._process), GRACE)
        alive = self._process.poll() is None
        ports = self.list_ports()
        _kill(self._process, self._init)
        while self._sockets:
            self._sockets.pop().close()
        if not alive and self._stopped_for is None and await self._has_starved():
            self._stopped_for = f"memory limit of {self._limits.memory // MIB} MiB"
        code = None if alive or self._stopped_for else await self.wait()
        await self._all_dead()
        if self._finish_observation is not None:
            self._behaviour = self._finish_observation()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._tasks[0]), GRACE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        while self._after_stop:
            await self._after_stop.pop(0)()
        return ProcessExit(code, self._stderr_tail(), self._stopped_for or "", ports)

    async def _has_starved(self) -> bool:
        return self._starved is not None and self._starved()

    async def _all_dead(self) -> None:
        if self._init is not None:
            await _ready(self._init.handle)
            try:  # bubblewrap reports the end of its only child and exits
                await asyncio.wait_for(_exited(self._process), GRACE)
            except TimeoutError:
                self._process.kill()
        await _exited(self._process)
        self._process.wait()
        if self._init is not None:
            with contextlib.suppress(ChildProcessError):  # our child only if we are process 1 or a subreaper
                os.waitid(os.P_PIDFD, self._init.handle, os.WEXITED | os.WNOHANG)  # noqa: ASYNC222 (it does not wait)
            os.close(self._init.handle)

    def _stderr_tail(self) -> str:
        tail = bytes(self._tail)
        whole = (
            tail[tail.find(b"\n") + 1 :] if len(tail) == STDERR_TAIL else tail
        )  # a cut line may contain a part of a secret
        text = whole.decode("utf-8", "replace")
        return f"{text.rstrip()}\nsandbox: stopped at the {self._stopped_for}".lstrip() if self._stopped_for else text

    async def _drain_errors(self) -> None:
        stream, total = self._process.stderr, 0
        while stream is not None and (data := await read_available(stream.fileno(), CHUNK)):
            total += len(data)
            self._tail += data
            del self._tail[:-STDERR_TAIL]
            if total > self._limits.errors:
                self.kill(f"stderr limit of {self._limits.errors // MIB} MiB")

    async def _watch(self, init: int) -> None:
        """Check the limits that resource limits do not cover, such as the memory of all processes together."""
        while self._process.poll() is None:
            pids = list_descendants(init)
            if sum(map(measure_private_memory, pids)) > self._limits.memory:
                self.kill(f"memory limit of {self._limits.memory // MIB} MiB")
            if exceeded := find_exceeded_limit(init, self._limits):
                self.kill(exceeded)
            if len(tasks := list_tasks(pids)) > CROWD:
                lower_priority(tasks)
            await asyncio.sleep(POLL)


def list_descendants(init: int) -> list[int]:
    """The pids of `init` and all its descendants. No process can leave this tree within a pid namespace."""
    found, queue = [], [init]
    while queue:
        pid = queue.pop()
        found.append(pid)
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                queue += map(int, _read_proc_file(f"/proc/{pid}/task/{thread}/children").split())
        except (OSError, ValueError):
            continue
    return found


def list_tasks(pids: Sequence[int]) -> list[int]:
    """The ids of all threads of these processes."""
    found: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            found += map(int, os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208
    return found


def lower_priority(tasks: Sequence[int]) -> None:
    """Give many tasks together the share of the processors that two have; none can raise its priority again."""
    for task in tasks:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, task, 19)


def measure_private_memory(pid: int) -> int:
    """Bytes of a process's anonymous memory and page tables; 0 if it does not exist.

    Page tables count, since they also use memory for pages that were only read and are not resident.
    """
    try:
        # Match whole lines: a process may be named `RssAnon: 0`, but its name contains no line end.
        return sum(int(found) << 10 for found in _MEMORY_LINES.findall(_read_proc_file(f"/proc/{pid}/status")))
    except OSError:
        return 0


def _read_proc_file(path: str) -> bytes:
    """Read a file of /proc with little overhead: this runs twenty times a second for every thread."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(handle, CHUNK)
    finally:
        os.close(handle)


def _kill(process: subprocess.Popen[bytes], init: InitProcess | None) -> None:
    # Do not kill the parent of the first process: killed before it has reaped its child, it would leave a zombie to pid
    # 1. Where pid 1 does not reap, zombies count against the process limit of the box's user id.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if init is not None:
            signal.pidfd_send_signal(init.handle, signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def _exited(process: subprocess.Popen[bytes]) -> None:
    if not hasattr(os, "pidfd_open"):  # macOS, where commands run without a sandbox
        while process.poll() is None:  # noqa: ASYNC110 (there is no event to wait for)
            await asyncio.sleep(POLL)
    if process.poll() is not None:
        return
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        await _ready(handle)
    finally:
        os.close(handle)


async def read_available(handle: int, limit: int) -> bytes:
    """Wait for data of a non-blocking descriptor and return at most `limit` bytes; empty at its end."""
    while True:
        try:
            return os.read(handle, limit)
        except BlockingIOError:
            await _ready(handle)
        except OSError:
            return b""


def _resolve(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


async def _ready(handle: int, *, writing: bool = False) -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    add, remove = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    add(handle, _resolve, done)
    try:
        await done
    finally:
        remove(handle)
