"""A run printed as blocks of every table, batch by batch, by this process or by several at once."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import IO, Any, Final, Self

from evidence.model import Absent, ServerId
from evidence.store import RunRow, Store, UnknownRun, open_store
from publish.dataset import BATCH, Published, published
from publish.datasets.files import Block, block_of
from publish.datasets.methodology import is_ours
from publish.datasets.sheets import sheet_of
from publish.datasets.tables import SERVERS, TABLES
from publish.press import WORTH, PressBroken
from scoring.assess import assess

_ENDING: Final = 10.0  # seconds in which a process that has written everything ends


@dataclass(slots=True)
class Source:
    """What was seen of one kind of evidence: how many records, and between which moments."""

    observed: int = 0
    absent: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, other: Source) -> None:
        """Count what another batch saw too."""
        self.observed += other.observed
        self.absent += other.absent
        self.first = min((at for at in (self.first, other.first) if at), default=None)
        self.last = max((at for at in (self.last, other.last) if at), default=None)


@dataclass(slots=True)
class Seen:
    """What a snapshot says of where it comes from."""

    kinds: dict[str, Source] = field(default_factory=dict)
    registries: Counter[str] = field(default_factory=Counter)

    def add(self, other: Seen) -> None:
        """Count what another batch saw too."""
        for kind, source in other.kinds.items():
            self.kinds.setdefault(kind, Source()).add(source)
        self.registries += other.registries


@dataclass(frozen=True, slots=True)
class Page:
    """A batch of servers: their rows of every table, and what was seen of them."""

    blocks: Mapping[str, Block]
    seen: Seen

    @property
    def servers(self) -> int:
        """How many servers it holds."""
        return self.blocks[SERVERS.name].rows


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints by up to so many processes, which read the store at a URL; by one, in this process."""

    url: str = ""
    processes: int = 1

    def pages(
        self, store: Store, run_id: str, *, comparable: bool, hidden: Collection[ServerId] = ()
    ) -> Iterator[Page]:
        """The pages of a run, which are the same however many processes print them; raise UnknownRun.

        `hidden` servers are left out. Raise PressBroken when a process fails.
        """
        row = store.run(run_id)
        if row is None:
            raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
        batches = _batches(store.planned(run_id), hidden)
        processes = min(self.processes, len(batches) * BATCH // WORTH) if self.url else 1
        if processes <= 1:
            return _pages(store, row, batches, comparable=comparable)
        return self._joined(run_id, processes, comparable=comparable, hidden=hidden)

    def _joined(self, run_id: str, processes: int, *, comparable: bool, hidden: Collection[ServerId]) -> Iterator[Page]:
        with ExitStack() as stack:
            order = {
                "url": self.url,
                "run": run_id,
                "comparable": comparable,
                "hidden": sorted(hidden),
                "of": processes,
            }
            orders = [{**order, "number": number} for number in range(processes)]
            started = [stack.enter_context(_Process(order)) for order in orders]
            at = 0
            while (page := started[at % processes].page()) is not None:
                yield page
                at += 1


class _Process:
    """One process. It prints no more than fits into its pipe before that is read, so memory is bounded."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        # Without the working directory in its path, which may be a stranger's. The URL may hold a password.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "publish.datasets"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
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

    def page(self) -> Page | None:
        """The next page, None after the last one."""
        try:
            page: Page | None = pickle.load(self._out)  # noqa: S301  written by a process of ours
        except (EOFError, pickle.UnpicklingError) as error:
            code = self._process.wait(_ENDING)
            raise PressBroken(f"a process that prints ended with {code} in the middle of a run") from error
        return page


def _pages(store: Store, row: RunRow, batches: Iterable[Sequence[ServerId]], *, comparable: bool) -> Iterator[Page]:
    judged = is_ours(row.run.pins)
    for batch in batches:
        yield _page(published(store, row.run.id, until=row.published_at, servers=batch), judged, comparable=comparable)


def _page(servers: Iterable[Published], judged: bool, *, comparable: bool) -> Page:
    rows: dict[str, list[Any]] = {table.name: [] for table in TABLES}
    seen = Seen()
    for server in servers:
        _look(server, seen)
        for name, found in sheet_of(server, assess(server.dossier) if judged else None).items():
            rows[name] += found
    return Page({table.name: block_of(table, rows[table.name], comparable=comparable) for table in TABLES}, seen)


def _look(server: Published, seen: Seen) -> None:
    seen.registries.update(server.dossier.server.seen_in)
    for kind, record in server.dossier.records.items():
        absent = isinstance(record.content, Absent)
        one = Source(not absent, absent, record.observed_at, record.observed_at)
        seen.kinds.setdefault(kind, Source()).add(one)


def _batches(servers: Sequence[ServerId], hidden: Collection[ServerId]) -> list[Sequence[ServerId]]:
    ordered = sorted(set(servers) - set(hidden))
    return [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]


def serve(order: IO[bytes], out: IO[bytes]) -> None:
    """What a process does: read one order, write its pages and that they are all."""
    asked = json.loads(order.read())
    store = open_store(asked["url"])
    try:
        row = store.run(asked["run"])
        if row is None:
            raise UnknownRun(f"no run {asked['run']}")
        batches = islice(_batches(store.planned(row.run.id), asked["hidden"]), asked["number"], None, asked["of"])
        for page in _pages(store, row, batches, comparable=asked["comparable"]):
            pickle.dump(page, out)
        pickle.dump(None, out)
        out.flush()
    finally:
        store.close()
