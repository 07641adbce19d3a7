"""The town of the tests about failures, and installations that have seen it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.functional.further import in_process_nights
from tests.functional.further.first_night import Before
from tests.functional.further.mixed_world import Town, town
from tests.functional.further.nights import Home


@pytest.fixture(scope="session")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Before]:
    folder = tmp_path_factory.mktemp("failures")
    with town(folder) as around, pytest.MonkeyPatch.context() as patch:
        home = Home(folder / "home", around)
        in_process_nights.hurry(patch, around.settings)
        in_process_nights.refresh(home)
        yield Before(around, home, in_process_nights.night(home))


@pytest.fixture
def around(before: Before) -> Iterator[Town]:
    """The town, which is as it was when the test is over."""
    yield before.town
    before.town.mend()


@pytest.fixture
def home(before: Before, around: Town, tmp_path: Path) -> Home:
    return in_process_nights.moved(before.home, tmp_path / "home")


@pytest.fixture
def fresh(before: Before, around: Town, tmp_path: Path) -> Home:
    """An installation that saw nothing yet but has its mirror."""
    new = replace(before.home, folder=tmp_path / "fresh", changes={}, said=[])
    (new.folder / "cache").mkdir(parents=True)
    shutil.copy(before.home.folder / "cache" / "advisories.sqlite", new.folder / "cache")
    return new
