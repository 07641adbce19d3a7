"""Exports a run with several processes: each encodes its share of the batches, and one joins them in order.

The batches do not depend on the number of processes. Processes are started anew: workers are daemonic
and may not fork, and their connections cannot be shared.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any, Final, Self

from msgspec import Struct
from msgspec.structs import asdict

from evidence.garbage import collect_garbage_rarely
from evidence.store import Store, open_store
from publish.formats.run_files import FileForm
from publish.publication import run_export
from publish.publication.run_export import ExportedBatch, WorkerShare

SERVERS_PER_WORKER: Final = 2_000
"""Servers for each process: its start costs as much as about five hundred servers."""

_ENDING: Final = 10.0  # seconds in which a process that has written everything ends


class ExportWorkerFailed(RuntimeError):
    """An export process ended early, which is a failure of Hallmark. The run can be published again."""


class RunExporter(Struct, frozen=True):
    """Exports with up to `processes` processes, which read the store at a URL; with one, in this process."""

    url: str
    processes: int = 1

    def export(self, store: Store, run_id: str, forms: Sequence[FileForm]) -> Iterator[ExportedBatch]:
        """The batches of a run, equal to those of `export_batches`; raise ExportWorkerFailed if a process fails."""
        processes = min(self.processes, len(store.list_planned_servers(run_id)) // SERVERS_PER_WORKER)
        if processes <= 1:
            return run_export.export_batches(store, run_id, forms)
        order = {"url": self.url, "run": run_id, "forms": [asdict(form) for form in forms]}
        shares = (WorkerShare(number, processes) for number in range(processes))
        return read_worker_pages(
            "publish.publication.export_workers", [{**order, "share": asdict(share)} for share in shares]
        )


def read_worker_pages(module: str, orders: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """The batches of a module's processes, one process for each order, in turn; raise ExportWorkerFailed."""
    with ExitStack() as stack:
        started = [stack.enter_context(_ExportProcess(module, order)) for order in orders]
        at = 0
        while (page := started[at % len(started)].page()) is not None:
            yield page
            at += 1


def write_pages(pages: Iterable[object], out: IO[bytes]) -> None:
    """Write batches and an end mark, for `read_worker_pages`."""
    for page in pages:
        pickle.dump(page, out)
    pickle.dump(None, out)
    out.flush()


class _ExportProcess:
    """One export process. It blocks while its pipe is full, so memory is bounded."""

    def __init__(self, module: str, order: Mapping[str, Any]) -> None:
        # Without the working directory in its path, which may belong to another user. The URL may hold a password.
        self._process = subprocess.Popen(  # noqa: S603  a module of ours
            [sys.executable, "-P", "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._out = self._process.stdout
        with self._process.stdin as stdin:
            stdin.write(json.dumps(order).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._out.close()
        self._process.wait()

    def page(self) -> Any:
        """The next batch; None after the last one."""
        try:
            return pickle.load(self._out)  # noqa: S301  written by a process of ours
        except (EOFError, pickle.UnpicklingError) as error:
            code = self._process.wait(_ENDING)
            raise ExportWorkerFailed(f"an export process ended with {code} in the middle of a run") from error


def serve_worker(order: IO[bytes], out: IO[bytes]) -> None:
    """The work of an export process: read one order, write its batches and an end mark."""
    options = json.loads(order.read())
    store = open_store(options["url"])
    try:
        forms = [FileForm(**form) for form in options["forms"]]
        share = WorkerShare(**options["share"])
        write_pages(run_export.export_batches(store, options["run"], forms, share=share), out)
    finally:
        store.close()


if __name__ == "__main__":
    collect_garbage_rarely()
    serve_worker(sys.stdin.buffer, sys.stdout.buffer)
