"""No probe brings a server down: servers on many versions, from the package registries; run by `make live`."""

from __future__ import annotations

import asyncio

import pytest

from crawler.collectors.interop.client import connect_and_list
from crawler.collectors.interop.request import InteropRequest
from evidence.model import Absent
from tests.matrix import causes, installing, starting
from tests.matrix.measuring import measure
from tests.matrix.questions import AT_RANDOM, CLASSES, classify
from tests.matrix.versions import HTTP, STATELESS, Environment, environments

pytestmark = pytest.mark.live

_ALL = tuple(environments())
_METHOD, _METHOD_ALONE, _PARAMETERS, _END = CLASSES


def _named(name: str) -> Environment:
    return next(one for one in _ALL if one.name == name)


@pytest.mark.parametrize("environment", _ALL, ids=lambda one: one.name)
def test_a_server_serves_after_every_probe_as_before(environment: Environment) -> None:
    folder = installing.install(environment)
    for transport in environment.transports:
        row = measure(environment, folder, transport)
        described = f"{environment.name}, {transport}: {row.describe()}"
        assert row.harms == {}, described
        assert all(not outcome.failure for outcome in row.outcomes.values()), described


@pytest.mark.parametrize(
    ("name", "transport", "fatal"),
    [
        ("mcp 1.8.1", HTTP, [_METHOD, _PARAMETERS]),
        ("mcp 1.9.3", STATELESS, [_METHOD, _METHOD_ALONE, _PARAMETERS]),
        ("mcp 1.9.4", HTTP, []),
        ("mcp 1.9.4 (newest dependencies)", HTTP, [_END]),
    ],
)
def test_single_questions_bring_old_versions_down(name: str, transport: str, fatal: list[str]) -> None:
    """The reason why a probe does not ask them; without it the test above could pass on servers that bear anything."""
    environment = _named(name)
    found = classify(causes.find(environment, installing.install(environment), transport))
    assert [cause for cause in found if cause != AT_RANDOM] == fatal


@pytest.mark.parametrize(
    ("name", "transport"), [("mcp 1.8.1", STATELESS), ("mcp 1.9.4 (newest dependencies)", HTTP), ("mcp 2.3.0", HTTP)]
)
def test_a_server_serves_after_the_official_client_as_before(name: str, transport: str) -> None:
    environment = _named(name)
    limits = {"gap": 0, "wall": 60, "cpu": 60, "memory": 4096}
    with starting.start(environment, installing.install(environment), transport) as instance:
        about = {"url": instance.url, "transport": "streamable-http", "user_agent": "matrix", "allow_private": True}
        met = asyncio.run(connect_and_list(InteropRequest(headers=(), **about, **limits)))  # type: ignore[arg-type]
        assert causes.serves(instance)
    assert not isinstance(met, Absent), met
    assert met["connected"] is True


def test_at_least_forty_versions_are_probed() -> None:
    assert len(_ALL) >= 40
