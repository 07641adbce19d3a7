"""Makes the pages of servers ahead, by the code that makes them when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeAlias

from starlette.exceptions import HTTPException

from evidence.model import ServerId
from evidence.store import StoreError, StoreUnavailable
from publish.site.ahead import Known
from publish.site.indexed import indexed
from publish.site.pages.server import whole
from publish.site.prepared import Full, Page, PageFile
from publish.site.revisions import ask, learn
from publish.site.site import ROBOTS, Site

BATCH: Final = 8
"""Pages between two looks at whether anything has happened: a tenth of a second."""

TRIES: Final = 5
"""So often a batch is made again during which something happened; then it is left for another time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How far it has come: pages that were made now and that were there, servers left out, and bytes of the file.

    Left out are those to whom something happened and those of whom nothing is shown. `later` were not made since
    something happened all the time. `full`: there was no room for the others; `over`: something else is published.
    """

    servers: int = 0
    made: int = 0
    there: int = 0
    left_out: int = 0
    later: int = 0
    size: int = 0
    full: bool = False
    over: bool = False

    @property
    def seen(self) -> int:
        """Servers that were looked at."""
        return self.made + self.there + self.left_out + self.later

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing left to do."""
        return not (self.later or self.full or self.over)

    def __add__(self, other: Made) -> Made:
        """Both parts of the same pages."""
        return Made(
            servers=self.servers + other.servers,
            made=self.made + other.made,
            there=self.there + other.there,
            left_out=self.left_out + other.left_out,
            later=self.later + other.later,
            size=max(self.size, other.size),
            full=self.full or other.full,
            over=self.over or other.over,
        )


Rest: TypeAlias = Callable[[], None]
Told: TypeAlias = Callable[[Made], None]


@dataclass(frozen=True, slots=True)
class Part:
    """One of so many parts of all servers, counted from 0."""

    number: int = 0
    of: int = 1


def prepare(
    site: Site, known: Known, rest: Rest = lambda: None, told: Told = lambda _: None, part: Part | None = None
) -> Made:
    """Make the page of every server that has none, those past the quality gate first; `rest` is called between them.

    With a part only of these servers, while other processes make the others. Raise one of `prepared.FAILURES`, Gone,
    or StoreUnavailable. May be interrupted and called again at any time.
    """
    assert site.ahead.pages is not None
    servers = order(site)
    if part is not None:
        servers = servers[part.number :: part.of]
    made = Made(servers=len(servers))
    file = site.ahead.pages.writing(known.stamp)
    try:
        making = _Making(site, file, known.stamp, rest)
        for batch in _batches(servers):
            made = replace(making.batch(batch, made), size=file.size)
            told(made)
            if made.full or made.over:
                break
    finally:
        file.close()
    return replace(made, size=site.ahead.pages.size())


def order(site: Site) -> list[ServerId]:
    """The servers that are shown: those that search engines list first, in the order of the sitemap."""
    first = dict.fromkeys(server for server, _ in indexed(site))
    return [*first, *(one.id for one in site.store.board.everyone() if one.id not in first)]


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes the pages of one stamp."""

    site: Site
    file: PageFile
    stamp: str
    rest: Rest

    def batch(self, servers: Sequence[ServerId], made: Made) -> Made:
        """Make those that are missing, and write them if nothing happened meanwhile."""
        missing = self.file.missing(servers)
        made = replace(made, there=made.there + len(servers) - len(missing))
        for _ in range(TRIES if missing else 0):
            before = learn(self.site)
            if before.stamp != self.stamp:
                return replace(made, over=True)
            pages = dict(self._pages([server for server in missing if server not in before.touched]))
            # What happened meanwhile may be in some of them, and whoever asks for one may not have heard of it yet.
            is_still = ask(self.site) == before.revision
            self.rest()
            if is_still:
                try:
                    self.file.put(pages)
                except Full:
                    return replace(made, full=True)
                return replace(made, made=made.made + len(pages), left_out=made.left_out + len(missing) - len(pages))
        return replace(made, later=made.later + len(missing))

    def _pages(self, servers: Sequence[ServerId]) -> Iterator[tuple[ServerId, Page]]:
        with self.site.store.at_once():
            for server in servers:
                page = self._page(server)
                if page is not None:
                    yield server, page

    def _page(self, server: ServerId) -> Page | None:
        """A page; None where nothing is shown. One at which our code fails is refused, so that it fails once."""
        is_ours = True
        try:
            answer = whole(self.site, server)
            is_ours = False
        except (HTTPException, StoreError, KeyboardInterrupt) as error:
            is_ours = False
            if isinstance(error, KeyboardInterrupt | StoreUnavailable):
                raise
            return None
        finally:
            if is_ours:
                self.file.refuse(server)
        return Page(bytes(answer.body), index=ROBOTS not in answer.headers)


def _batches(servers: Sequence[ServerId]) -> Iterator[Sequence[ServerId]]:
    found = iter(servers)
    while batch := list(islice(found, BATCH)):
        yield batch
