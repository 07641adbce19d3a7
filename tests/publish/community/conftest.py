from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from evidence.model import ServerId
from evidence.store import Store, open_store
from evidence.store.decisions.audit_trail import AuditEntry
from publish.app import create_app
from publish.community.tokens import create_token, owner_scope
from scoring import receipt
from scoring.results.scorecard import Line
from tests.publish import samples
from tests.publish.api.api_stores import publish
from tests.publish.community.retest_backend import RetestBackend
from tests.publish.conftest import made_stores


@dataclass
class House:
    """A store with published servers, its backend, and a client of the whole site."""

    store: Store
    backend: RetestBackend
    client: TestClient

    def server(self, name: str = "") -> ServerId:
        """A server with lines, or the hostile one."""
        known = samples.hostile_dossier() if name == "hostile" else samples.dossiers(9)[1]
        return known.server.id

    def line(self, server: ServerId, rubric: str = "lint") -> Line:
        """A line of its newest receipt."""
        (card,) = self.store.read_scorecards(samples.RUN.id, servers=[server], rubric=rubric)
        return receipt.decode_scorecard(card.body).lines[0]

    def token(self, *scopes: str, name: str = "ana", **changes: object) -> dict[str, str]:
        """The header of a new token."""
        minted = create_token(name, scopes, now=self.backend.now(), **changes)  # type: ignore[arg-type]
        act = AuditEntry(at=self.backend.now(), who="op", what="token.new", subject=minted.token.id)
        self.store.api_tokens.put_token(minted.token, act)
        return {"Authorization": f"Bearer {minted.text}"}

    def owner(self, server: ServerId) -> dict[str, str]:
        """The header of the owner of a server."""
        return self.token(owner_scope(server), name="its owner")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """The database of published servers, to be copied."""
    folder = tmp_path_factory.mktemp("published")
    with made_stores(folder, sqlite_template) as make_store:
        publish(make_store([]), [*samples.dossiers(9), samples.hostile_dossier()])
    return folder / "0.db"


@pytest.fixture
def house(tmp_path: Path, published: Path) -> Iterator[House]:
    store = open_store(f"sqlite:///{shutil.copy(published, tmp_path / 'hallmark.db')}")
    backend = RetestBackend(store=store)
    app = create_app(store, backend)
    with TestClient(app, raise_server_exceptions=True, follow_redirects=False) as client:
        yield House(store, backend, client)
    store.close()
