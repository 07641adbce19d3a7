from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from evidence.model import Dossier
from evidence.store import Store, open_store
from publish.app import create_app
from tests.publish.api import api_stores
from tests.publish.site.plain_backend import PlainBackend


@dataclass
class Api:
    """The whole app over a store, asked below /api/v1."""

    client: TestClient
    store: Store
    backend: PlainBackend
    servers: Sequence[Dossier]

    def get(self, path: str, status: int = 200, **more: Any) -> Any:
        """The JSON of an answer with that status."""
        answer = self.client.get(f"/api/v1{path}", **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    @property
    def first(self) -> str:
        """Path of the server that has evidence of every public kind."""
        return f"/servers/{self.servers[0].server.id}"

    @property
    def absent(self) -> str:
        """Path of a server that could not be opened."""
        return f"/servers/{self.servers[-2].server.id}"


MakeApi = Callable[..., Api]


def open_api(folder: Path, servers: Sequence[Dossier], backend: PlainBackend) -> Api:
    store = open_store(f"sqlite:///{folder}/api.db")
    store.migrate()
    if servers:
        api_stores.publish(store, servers)
    client = TestClient(create_app(store, backend), raise_server_exceptions=False, follow_redirects=False)
    return Api(client, store, backend, servers)


@pytest.fixture
def make_api(tmp_path: Path) -> Iterator[MakeApi]:
    opened: list[Api] = []

    def make(servers: Sequence[Dossier] | None = None, backend: PlainBackend | None = None) -> Api:
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        opened.append(open_api(folder, api_stores.servers() if servers is None else servers, backend or PlainBackend()))
        return opened[-1]

    yield make
    for api in opened:
        api.store.close()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Two published nights, which tests only read."""
    api = open_api(tmp_path_factory.mktemp("api"), api_stores.servers(), PlainBackend())
    yield api
    api.store.close()
