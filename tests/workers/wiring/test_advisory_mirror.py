"""The mirror of advisories of a machine is kept fresh by the processes of that machine, and never by two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_refresh import _alone
from tests.servers.osv.records import advisory, fixed_in
from tests.servers.osv.serving import running
from tests.servers.osv.world import OsvWorld
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, settings
from workers import schedule
from workers.settings.environment import Settings
from workers.wiring.advisory_mirror import refresh_when_due


@pytest.fixture
def world() -> OsvWorld:
    found = OsvWorld()
    found.add(advisory("PYSEC-1", fixed_in("PyPI", "flour", "1.1")))
    return found


@pytest.fixture
def mine(world: OsvWorld, tmp_path: Path) -> Iterator[Settings]:
    with running(world) as base:
        yield settings(tmp_path, sources=("advisories",), osv_export=base, ecosystems=("PyPI",))


def kept(mine: Settings, clock: SteppingClock) -> bool:
    return asyncio.run(refresh_when_due(mine, clock))


def test_the_mirror_is_made_first_and_refreshed_when_its_time_has_come(mine: Settings, world: OsvWorld) -> None:
    clock = SteppingClock(NIGHT)
    assert kept(mine, clock)
    (first,) = Mirror(mine.advisories_file).states()
    asked = len(world.requests)

    clock.step(mine.advisories_every / 2)
    assert kept(mine, clock)
    assert len(world.requests) == asked

    clock.step(mine.advisories_every)
    assert kept(mine, clock)
    (again,) = Mirror(mine.advisories_file).states()
    assert again.refreshed_at > first.refreshed_at


def test_no_process_works_without_a_mirror_that_another_process_is_making(mine: Settings) -> None:
    clock = SteppingClock(NIGHT)
    mine.advisories_file.parent.mkdir(parents=True, exist_ok=True)
    with _alone(Path(f"{mine.advisories_file}.lock")):
        assert not kept(mine, clock)
    assert kept(mine, clock)

    clock.step(timedelta(days=1))
    with _alone(Path(f"{mine.advisories_file}.lock")):
        assert kept(mine, clock)  # an older one is there


@pytest.mark.parametrize("changes", [{"sources": ()}, {"advisories_every": timedelta(0)}])
def test_nothing_is_fetched_for_those_who_do_not_want_it(
    mine: Settings, world: OsvWorld, changes: dict[str, object]
) -> None:
    assert kept(replace(mine, **changes), SteppingClock(NIGHT))
    assert world.requests == []


def test_work_goes_on_when_the_export_cannot_be_reached(mine: Settings) -> None:
    unreachable = replace(mine, osv_export="http://127.0.0.1:9")
    assert kept(unreachable, SteppingClock(NIGHT))
    assert not any(state.records for state in Mirror(mine.advisories_file).states())


def test_beat_asks_for_it_unless_that_is_switched_off(mine: Settings) -> None:
    assert schedule.REFRESH_ADVISORIES in {entry["task"] for entry in schedule.build_beat_table(mine).values()}
    off = replace(mine, advisories_every=timedelta(0))
    assert schedule.REFRESH_ADVISORIES not in {entry["task"] for entry in schedule.build_beat_table(off).values()}
