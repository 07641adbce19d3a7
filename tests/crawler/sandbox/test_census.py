"""The census detects leaks: a leak test that cannot fail proves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawler.sandbox import census

ROOT = os.geteuid() == 0
# What one leaves for a moment in a place for everybody, another one's census would see.
pytestmark = pytest.mark.xdist_group("attacks")


def kinds(cache: Path, since: census.Census) -> set[str]:
    return {leak.split(":", 1)[0] for leak in census.take(cache).leaks(since)}


def test_nothing_is_no_leak(tmp_path: Path) -> None:
    before = census.take(tmp_path)
    assert census.take(tmp_path).leaks(before) == []


def test_process_and_its_pipe_are_seen_until_they_end(tmp_path: Path) -> None:
    before = census.take(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert kinds(tmp_path, before) == {"processes", "descriptors"}
        child.communicate(b"\n")
    assert census.take(tmp_path).leaks(before) == []


def test_second_descriptor_of_the_same_file_is_seen(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w"), pytest.raises(AssertionError, match=r"log \(2\)"):
        before = census.take(tmp_path / "cache")
        with (tmp_path / "log").open("w"):
            assert census.take(tmp_path / "cache").leaks(before) == []


def test_workshop_in_the_cache_is_seen_and_the_inside_of_a_layer_is_not(tmp_path: Path) -> None:
    (tmp_path / "layers/abc").mkdir(parents=True)
    before = census.take(tmp_path)
    (tmp_path / "layers/abc/file").touch()
    assert census.take(tmp_path).leaks(before) == []
    (tmp_path / "work/w1").mkdir(parents=True)
    assert census.take(tmp_path).leaks(before) == ["cache: work", "cache: work/w1"]


@pytest.mark.skipif(not ROOT, reason="only root can give a file to the user id of a box")
def test_file_of_a_box_in_a_shared_place_is_seen(tmp_path: Path) -> None:
    before = census.take(tmp_path)
    place = Path("/dev/shm") / f"test-census-{os.getpid()}"
    place.touch()
    try:
        os.chown(place, census.FIRST_UID, census.FIRST_UID)
        assert census.take(tmp_path).leaks(before) == [f"temporary: {place}"]
    finally:
        place.unlink()


@pytest.mark.skipif(not os.access("/sys/fs/cgroup/pids", os.W_OK), reason="control groups cannot be made here")
def test_control_group_is_seen(tmp_path: Path) -> None:
    before = census.take(tmp_path)
    group = Path("/sys/fs/cgroup/pids") / f"hallmark-{os.getpid()}-test"
    group.mkdir()
    try:
        assert census.take(tmp_path).leaks(before) == [f"cgroups: {group}"]
    finally:
        group.rmdir()
