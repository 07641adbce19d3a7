from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient

from evidence.model import Dossier, ServerId
from evidence.store import Store
from evidence.store.decisions.audit_trail import AuditEntry
from publish.app import create_app
from publish.community.tokens import create_token, owner_scope
from scoring import receipt
from scoring.results.scorecard import Line
from tests.publish import samples
from tests.publish.api.shelves import publish
from tests.publish.community.retest_backend import RetestBackend


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


@pytest.fixture
def house(make_store: Callable[[Sequence[Dossier]], Store]) -> Iterator[House]:
    store = make_store([])
    publish(store, [*samples.dossiers(9), samples.hostile_dossier()])
    backend = RetestBackend(store=store)
    app = create_app(store, backend)
    with TestClient(app, raise_server_exceptions=True, follow_redirects=False) as client:
        yield House(store, backend, client)
