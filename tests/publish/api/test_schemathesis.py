"""Requests made up from the OpenAPI document, fitting ones and others: no 5xx, and no answer that is not in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from evidence.store.decisions.audit_trail import AuditEntry
from publish.api.guide import make_openapi_document
from publish.community import tokens
from publish.community.limits import CommunityLimits
from tests.publish.api import api_stores
from tests.publish.api.conftest import Api, open_api
from tests.publish.site.plain_backend import NOW, PlainBackend
from tests.sampling import some

pytestmark = pytest.mark.xdist_group("made-up")

SAMPLE: Final = 2
SOAKED: Final = 2_000
SEED: Final = 7
LAX: Final = CommunityLimits(failures=1_000_000, claims_of_client=1_000_000, disputes_of_client=1_000_000)

OPERATIONS: Final = [
    f"{method.upper()} {path}" for path, methods in make_openapi_document()["paths"].items() for method in methods
]
MODES: Final = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)


@dataclass
class Maker:
    """Makes up requests to an app, and asks."""

    api: Api
    schema: Any
    token: str

    @cached_property
    def operations(self) -> Mapping[str, Any]:
        """Every operation by its label."""
        found = (one.ok() for one in self.schema.get_all_operations())
        return {operation.label: operation for operation in found}

    def attempt(self, label: str, count: int, mode: GenerationMode) -> Counter[int]:
        """Ask `count` times for one operation, half of the times for things that are there; the statuses that came."""
        operation = self.operations[label]
        statuses = Counter[int]()

        @seed(SEED)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        def ask(case: schemathesis.Case, data: st.DataObject) -> None:
            if mode is GenerationMode.POSITIVE:
                self._make_known(case, data.draw)
            statuses[case.call_and_validate().status_code] += 1

        ask()
        return statuses

    def _make_known(self, case: schemathesis.Case, draw: Callable[..., Any]) -> None:
        """Half of the times with ids of things that are there, and with a token that counts: chance finds neither."""
        case.query.pop("cursor", None)  # a cursor is opaque: only the answer before knows a good one
        if draw(st.booleans()):
            values = self._values()
            known = [name for name in case.path_parameters or {} if name in values]
            case.path_parameters |= {name: draw(values[name]) for name in known}
        if draw(st.booleans()) and "authorization" in {name.lower() for name in case.headers or {}}:
            case.headers["Authorization"] = f"Bearer {self.token}"

    def _values(self) -> dict[str, st.SearchStrategy[Any]]:
        servers = [dossier.server.id for dossier in self.api.servers]
        return {
            "server": st.sampled_from(servers or ["srv_00000000000000000000"]),
            "run": st.sampled_from([api_stores.RUN.id, api_stores.EARLIER.id]),
            "kind": st.sampled_from(["listing", "registration", "access", "package", "source", "secrets"]),
            "rubric": st.sampled_from(["adaptive", "lint"]),
            "version": st.integers(1, 2),
            "rule": st.sampled_from(["tool-description-missing", "bogus-token-mishandled"]),
        }


@pytest.fixture(scope="module", params=["content", "empty"])
def maker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    servers = api_stores.servers() if request.param == "content" else []
    api = open_api(tmp_path_factory.mktemp("made-up"), servers, PlainBackend(community=LAX))
    minted = tokens.create_token("tests", tokens.ADMIN_SCOPES, now=NOW)
    api.store.api_tokens.put_token(
        minted.token, AuditEntry(at=NOW, who="op", what="token.new", subject=minted.token.id)
    )
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", api.client.app)
    yield Maker(api, schema, minted.text)
    api.store.close()


@pytest.mark.parametrize("label", some(OPERATIONS, 30))
def test_made_up_requests_get_documented_answers(maker: Maker, label: str) -> None:
    assert maker.attempt(label, SAMPLE, GenerationMode.POSITIVE)


@pytest.mark.parametrize("label", some((label for label in OPERATIONS if "{" in label or "/audit" in label), 20))
def test_what_does_not_fit_is_refused(maker: Maker, label: str) -> None:
    assert not set(maker.attempt(label, SAMPLE, GenerationMode.NEGATIVE)) & {200, 201, 202}


@pytest.mark.soak
def test_two_thousand_requests_get_documented_answers(maker: Maker) -> None:
    statuses = Counter[int]()
    each = SOAKED // len(OPERATIONS)
    for label in OPERATIONS:
        for mode in MODES:
            try:
                statuses += maker.attempt(label, each, mode)
            except Unsatisfiable:
                assert "{" not in label, "an operation without parameters has nothing that does not fit"
    assert statuses.total() >= SOAKED
    assert not [status for status in statuses if status >= 500]
