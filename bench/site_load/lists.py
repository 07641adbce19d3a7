"""What it takes to have lists in memory, and to find a page there: `python -m bench.site_load.lists` < order.

The order is JSON: the URL of the database, and words to search for. A process of its own, since memory that another
work has left behind would hide what lists take.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from evidence.store import BoardQuery, Store, open_store

_EVERY: Final = 10**9
_PAGE: Final = 4096


def main() -> None:
    order = json.loads(sys.stdin.buffer.read())
    store = open_store(order["url"])
    try:
        print(json.dumps(load_lists(store, order["words"])))
    finally:
        store.close()


def load_lists(store: Store, words: Iterable[str]) -> dict[str, Any]:
    """Read the lists of a store into the memory of this process, and search them for each word.

    Figures: CPU seconds of the load, bytes of resident memory a server, milliseconds to find a page of 50.
    """
    board = store.board
    board.hold(_EVERY, _EVERY, time.monotonic)
    board.revision()
    gc.collect()
    memory, began = _resident(), time.process_time()
    if not board.load():
        raise RuntimeError("no edition is shown, so no lists were read")
    seconds = time.process_time() - began
    gc.collect()
    memory = _resident() - memory
    found, total = [], 0
    for word in words:
        began = time.perf_counter()
        page = board.page(BoardQuery(text=word), limit=50)
        found.append(1000 * (time.perf_counter() - began))
        total += page.total or 0
    servers = board.page(BoardQuery(), limit=1).total or 0
    return {
        "servers": servers,
        "CPU seconds": round(seconds, 2),
        "bytes a server": round(memory / servers),
        "searches": len(found),
        "found a search": round(total / len(found)),
        "ms a search, median": round(median(found), 3),
        "ms a search, p95": round(quantiles(found, n=20)[-1], 3),
    }


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


if __name__ == "__main__":
    main()
