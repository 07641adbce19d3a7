"""The process that makes pages ahead: when it works, when it rests, what it says, and with whom it ends."""

from __future__ import annotations

import json
import multiprocessing
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest
import structlog
from starlette.testclient import TestClient
from typer.testing import CliRunner

from evidence.store import Store, open_store
from publish.site import preparing as making
from publish.site.ahead import Ahead
from publish.site.pages.server import fitted
from publish.site.prepared import PageFile, PreparedPages
from publish.site.revisions import learn
from publish.site.site import Site
from tests.processes import children
from tests.publish import samples
from tests.publish.shown import show
from tests.publish.site.desks import PlainDesk
from tests.servers.daemon import free_port
from tests.workers.sites import heard
from workers import log, preparing
from workers.cli.web import app
from workers.preparing import AGAIN, LOOK, TRIES, Keeper, NothingAhead, prepare_now
from workers.settings import Settings
from workers.web import PAGES, create_app

SERVERS = samples.dossiers(10)
NEXT = replace(samples.RUN, id="run_20260303T030000Z_0001")


@pytest.fixture(autouse=True)
def told() -> None:
    """Whatever level another test has set."""
    log.configure("info", "json")


@pytest.fixture(scope="module")
def published(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a published run."""
    path = Path(shutil.copy(sqlite_template, tmp_path_factory.mktemp("published")))
    store = open_store(f"sqlite:///{path}")
    show(store, SERVERS)
    store.close()
    return path


@pytest.fixture
def home(published: Path, tmp_path: Path) -> Iterator[tuple[Path, Store]]:
    """A home folder with that database."""
    url = Settings(home=tmp_path).store_url
    shutil.copy(published, url.removeprefix("sqlite:///"))
    store = open_store(url)
    yield tmp_path, store
    store.close()


class Kept:
    """A keeper over a folder, with the pauses that it took."""

    def __init__(self, home: Path, store: Store, most: int = 1 << 26) -> None:
        self.desk, self.pauses = PlainDesk(), list[float]()
        self.pages = PreparedPages(home / PAGES, most, monotonic=lambda: 0.0)
        self.site = fitted(Site(store, self.desk, Ahead(self.pages)))
        self.keeper = Keeper(self.site, self.pages, self.pauses.append)

    def said(self) -> tuple[float, list[dict[str, object]]]:
        with structlog.testing.capture_logs() as events:
            after = self.keeper.turn()
        return after, [dict(event) for event in events]

    @property
    def path(self) -> Path:
        return self.pages.path(learn(self.site).stamp)


def test_it_makes_pages_once_and_says_how_many(home: tuple[Path, Store]) -> None:
    kept = Kept(*home)
    after, (begun, done) = kept.said()
    assert after == LOOK
    assert begun["event"] == "pages_ahead_begun"
    assert (done["event"], done["servers"], done["made"]) == ("pages_ahead_done", len(SERVERS), len(SERVERS))
    assert isinstance(done["bytes"], int)
    assert done["bytes"] > 10_000
    assert kept.said() == (LOOK, [])


def test_a_file_that_is_complete_is_not_looked_through_again(
    home: tuple[Path, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    Kept(*home).said()
    again = Kept(*home)
    monkeypatch.setattr(PageFile, "missing", None)
    assert again.said() == (LOOK, [])
    again.path.unlink()
    monkeypatch.undo()
    assert [event["event"] for event in again.said()[1]] == ["pages_ahead_begun", "pages_ahead_done"]


def test_a_file_without_room_for_all_is_filled_when_there_is_more(home: tuple[Path, Store]) -> None:
    full = Kept(*home, most=60_000).said()[1][-1]
    done = Kept(*home).said()[1][-1]
    assert (full["event"], done["event"]) == ("pages_ahead_full", "pages_ahead_done")
    assert (done["there"], done["made"]) == (full["made"], len(SERVERS) - int(str(full["made"])))


def test_it_rests_as_long_as_it_worked(home: tuple[Path, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    kept, now = Kept(*home), [0.0]
    whole = making.whole

    def taking(site: Site, server: str) -> object:
        now[0] += 1.0
        return whole(site, server)

    def sleep(seconds: float) -> None:
        kept.pauses.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(making, "whole", taking)
    monkeypatch.setattr(preparing.time, "monotonic", lambda: now[0])
    Keeper(kept.site, kept.pages, sleep).turn()
    assert kept.pauses == [8.0, 2.0]


def test_what_was_made_is_held_in_memory_from_minute_to_minute(
    home: tuple[Path, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, now, held = Kept(*home), [100.0], list[str]()
    monkeypatch.setattr(kept.pages, "hold", held.append)
    monkeypatch.setattr(preparing.time, "monotonic", lambda: now[0])
    for _ in range(25):
        kept.keeper.turn()
        now[0] += LOOK
    before = learn(kept.site).stamp
    assert held == [before] * 3
    show(home[1], [replace(one, as_of=NEXT.as_of) for one in SERVERS[:3]], NEXT)
    kept.keeper.turn()  # at once: who holds a deleted file keeps its room on the disk
    assert held[3:] == [learn(kept.site).stamp] != [before]


def test_another_night_drops_the_pages_of_the_one_before(home: tuple[Path, Store]) -> None:
    kept = Kept(*home)
    kept.said()
    before = kept.path
    show(home[1], [replace(one, as_of=NEXT.as_of) for one in SERVERS[:3]], NEXT)
    assert [event["event"] for event in kept.said()[1]] == ["pages_ahead_begun", "pages_ahead_done"]
    assert kept.path.exists()
    assert not before.exists()


def test_deleted_pages_are_made_again_a_few_times(home: tuple[Path, Store]) -> None:
    kept = Kept(*home)
    for _ in range(TRIES):
        assert len(kept.said()[1]) == 2
        kept.path.unlink()
    assert kept.said() == (LOOK, [])


def test_damage_is_said_and_repaired_at_the_next_turn(home: tuple[Path, Store]) -> None:
    kept = Kept(*home)
    kept.pages.folder.mkdir()
    kept.path.write_bytes(b"something else" * 9_000)
    after, events = kept.said()
    assert after == AGAIN
    assert [event["event"] for event in events] == ["pages_ahead_begun", "pages_ahead_failed"]
    assert [event["event"] for event in kept.said()[1]] == ["pages_ahead_begun", "pages_ahead_done"]


def test_where_it_may_not_write_the_site_goes_on(home: tuple[Path, Store]) -> None:
    (home[0] / PAGES).write_text("in the way")
    kept = Kept(*home)
    after, events = kept.said()
    assert after == AGAIN
    assert events[-1]["event"] == "pages_ahead_failed"
    with TestClient(create_app(Settings(home=home[0], web_rate=0))) as site:
        assert site.get(f"/servers/{SERVERS[0].server.id}").status_code == 200


def test_a_full_disk_is_said_once(home: tuple[Path, Store]) -> None:
    kept = Kept(*home, most=60_000)
    assert [event["event"] for event in kept.said()[1]] == ["pages_ahead_begun", "pages_ahead_full"]
    assert kept.said() == (LOOK, [])


def test_without_a_database_it_waits(tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path).store_url)
    assert Kept(tmp_path, store).said() == (LOOK, [])
    store.close()


def test_the_site_answers_with_what_was_made_and_counts_it(home: tuple[Path, Store]) -> None:
    settings = Settings(home=home[0], web_rate=0)
    assert prepare_now(settings, lambda _: None).made == len(SERVERS)
    here = f"/servers/{SERVERS[0].server.id}"
    watch = create_app(settings)
    with TestClient(watch) as site, TestClient(create_app(settings.model_copy(update={"web_prepared": 0}))) as other:
        assert site.get(here).content == other.get(here).content
        assert site.get("/servers/srv_00000000000000000000").status_code == 404
    value = watch.registry.get_sample_value  # type: ignore[attr-defined]
    assert [value("hallmark_web_ahead_total", {"how": how}) for how in ("found", "made")] == [1.0, 1.0]
    assert value("hallmark_web_ahead_bytes") > 10_000


def test_another_database_at_the_same_home_has_its_own_pages(home: tuple[Path, Store], tmp_path: Path) -> None:
    settings = Settings(home=home[0])
    prepare_now(settings, lambda _: None)
    copied = tmp_path / "other.db"
    with closing(sqlite3.connect(home[0] / "hallmark.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(copied),))
    other = Settings(home=home[0], database_url=f"sqlite:///{copied}")  # type: ignore[arg-type]
    assert prepare_now(other, lambda _: None).made == len(SERVERS)


def test_where_there_is_nothing_to_make_it_says_so(tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path).store_url)
    store.migrate()
    store.close()
    with pytest.raises(NothingAhead, match="nothing is published"):
        prepare_now(Settings(home=tmp_path), lambda _: None)
    with pytest.raises(NothingAhead, match="HALLMARK_WEB_PREPARED"):
        prepare_now(Settings(home=tmp_path, web_prepared=0), lambda _: None)


# As processes


def test_the_command_makes_all_pages_and_ends(home: tuple[Path, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_HOME", str(home[0]))
    first = CliRunner().invoke(app, ["--prepare", "--processes", "2"])
    again = CliRunner().invoke(app, ["--prepare"])
    assert (first.exit_code, again.exit_code) == (0, 0), first.output
    assert f"{len(SERVERS)} pages made ahead" in first.output
    assert f"{len(SERVERS)} were there" in again.output
    served = Settings(home=home[0], web_url="http://127.0.0.1:8080")
    with TestClient(watch := create_app(served)) as site:
        site.get(f"/servers/{SERVERS[0].server.id}")
    assert watch.registry.get_sample_value("hallmark_web_ahead_total", {"how": "found"}) == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("how", "command"),
    [
        (signal.SIGKILL, ("-c", "from workers.cli import main; main()", "web", "--processes", "2")),
        (signal.SIGTERM, ("-m", "uvicorn", "--factory", "workers.preparing:create_app")),
    ],
    ids=["hallmark", "uvicorn"],
)
def test_it_works_beside_the_site_and_ends_with_it(
    home: tuple[Path, Store], how: signal.Signals, command: tuple[str, ...]
) -> None:
    folder, port = home[0] / PAGES, free_port()
    environment = {**os.environ, "HALLMARK_HOME": str(home[0]), "HALLMARK_LOG_FORMAT": "json"}
    words = [sys.executable, *command, "--port", str(port)]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = heard(process, "pages_ahead_done")
            assert json.loads(said.splitlines()[-1])["made"] == len(SERVERS)
            (pid,) = [pid for pid in children(process.pid) if os.getpriority(os.PRIO_PROCESS, pid) == 19]
            with urlopen(f"http://127.0.0.1:{port}/servers/{SERVERS[0].server.id}", timeout=60) as answer:
                assert answer.status == 200
            watched = os.pidfd_open(pid)
            process.send_signal(how)
            assert select.select([watched], [], [], 30)[0]
            os.close(watched)
        finally:
            process.kill()
    assert list(folder.glob("*.pages"))  # what was made stays


def test_one_that_dies_again_and_again_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(preparing.multiprocessing, "get_context", lambda _: fork)
    monkeypatch.setattr(preparing, "keep", lambda *_: os._exit(3))
    told: list[str] = []
    with preparing.preparing(Settings(home=tmp_path), told.append):
        until = time.monotonic() + 30
        while len(told) < TRIES and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)
    assert told == ["the process that makes pages ahead ended with 3"] * TRIES


def test_without_room_for_pages_there_is_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preparing, "Thread", None)
    with preparing.preparing(Settings(home=tmp_path, web_prepared=0), print):
        pass


def test_two_sites_at_one_home_make_pages_in_turns(tmp_path: Path) -> None:
    pages = PreparedPages(tmp_path / PAGES, 1, monotonic=lambda: 0.0)
    preparing._alone(pages)
    child = multiprocessing.get_context("fork").Process(target=preparing._alone, args=(pages,))
    child.start()
    child.join(1)
    assert child.is_alive()
    child.kill()
    child.join()
