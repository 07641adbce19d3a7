"""Every test runs with sockets closed except loopback; `live` tests, which need the package registries, are exempt."""

from __future__ import annotations

import gc
import ipaddress
import random
import shutil
import socket
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from evidence.store import Store, open_store
from tests import distribution, shared_statements
from tests.sampling import FULL, SAMPLE
from tests.servers.postgres import PostgresServer, postgres_server

shared_statements.install()

# A deadline for an example is a race with the clock, and other examples on every run are failures by chance.
settings.register_profile("sample", max_examples=SAMPLE, deadline=None, derandomize=True, database=None)
settings.register_profile("full", max_examples=FULL, deadline=None, derandomize=True, database=None)
settings.load_profile("sample")

# An HTTP proxy on loopback would answer for hosts that a test must not reach.
_PROXIES = tuple(name for base in ("http_proxy", "https_proxy", "all_proxy") for name in (base, base.upper()))

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="random order of modules and of the tests of each")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Modules stay together, since their fixtures are expensive; every process of a run has the same order."""
    if (seed := config.getoption("shuffle")) is not None:
        chance, modules = random.Random(seed), defaultdict[str, list[pytest.Item]](list)
        for item in items:
            modules[item.nodeid.partition("::")[0]].append(item)
        for module in modules.values():
            chance.shuffle(module)
        items[:] = chain.from_iterable(chance.sample(list(modules.values()), len(modules)))
    else:
        distribution.longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> distribution.ModuleScheduling | None:
    return distribution.ModuleScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_collection(session: pytest.Session) -> None:
    distribution.import_share(session.config)


def pytest_configure() -> None:
    gc.disable()  # until everything is collected, which makes a million objects that all stay


def pytest_collection_finish() -> None:
    gc.freeze()  # what was collected stays as long as the session: no later look has to go through it
    gc.set_threshold(50_000, 20, 50)  # with the defaults, a seventh of the processor time is spent looking for garbage
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.collect()
    gc.freeze()  # pytest looks for garbage five times more


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes made while collecting (an archive holds the time it was packed) are named by their argument.

    The workers of one run collect apart and must agree on every name; pytest numbers equal ones in order.
    """
    return argname if isinstance(val, bytes) else None


_migrate = Store.migrate


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database, to be copied: to migrate one takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "hallmark.db"
    store = open_store(f"sqlite:///{path}")
    _migrate(store)
    store.close()
    return path


@pytest.fixture(autouse=True, scope="session")
def quick_migration(sqlite_template: Path) -> Iterator[None]:
    """A store whose SQLite file is missing becomes a copy of the migrated one; others are migrated."""

    def migrate(store: Store) -> None:
        url = store._database.url
        if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
            with suppress(OSError):  # which the product tells
                _copy_if_missing(sqlite_template, Path(url.database))
        _migrate(store)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "migrate", migrate)
        yield


def _copy_if_missing(source: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        shutil.copy(source, path)


@pytest.fixture
def real_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store of the test is migrated."""
    monkeypatch.setattr(Store, "migrate", _migrate)


@pytest.fixture(scope="session")
def session_postgres() -> Iterator[PostgresServer]:
    """One PostgreSQL server for all modules; each test makes a database of its own."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def session_postgres_template(session_postgres: PostgresServer) -> str:
    """The name of a migrated, empty database, to be copied."""
    url = session_postgres.create_database()
    opened = open_store(url)
    opened.migrate()
    opened.close()
    return url.rpartition("/")[2]


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

    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)
    yield
