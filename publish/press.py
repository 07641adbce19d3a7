"""Prints a run by several processes at once: each prints its share of the batches, one joins them in their order.

The pages are the same however many processes there are. A process is one of ours, started anew: workers are daemonic
and may not fork, and their connections cannot be shared.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import IO, Final, Self

from evidence.store import Store, open_store
from publish import dataset, posting
from publish.dataset import WHOLE, Page, Share
from publish.forms import Form

WORTH: Final = 2_000
"""Servers that a process more is worth: its start takes the time of some five hundred."""

_SIZE: Final = struct.Struct("!q")
_END: Final = -1
_ENDING: Final = 10.0  # seconds in which a process that has written everything ends


class PressBroken(RuntimeError):
    """A process that prints ended in the middle: our own infrastructure. The run can be published again."""


@dataclass(frozen=True, slots=True)
class Press:
    """Up to so many processes that read the store at a URL; one prints here, in this process.

    With `board` the pages tell what the board needs of their servers.
    """

    url: str
    processes: int = 1
    board: bool = False

    def printed(self, store: Store, run_id: str, forms: Sequence[Form]) -> Iterator[Page]:
        """The pages of a run, which are those of `dataset.printed`; raise PressBroken when a process fails."""
        processes = min(self.processes, len(store.planned(run_id)) // WORTH)
        if processes > 1:
            return self._joined(run_id, forms, processes)
        return _printed(store, run_id, forms, WHOLE, board=self.board)

    def _joined(self, run_id: str, forms: Sequence[Form], processes: int) -> Iterator[Page]:
        with ExitStack() as stack:
            started = [
                stack.enter_context(_Printer(self, run_id, forms, Share(number, processes)))
                for number in range(processes)
            ]
            at = 0
            while (page := started[at % processes].page()) is not None:
                yield page
                at += 1


class _Printer:
    """One process. It prints no more than fits into its pipe before that is read, so memory is bounded."""

    def __init__(self, press: Press, run_id: str, forms: Sequence[Form], share: Share) -> None:
        self._forms = len(forms)
        # Without the working directory in its path, which may be a stranger's. The URL may hold a password.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "publish.press"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._out = self._process.stdout
        what = {"run": run_id, "forms": [asdict(form) for form in forms], "share": asdict(share)}
        order = {"url": press.url, "board": press.board, **what}
        with self._process.stdin as stdin:
            stdin.write(json.dumps(order).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._out.close()
        self._process.wait()

    def page(self) -> Page | None:
        """The next page, None after the last one."""
        servers = self._size()
        if servers == _END:
            return None
        parts = [self._read(self._size()) for _ in range(self._forms)]
        return Page(servers, parts, told=self._read(self._size()))

    def _size(self) -> int:
        return int(_SIZE.unpack(self._read(_SIZE.size))[0])

    def _read(self, size: int) -> bytes:
        data = self._out.read(size)
        if len(data) < size:
            raise PressBroken(f"a process that prints ended with {self._process.wait(_ENDING)} in the middle of a run")
        return data


def serve(order: IO[bytes], out: IO[bytes]) -> None:
    """What a process does: read one order, write its pages and that they are all."""
    asked = json.loads(order.read())
    store = open_store(asked["url"])
    try:
        forms = [Form(**form) for form in asked["forms"]]
        for page in _printed(store, asked["run"], forms, Share(**asked["share"]), board=asked.get("board", False)):
            out.write(_SIZE.pack(page.servers))
            for part in (*page.parts, page.told):
                out.write(_SIZE.pack(len(part)))
                out.write(part)
        out.write(_SIZE.pack(_END))
        out.flush()
    finally:
        store.close()


def _printed(store: Store, run_id: str, forms: Sequence[Form], share: Share, *, board: bool) -> Iterator[Page]:
    if not board:
        return dataset.printed(store, run_id, forms, share=share)
    tell = partial(posting.tell, run=run_id, controlled=posting.controlled_servers(store))
    return dataset.printed(store, run_id, forms, share=share, tell=tell)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
