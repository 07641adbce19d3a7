"""Prints a run by several processes at once: each prints its share of the batches, one joins them in their order.

The pages are the same however many processes there are. A process is one of ours, started anew: workers are daemonic
and may not fork, and their connections cannot be shared.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import IO, Any, Final, Self

from evidence.store import Store, open_store
from publish.formats.run_files import FileForm
from publish.publication import listing_writer, run_export
from publish.publication.run_export import WHOLE_RUN, ExportedBatch, WorkerShare

SERVERS_PER_WORKER: Final = 2_000
"""Servers that a process more is worth: its start takes the time of some five hundred."""

_ENDING: Final = 10.0  # seconds in which a process that has written everything ends


class ExportWorkerFailed(RuntimeError):
    """A process that prints ended in the middle: our own infrastructure. The run can be published again."""


@dataclass(frozen=True, slots=True)
class RunExporter:
    """Up to so many processes that read the store at a URL; one prints here, in this process.

    With `board` the pages tell what the board needs of their servers.
    """

    url: str
    processes: int = 1
    board: bool = False

    def printed(self, store: Store, run_id: str, forms: Sequence[FileForm]) -> Iterator[ExportedBatch]:
        """The pages of a run, which are those of `dataset.printed`; raise PressBroken when a process fails."""
        processes = min(self.processes, len(store.list_planned_servers(run_id)) // SERVERS_PER_WORKER)
        if processes <= 1:
            return _printed(store, run_id, forms, WHOLE_RUN, board=self.board)
        order = {"url": self.url, "board": self.board, "run": run_id, "forms": [asdict(form) for form in forms]}
        shares = (WorkerShare(number, processes) for number in range(processes))
        return read_worker_pages(
            "publish.publication.export_workers", [{**order, "share": asdict(share)} for share in shares]
        )


def read_worker_pages(module: str, orders: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """The pages that processes of a module print, one process per order, in turn; raise PressBroken."""
    with ExitStack() as stack:
        started = [stack.enter_context(_Printer(module, order)) for order in orders]
        at = 0
        while (page := started[at % len(started)].page()) is not None:
            yield page
            at += 1


def write_pages(pages: Iterable[object], out: IO[bytes]) -> None:
    """Write pages, and that they are all, for `joined` to read."""
    for page in pages:
        pickle.dump(page, out)
    pickle.dump(None, out)
    out.flush()


class _Printer:
    """One process. It prints no more than fits into its pipe before that is read, so memory is bounded."""

    def __init__(self, module: str, order: Mapping[str, Any]) -> None:
        # Without the working directory in its path, which may be a stranger's. The URL may hold a password.
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
        """The next page, None after the last one."""
        try:
            return pickle.load(self._out)  # noqa: S301  written by a process of ours
        except (EOFError, pickle.UnpicklingError) as error:
            code = self._process.wait(_ENDING)
            raise ExportWorkerFailed(f"a process that prints ended with {code} in the middle of a run") from error


def serve_worker(order: IO[bytes], out: IO[bytes]) -> None:
    """What a process does: read one order, write its pages and that they are all."""
    asked = json.loads(order.read())
    store = open_store(asked["url"])
    try:
        forms = [FileForm(**form) for form in asked["forms"]]
        write_pages(
            _printed(store, asked["run"], forms, WorkerShare(**asked["share"]), board=asked.get("board", False)), out
        )
    finally:
        store.close()


def _printed(
    store: Store, run_id: str, forms: Sequence[FileForm], share: WorkerShare, *, board: bool
) -> Iterator[ExportedBatch]:
    if not board:
        return run_export.export_batches(store, run_id, forms, share=share)
    tell = partial(listing_writer.summarize_batch, run=run_id, controlled=listing_writer.list_controlled_servers(store))
    return run_export.export_batches(store, run_id, forms, share=share, tell=tell)


if __name__ == "__main__":
    serve_worker(sys.stdin.buffer, sys.stdout.buffer)
