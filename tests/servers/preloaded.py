"""Processes of the product that start without the two seconds of imports.

A helper process imports the product once for each test process, and forks for every start. What it starts is a child of
the test process with its own arguments, environment, folder and streams: it can be waited for, signalled and killed
like any other. It differs from a fresh interpreter in the modules that are loaded already, in `/proc/PID/cmdline`, and
in that it frees no objects at its end: a test about imports, memory or the command line uses `subprocess`. Elsewhere
than on Linux, and with a variable that only a new interpreter reads, every start is a fresh one.

A second, small helper has loaded servers and clients of MCP only. With `use_for_conversations` and `use_for_exports`
the product starts its own processes so. Processes of `without` come from a helper in which modules cannot be imported.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
HALLMARK: Final = Path(sys.executable).with_name("hallmark")

_PYTHON: Final = sys.executable
_PRODUCT: Final = "product"
_PACKAGES: Final = ("workers.cli", "workers.stages", "workers.nightly", "workers.wiring", "publish.site")
_MODULES: Final = (
    "workers.tasks",
    "publish.app",
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.apps.beat",
    "alembic.command",
    "alembic.context",
)
_CONVERSATIONS: Final = "conversations"
_WITHOUT: Final = "without:"
_SMALL: Final = (
    "crawler.collectors.interop.client",
    "crawler.collectors.source.reader_process",
    "tests.servers.control.serving",
    "tests.servers.hostile_stdio",
    "tests.servers.scripted_stdio",
    "tests.servers.sdk_server",
)
_ISOLATING: Final = ("-I", "-P")
_PR_SET_CHILD_SUBREAPER: Final = 36
_LENGTH: Final = 8
_MOST_HANDLES: Final = 16
_ABOVE_ALL: Final = 1000  # no descriptor that is passed on has such a number
_KNOWN_VARIABLES: Final = frozenset({"PYTHON", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"})


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen` of `[sys.executable, "-m" or "-c", ...]` or `[HALLMARK, ...]`; raise ValueError for others."""

    _modules = _PRODUCT

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, *more: Any) -> None:
        variables = more[3] if more[3] is not None else os.environ
        odd = {name for name in variables if name.startswith(("PYTHON", "LD_"))} - _KNOWN_VARIABLES
        if sys.platform != "linux" or odd:
            super()._execute_child(args, executable, preexec_fn, *more)  # type: ignore[misc]
            return
        _, inherited, cwd, _, _, _, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *others = more
        _, gid, gids, uid, umask, session, group = others
        words = _known(args)
        if words is None or shell or preexec_fn is not None:
            raise ValueError(f"expected a module, code or the hallmark command, found {args[:3]}")
        if (gid, gids, uid) != (None, None, None) or umask >= 0:
            raise ValueError("user, group and umask need a fresh interpreter: use subprocess")
        handles = sorted(inherited)
        request = {
            "words": words,
            "handles": handles,
            "env": dict(variables),
            "cwd": os.fspath(cwd or Path.cwd()),
            "session": bool(session),
            "group": -1 if group is None else group,
        }
        streams = [own if given == -1 else given for own, given in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _helper(self._modules).start(request, [*streams, *handles])
        self._child_created = True
        self._close_pipe_fds(  # type: ignore[attr-defined]
            p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite
        )


class _SmallPopen(Popen):
    """A process of the small helper."""

    _modules = _CONVERSATIONS


@cache
def without(*modules: str) -> type[Popen]:
    """A `Popen` of processes that find none of these packages, nor did what is loaded already when it was loaded."""
    return type("_PopenWithout", (Popen,), {"_modules": f"{_WITHOUT}{','.join(modules)}"})


def _start(command: Sequence[Any], **options: Any) -> subprocess.Popen[Any]:
    return (subprocess.Popen if _known(command) is None else _SmallPopen)(command, **options)


INSTEAD_OF_SUBPROCESS: Final = SimpleNamespace(**{**vars(subprocess), "Popen": _start})


def use_for_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the servers and clients of MCP and the readers of archives without the seconds of their imports."""
    _helper(_CONVERSATIONS)  # before a test counts the processes that it has started
    monkeypatch.setattr("asyncio.unix_events.subprocess", INSTEAD_OF_SUBPROCESS)
    monkeypatch.setattr("uvloop.new_event_loop", asyncio.new_event_loop)  # uvloop starts processes without Python
    monkeypatch.setattr("crawler.collectors.source.reader_pool.subprocess", INSTEAD_OF_SUBPROCESS)


def use_for_exports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the processes that write datasets without the seconds of their imports."""
    monkeypatch.setattr(
        "publish.publication.export_workers.subprocess", SimpleNamespace(Popen=Popen, PIPE=subprocess.PIPE)
    )


def _known(command: Sequence[Any]) -> list[str] | None:
    """What a helper can run, without options for the interpreter; None for other commands."""
    words = [os.fspath(word) for word in command]
    if words[0] == str(HALLMARK):
        return words
    if words[0] != _PYTHON:
        return None
    words = [word for number, word in enumerate(words) if number > 1 or word not in (_PYTHON, *_ISOLATING)]
    return words if words[0] in ("-m", "-c") else None


def run(
    command: Sequence[str | Path],
    *,
    timeout: float | None = None,
    capture_output: bool = False,
    popen: type[Popen] = Popen,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run(..., check=False)` of such a command."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with popen(command, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class _Helper:
    """The test process's end of the helper."""

    def __init__(self, modules: str) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["MALLOC_ARENA_MAX"] = "1"  # what limits the memory of its processes rests on it
        command = [sys.executable, "-m", "tests.servers.preloaded", str(theirs.fileno()), modules]
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()

    def start(self, request: dict[str, Any], streams: list[int]) -> int:
        """The process id of a new child of this process."""
        body = json.dumps(request).encode()
        with self._lock:
            _adopt_orphans(True)
            try:
                socket.send_fds(self._socket, [len(body).to_bytes(_LENGTH)], streams)
                self._socket.sendall(body)
                return int.from_bytes(_receive(self._socket, _LENGTH))
            finally:
                _adopt_orphans(False)


@cache
def _helper(modules: str) -> _Helper:
    return _Helper(modules)


def _adopt_orphans(adopt: bool) -> None:
    """Whether a process whose parent ends becomes a child of this one."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _receive(peer: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length:
        part = peer.recv(length - len(received))
        if not part:
            raise EOFError("the helper that starts processes has ended")
        received += part
    return received


def _serve(peer: socket.socket) -> dict[str, Any]:
    """Fork for each request until the test process ends; return in each new process, with what it has to run."""
    while True:
        head, streams, _, _ = socket.recv_fds(peer, _LENGTH, _MOST_HANDLES)
        if not head:
            sys.exit()
        head += _receive(peer, _LENGTH - len(head))
        body = _receive(peer, int.from_bytes(head))
        ours, theirs = os.pipe()
        between = os.fork()
        if between == 0:  # its end makes its child one of the test process
            if os.fork() != 0:
                os._exit(0)
            peer.close()
            os.close(ours)
            request: dict[str, Any] = json.loads(body)
            answer = _moved(theirs)
            try:
                _become(request, streams)
            finally:  # not before: the test may signal the group of the process at once
                os.write(answer, os.getpid().to_bytes(_LENGTH))
                os.close(answer)
            return request
        os.close(theirs)
        for stream in streams:
            os.close(stream)
        os.waitpid(between, 0)
        peer.sendall(os.read(ours, _LENGTH))
        os.close(ours)


def _moved(descriptor: int) -> int:
    """The same file under a number that no file gets which is passed on."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE_ALL)
    os.close(descriptor)
    return moved


def _become(request: dict[str, Any], streams: list[int]) -> None:
    if request["session"]:
        os.setsid()
    elif request["group"] >= 0:
        os.setpgid(0, request["group"])
    targets = [0, 1, 2, *request["handles"]]
    for number, stream in zip(targets, list(map(_moved, streams)), strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [request["cwd"], *paths, *sys.path[1:]]
    sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w", errors="backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _text(number: int, mode: str, errors: str = "strict") -> io.TextIOWrapper:
    at_once = mode == "w" and bool(os.environ.get("PYTHONUNBUFFERED"))
    stream: IO[bytes] = open(number, f"{mode}b", buffering=0 if at_once else -1, closefd=False)  # noqa: SIM115
    lines = number == 2 or stream.isatty()
    return io.TextIOWrapper(stream, encoding="utf-8", errors=errors, line_buffering=lines, write_through=at_once)


def _preload(modules: str) -> None:
    absent = frozenset(modules.removeprefix(_WITHOUT).split(",")) if modules.startswith(_WITHOUT) else frozenset()
    if absent:
        importlib.import_module("tests.workers.cli.without_modules").hide_modules(absent)
    for name in _SMALL if modules == _CONVERSATIONS else _MODULES:
        _import(name, absent)
    for package in () if modules == _CONVERSATIONS else _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, prefix=f"{package}."):
            if not module.name.endswith("__main__"):
                _import(module.name, absent)
    if modules != _CONVERSATIONS:
        _load("publish.preloading", "preload_rules")()
    if modules == _PRODUCT:
        _load("tests.publish.quick_apps", "install")()
        backend = _load("tests.publish.site.plain_backend", "PlainBackend")()
        site = _load("publish.app", "create_app")(None, backend)
        for name in site.state.templates.list_templates(["j2"]):
            site.state.templates.get_template(name)
    gc.collect()
    gc.freeze()


def _load(module: str, name: str) -> Any:
    """Something of the product; only the helper that needs it imports it."""
    return getattr(importlib.import_module(module), name)


def _import(name: str, absent: frozenset[str]) -> None:
    """Import a module, unless it needs one that is absent."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in absent:
            raise


def _run(words: list[str]) -> None:
    if words[0] == "-m":
        _, module, *rest = words
        sys.argv[:] = [module, *rest]
        if not hasattr(sys.modules.get(module), "__path__"):  # runpy warns of a module that is loaded already
            sys.modules.pop(module, None)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        _, code, *rest = words
        sys.argv[:] = ["-c", *rest]
        sys.modules["__main__"] = main = ModuleType("__main__")
        exec(compile(code, "<string>", "exec"), vars(main))
    else:
        sys.argv[:] = words
        runpy.run_path(words[0], run_name="__main__")


def _leave(code: object) -> NoReturn:
    """End as an interpreter does, but free no objects: that would copy each page that is shared with the helper."""
    if not isinstance(code, int | None):
        sys.stderr.write(f"{code}\n")
        code = 1
    status = int(code or 0)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        status = status or 120  # as CPython
    os._exit(status & 0xFF)


if __name__ == "__main__":
    gc.disable()
    _preload(sys.argv[2])
    gc.enable()
    given = _serve(socket.socket(fileno=int(sys.argv[1])))["words"]
    try:
        _run(given)
    except SystemExit as end:
        _leave(end.code)
    _leave(None)
