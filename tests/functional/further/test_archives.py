"""Archives that are broken, hostile or never arrive, and readers that die: each is recorded as what it is."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crawler.collectors.source import reader_pool
from evidence.kinds import repository, secrets, source
from evidence.model import Reason
from tests.crawler.archives.building import block, tarball
from tests.functional.further import in_process_nights
from tests.functional.further.archives import stopping_halfway
from tests.functional.further.first_night import Before, assert_nothing_moved
from tests.functional.further.mixed_world import ABANDONED, KEPT, Town, push
from tests.functional.further.nights import Home, Night
from tests.functional.further.projects import PLANTED, archive, well_kept
from tests.servers.github.world import Answer, Fault

pytestmark = pytest.mark.xdist_group("functional-further")

OFTEN = 10**6
MIB = 1024 * 1024
HEAD = "ab" * 20
LONGER = archive(
    {**well_kept(), "src/more.ts": "".join(f"export const n{number} = {number};\n" for number in range(9000))}
)


def _bomb() -> bytes:
    """More than a GiB of zeros in one file: gzip members of 64 MiB, one after the other."""
    head = block(b"top/zeros", b"", size=17 * 64 * MIB)
    return gzip.compress(head) + gzip.compress(bytes(64 * MIB), 1) * 17


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(lambda: LONGER[:-60], "", id="truncated"),
        pytest.param(lambda: tarball(*[block(b"top/file")] * 100_002), "", id="100,000 files", marks=pytest.mark.soak),
        pytest.param(_bomb, "", id="a bomb", marks=pytest.mark.soak),
    ],
)
def test_what_an_archive_does_not_give_is_not_taken_for_nothing(
    before: Before, home: Home, around: Town, content: Any, said: str
) -> None:
    push(around, KEPT, content())
    night = in_process_nights.night(home)
    read = night.body("kept", source.KIND)
    assert (read["ref"], read["complete"]) == (HEAD, False)
    assert said in str(read["skipped"])
    assert night.body("kept", secrets.KIND)["complete"] is False
    assert night.reasons().isdisjoint({Reason.COLLECTOR_ERROR})
    _assert_others_stay(before.night, night)


@pytest.mark.soak
def test_an_archive_that_is_none_is_recorded_as_such(before: Before, home: Home, around: Town) -> None:
    push(around, KEPT, b"<html>Sorry</html>")
    night = in_process_nights.night(home)
    for kind in (source.KIND, secrets.KIND):
        assert night.absence("kept", kind).reason is Reason.INSTALL_FAILED, night.absence("kept", kind)
    assert night.body("kept", repository.KIND)["head"] == HEAD
    _assert_others_stay(before.night, night)


@pytest.mark.soak
def test_an_archive_of_more_than_the_limit_is_recorded_as_such(fresh: Home, around: Town) -> None:
    with stopping_halfway(bytes(140 * MIB), hangs_up=False) as host:
        host.may_go_on.set()
        _serve_from(around, host.url)
        night = in_process_nights.night(fresh)
        assert host.asked
    assert night.absence("kept", source.KIND).reason is Reason.TOO_LARGE, night.absence("kept", source.KIND)


def test_no_score_moves_when_an_archive_breaks_off_on_its_way(before: Before, home: Home, around: Town) -> None:
    with stopping_halfway(LONGER, hangs_up=True) as host:
        _serve_from(around, host.url)
        night = in_process_nights.night(home)
        assert host.asked
    _assert_scores_stay(before.night, night)
    assert night.body("kept", source.KIND) == before.night.body("kept", source.KIND)


def test_no_score_moves_when_the_reader_is_killed(
    before: Before, home: Home, around: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(around, ABANDONED, LONGER)
    push(around, KEPT, LONGER)
    killed = _kill_readers(monkeypatch, times=1)
    night = in_process_nights.night(home)
    assert killed == [1]
    for server in ("kept", "left"):
        assert night.body(server, source.KIND)["complete"]
    assert night.score("kept") == before.night.score("kept")


@pytest.mark.soak
def test_a_source_on_which_every_reader_dies_ends_no_run(
    before: Before, home: Home, around: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(around, KEPT, LONGER)
    assert _kill_readers(monkeypatch, times=OFTEN) == []
    night = in_process_nights.night(home)
    assert night.absence("kept", source.KIND).reason is Reason.TOO_LARGE
    _assert_others_stay(before.night, night)


def test_no_score_moves_when_the_disk_is_full(before: Before, home: Home, around: Town) -> None:
    push(around, KEPT, archive({**well_kept(), "noise.bin": os.urandom(3_000_000).decode("latin-1")}))
    with _files_of_at_most(2_000_000):
        night = in_process_nights.night(home)
    _assert_scores_stay(before.night, night)


@pytest.mark.soak
def test_no_score_moves_when_the_salt_was_lost(before: Before, home: Home, around: Town) -> None:
    (home.folder / "secret-salt").unlink()
    assert_nothing_moved(before.night, in_process_nights.night(home))
    push(around, ABANDONED, around.github.world.repositories[ABANDONED].archive)
    night = in_process_nights.night(home)
    _assert_scores_stay(before.night, night)
    (ours,), (theirs,) = (one.body("left", secrets.KIND)["findings"] for one in (night, before.night))
    assert ours["hash"] != theirs["hash"]
    assert PLANTED not in str(ours)


@pytest.mark.parametrize("content", [*(pytest.param(one, marks=pytest.mark.soak) for one in ("", None)), "short"])
def test_a_salt_that_cannot_be_used_stops_the_run_and_says_what_to_do(home: Home, content: str | None) -> None:
    salt = home.folder / "secret-salt"
    salt.unlink()
    if content is None:
        salt.mkdir()
    else:
        salt.write_text(content)
    home.hallmark("run", "--fresh", "--json", code=None)
    assert "secret-salt" in "".join(home.said)
    assert "Traceback" not in "".join(home.said)


def _serve_from(around: Town, url: str) -> None:
    """The archive of one repository is new, and elsewhere."""
    push(around, KEPT, LONGER)
    around.github.world.faults.append(Fault("/tarball/", lambda: Answer(302, headers={"Location": url}), OFTEN))


def _kill_readers(patch: pytest.MonkeyPatch, *, times: int) -> list[int]:
    """Kill -9 readers in the middle of their next readings; the list returned tells how many died."""
    ask, killed = reader_pool._Process.ask, list[int]()

    def dying(self: reader_pool._Process, message: dict[str, Any], handle: int) -> dict[str, Any]:
        if len(killed) < times:
            killed.append(1)
            assert self._process is not None
            self._process.send_signal(signal.SIGSTOP)  # or a reading might be over before its reader is killed
            threading.Timer(0.02, self.kill).start()
        return ask(self, message, handle)

    patch.setattr(reader_pool._Process, "ask", dying)
    return killed


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """No file of this process may be longer, which has the effect of a full disk on a writer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _assert_scores_stay(before: Night, after: Night) -> None:
    for server in after.dossiers:
        assert after.score(server) == before.score(server), server


def _assert_others_stay(before: Night, after: Night) -> None:
    for server in after.dossiers.keys() - {"kept"}:
        assert after.cards[server]["score"] == before.cards[server]["score"], server
