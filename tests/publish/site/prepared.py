"""Sites whose pages were made ahead, and what stands in their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.testclient import TestClient

from evidence.model import ServerId
from evidence.store import Store
from publish.site.ahead import Ahead
from publish.site.app import create_app
from publish.site.desk import Desk
from publish.site.pages.server import fitted
from publish.site.prepared import PreparedPages
from publish.site.preparing import Made, order, prepare
from publish.site.revisions import learn
from publish.site.site import Site

MOST = 64 * 1024 * 1024


@dataclass
class Prepared:
    """The site that makes pages ahead; `found` says of each page that was asked for whether it had been made."""

    site: Site
    pages: PreparedPages
    found: list[bool] = field(default_factory=list)

    @classmethod
    def over(cls, store: Store, desk: Desk, folder: Path, most: int = MOST) -> Prepared:
        pages = PreparedPages(folder, most, monotonic=desk.monotonic)
        return cls(fitted(Site(store, desk, Ahead(pages))), pages)

    def make(self) -> Made:
        return prepare(self.site, learn(self.site))

    @property
    def stamp(self) -> str:
        return learn(self.site).stamp

    def bodies(self) -> dict[ServerId, bytes]:
        """What stands in the file, by server."""
        pages = {server: self.pages.find(self.stamp, server) for server in order(self.site)}
        return {server: page.body for server, page in pages.items() if page is not None}

    @contextmanager
    def client(self) -> Iterator[TestClient]:
        """A visitor of another process that reads the same files."""
        desk = self.site.desk
        ahead = Ahead(PreparedPages(self.pages.folder, MOST, monotonic=desk.monotonic))
        ahead.counted = self.found.append
        with visiting(lambda: create_app(self.site.store, desk, ahead)) as client:
            yield client
        assert ahead.pages is not None
        ahead.pages.close()


@contextmanager
def visiting(app: Callable[[], object]) -> Iterator[TestClient]:
    """A visitor who follows no redirect and is answered whatever fails."""
    made = TestClient(app(), raise_server_exceptions=False, follow_redirects=False)  # type: ignore[arg-type]
    with made as client:
        yield client
