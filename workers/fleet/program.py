"""Runs `python -m MODULE ARGUMENTS` in a process that is forked from one that has loaded the product."""

from __future__ import annotations

import errno
import gc
import multiprocessing
import os
import runpy
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final

from crawler.sandbox.kernel.libc import load_libc
from workers.observability.tracing import stop_tracing
from workers.settings.environment import replace_environment

TEMPLATE: Final = "workers.fleet.template"

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NAME: Final = 15
_LONGEST_NAME: Final = 15
_FORKS: Final = multiprocessing.get_context("forkserver")
_ROOT_WARNING: Final = "You're running the worker with superuser privileges"


class RunningProgram:
    """A process of its own session. `output` is the descriptor of what it prints, which is read without waiting."""

    def __init__(self, name: str, module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it; raise OSError when no process can be started."""
        self._reader, writer = _FORKS.Pipe(duplex=False)
        self._process: ForkServerProcess = _FORKS.Process(
            name=name, target=_run, args=(name, module, tuple(arguments), dict(environment), writer)
        )
        try:
            self._process.start()
        except EOFError as error:
            self._reader.close()
            raise _build_orphan_error() from error
        except OSError:
            self._reader.close()
            raise
        finally:
            writer.close()
        os.set_blocking(self.output, False)

    @property
    def output(self) -> int:
        return self._reader.fileno()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit code, or the number of the signal that ended it, below zero; None while it runs."""
        return self._process.exitcode

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def kill_group(self) -> None:
        """Kill it and all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        self._process.join()

    def close(self) -> None:
        """Release the output of an ended process."""
        self._reader.close()
        self._process.close()


def name_process(name: str) -> bytes:
    """What `top` shows instead of the command, which all of them share, and /proc/PID/comm holds."""
    return f"hallmark-{name}".encode()[:_LONGEST_NAME]


def load_template() -> None:
    """Load what all programs need into the process that they will be forked from; takes seconds.

    Raise OSError when it ends meanwhile; it has then said why.
    """
    _FORKS.set_forkserver_preload([TEMPLATE])
    first = _FORKS.Process(target=gc.collect)  # it is forked when everything is loaded
    try:
        first.start()
    except EOFError as error:
        raise _build_orphan_error() from error
    first.join()


def _build_orphan_error() -> OSError:
    return ChildProcessError(errno.ECHILD, "the process to fork from ended")


def _run(name: str, module: str, arguments: Sequence[str], environment: Mapping[str, str], output: Connection) -> None:
    os.setsid()  # what it starts is in its group, and can be killed with it
    _tell_kernel(name)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    output.close()
    replace_environment(environment)
    sys.argv[:] = [module, *arguments]
    # The command says once that it runs as root; Celery would warn in eight lines for each worker.
    warnings.filterwarnings("ignore", _ROOT_WARNING)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        stop_tracing()  # a forked process ends without the functions that wait for its exit


def _tell_kernel(name: str) -> None:
    """Set the name of the process, and ask for SIGTERM when the process that this one was forked from dies."""
    if sys.platform == "linux":
        load_libc().prctl(_PR_SET_NAME, name_process(name), 0, 0, 0)
        load_libc().prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
