from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from evidence.store import Store
from publish.app import create_app
from publish.web.backend import SiteBackend
from tests.publish.site.plain_backend import PlainBackend

SiteOf = Callable[..., TestClient]


@pytest.fixture
def site_of() -> Iterator[SiteOf]:
    with opened_sites() as open_site:
        yield open_site


@contextmanager
def opened_sites() -> Iterator[SiteOf]:
    """Clients of the whole app over a store; failures are answered as they would be, and not raised."""
    opened: list[TestClient] = []

    def open_site(store: Store, backend: SiteBackend | None = None) -> TestClient:
        app = create_app(store, backend or PlainBackend())
        client = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
        opened.append(client)
        return client.__enter__()

    yield open_site
    for client in opened:
        client.__exit__(None, None, None)
