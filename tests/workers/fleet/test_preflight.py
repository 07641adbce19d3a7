"""What a fleet says before it starts where something is missing."""

from __future__ import annotations

import re
import socket
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from crawler.sandbox import Availability
from evidence.store import open_store
from tests.servers.daemon import free_port
from tests.servers.postgres import PostgresServer
from workers import schedule
from workers.fleet import preflight, program
from workers.fleet.program import name_process
from workers.settings.environment import read_settings

CLOSED = f"127.0.0.1:{free_port()}"


def test_sqlite_is_refused_with_what_to_set() -> None:
    with pytest.raises(preflight.NotReady, match=r"expected PostgreSQL, found no HALLMARK_DATABASE_URL.*Set it"):
        preflight.migrate_database(read_settings(database_url=None))


def test_an_absent_postgresql_is_named_without_its_password() -> None:
    settings = read_settings(database_url=f"postgresql+psycopg://one:hidden@{CLOSED}/name")
    with pytest.raises(preflight.NotReady, match="expected PostgreSQL to answer at HALLMARK_DATABASE_URL") as caught:
        preflight.migrate_database(settings)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("address", ["postgresql+psycopg://one:hid@den:word@host/name", "postgresql:one:hidden@host"])
def test_an_address_that_cannot_be_read_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(preflight.NotReady, match="Write %40 for @") as caught:
        preflight.migrate_database(read_settings(database_url=address))
    assert not {"hid", "den", "word"} & set(re.findall(r"\w+", str(caught.value)))


def test_the_database_is_migrated(session_postgres: PostgresServer) -> None:
    postgres_url = session_postgres.create_database()
    preflight.migrate_database(read_settings(database_url=postgres_url))
    store = open_store(postgres_url)
    assert store.list_runs(1) == []
    store.close()


def test_a_missing_sandbox_is_refused_unless_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Availability(ok=False, why="no user namespaces", fix="allow them")
    monkeypatch.setattr("crawler.sandbox.choose_runtime", lambda *_: missing)
    with pytest.raises(preflight.NotReady, match=r"no user namespaces\. allow them\. Or set HALLMARK_SANDBOX=off"):
        preflight.prepare_sandbox(read_settings(), schedule.QUEUES)
    assert preflight.prepare_sandbox(read_settings(), ["probe"]) == "not needed by these queues"
    assert "no_sandbox" in preflight.prepare_sandbox(read_settings(sandbox="off"), schedule.QUEUES)


def test_a_port_that_is_in_use_is_refused_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(
            preflight.NotReady, match=rf"port {port} .* for the site app.*--site-port N \(0 starts none"
        ):
            preflight.check_ports({"site": port})
    preflight.check_ports({"site": port})


def test_code_that_does_not_load_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(_: ForkServerProcess) -> None:
        raise EOFError

    monkeypatch.setattr(ForkServerProcess, "start", end)
    monkeypatch.setattr(program, "TEMPLATE", "json")  # later tests need not load the product
    with pytest.raises(preflight.NotReady, match="found: the process to fork from ended"):
        preflight.load_code()


def make_process(folder: Path, command: str, **variables: str) -> None:
    folder.mkdir()
    (folder / "cmdline").write_text(command.replace(" ", "\0") + "\0")
    (folder / "environ").write_text("".join(f"{name}={text}\0" for name, text in variables.items()))


def test_a_beat_of_the_same_redis_is_found(tmp_path: Path) -> None:
    celery = "python -m celery -A workers.celery_app"
    make_process(tmp_path / "10", f"{celery} beat", HALLMARK_REDIS_URL="redis://here/0")
    make_process(tmp_path / "11", f"{celery} beat", HALLMARK_REDIS_URL="redis://other/0")
    make_process(tmp_path / "12", f"{celery} worker", HALLMARK_REDIS_URL="redis://here/0")
    make_process(tmp_path / "13", "grep workers.celery_app", HALLMARK_REDIS_URL="redis://here/0")
    make_process(tmp_path / "14", f"{celery} beat", HOME="/")
    (tmp_path / "15").mkdir()
    for number, name in ((16, "beat"), (17, "probe")):
        make_process(tmp_path / str(number), "python -c forks", HALLMARK_REDIS_URL="redis://here/0")
        (tmp_path / str(number) / "comm").write_bytes(name_process(name) + b"\n")
    assert preflight.find_beats("redis://here/0", tmp_path) == [10, 16]
    assert preflight.find_beats("redis://127.0.0.1:6379/0", tmp_path) == [14]


def test_a_second_beat_on_a_machine_is_refused_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "find_beats", lambda _url: [4711])
    with pytest.raises(preflight.NotReady, match=r"found process 4711.*--no-beat"):
        preflight.check_single_beat(read_settings())
