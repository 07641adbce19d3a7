"""Worker processes with a memory limit, for untrusted input."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import forkserver
from typing import Final

import pyarrow as pa

from evidence.garbage import collect_garbage_rarely

MEMORY_LIMIT: Final = 2 * 2**30
"""Memory limit of a worker in bytes; beyond it, MemoryError is raised. A full run needs a fifth of it."""

_READING: Final = "publish.datasets.verification.verify"
_JUDGING: Final = "publish.datasets.verification.judging_modules"
"""Loaded once by the process from which the workers are forked: loading takes longer than judging a small set."""

_SAFE_PATH: Final = "PYTHONSAFEPATH"


def start_confined_workers(processes: int, *, judging: bool = False) -> Executor:
    """An executor with that many confined processes; with 0, an unconfined thread of this process.

    Processes for `judging` share rules and patterns.
    """
    if processes == 0:
        return ThreadPoolExecutor(1, thread_name_prefix="judge")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_JUDGING if judging else _READING])
    with _without_current_folder():
        forkserver.ensure_running()
    return ProcessPoolExecutor(processes, mp_context=context, initializer=_confine, initargs=(MEMORY_LIMIT,))


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Started processes load no module from the current folder, which may be the untrusted snapshot itself."""
    before = os.environ.get(_SAFE_PATH)  # noqa: TID251  the only way to tell the interpreter of the fork server
    os.environ[_SAFE_PATH] = "1"  # noqa: TID251
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]  # noqa: TID251
        else:
            os.environ[_SAFE_PATH] = before  # noqa: TID251


@contextmanager
def limit_memory(memory: int = MEMORY_LIMIT) -> Iterator[None]:
    """Limit the memory of this process as that of a worker, until the block ends."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    _limit(memory)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _limit(memory: int) -> None:
    bounds = resource.getrlimit(resource.RLIMIT_DATA)
    least = min([memory, *(bound for bound in bounds if bound != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (least, bounds[1]))


def _confine(memory: int) -> None:
    _limit(memory)
    collect_garbage_rarely()
    pa.set_memory_pool(pa.system_memory_pool())  # others reserve memory in advance, and that counts
    pa.set_cpu_count(1)
