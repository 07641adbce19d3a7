"""Every test runs with sockets closed except loopback; `live` tests, which need the package registries, are exempt."""

from __future__ import annotations

import gc
import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidence.store import open_store

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex


def _refuse_other_hosts(address: Any) -> None:
    if not isinstance(address, tuple):
        return  # a Unix socket
    host = str(address[0]).partition("%")[0]
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback:
        raise RuntimeError(
            f"a test tried to reach {host}: tests talk to loopback only (mark it `live`, or write a server)"
        )


def pytest_configure() -> None:
    gc.disable()  # until everything is collected, which makes a million objects that all stay


def pytest_collection_finish() -> None:
    gc.freeze()  # what was collected stays as long as the session: no later look has to go through it
    gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes made while collecting (an archive holds the time it was packed) are named by their argument.

    The workers of one run collect apart and must agree on every name; pytest numbers equal ones in order.
    """
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database, to be copied: to migrate one takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "hallmark.db"
    store = open_store(f"sqlite:///{path}")
    store.migrate()
    store.close()
    return path


@pytest.fixture(autouse=True)
def loopback_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if "live" in request.keywords:
        yield
        return

    def connect(self: socket.socket, address: Any) -> None:
        _refuse_other_hosts(address)
        _connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_other_hosts(address)
        return _connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)
    yield
