"""Embedded runs over the fixture fleet: to the end, killed at any moment, interrupted by the user."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from evidence.kinds import listing, registration
from tests.functional.conftest import Undisturbed
from tests.functional.fleet import REMOTES, Fleet
from tests.functional.gate import Gate
from tests.functional.processes import Embedded, comparable, differing, opened

pytestmark = pytest.mark.xdist_group("functional-embedded")

KILLS = int(os.environ.get("HALLMARK_SOAK_KILLS", "3"))


def test_the_fleet_is_seen_as_it_is_and_a_second_run_exports_the_same(
    undisturbed_run: Undisturbed, fleet: Fleet
) -> None:
    embedded, facts = undisturbed_run.embedded, undisturbed_run.facts
    assert facts["walks"] == [None]
    with opened(embedded.url) as store:
        assert store.verify() == []
        absent = store.read_progress(facts["run"]).absent
        listed = facts["planned"] - sum(count for (kind, _), count in absent.items() if kind == listing.KIND)
        assert listed > REMOTES / 2
        reasons = {reason for kind, reason in absent if kind == listing.KIND}
        assert {"oauth_required", "not_mcp", "no_sandbox", "invalid_registration"} <= reasons
        assert "collector_error" not in reasons
        assert {reason for kind, reason in absent if kind == registration.KIND} == {"invalid_registration"}
    again = embedded.finish()
    assert again["ok"], embedded.log()
    assert again["run"] != facts["run"]
    assert differing(comparable(embedded.url), undisturbed_run.export) == []


def test_kill_9_at_any_moment_loses_and_doubles_nothing(embedded: Embedded, undisturbed: bytes) -> None:
    _kill_and_resume(embedded, undisturbed, kills=KILLS, seed=20261121)


@pytest.mark.soak
def test_kill_9_fifty_times_loses_and_doubles_nothing(embedded: Embedded, undisturbed: bytes) -> None:
    stages = _kill_and_resume(embedded, undisturbed, kills=50, seed=50)
    assert {"discover", "collect", "score"} <= stages.keys(), stages


@pytest.mark.soak  # tests/workers/cli/measure/test_run.py interrupts and resumes one in every run
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_soon_says_how_to_go_on_and_resumes(
    embedded: Embedded, undisturbed: bytes, number: signal.Signals, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate", seconds=20)
    embedded.changes |= gate.environment
    process = embedded.start()
    assert process.stdout is not None
    while not process.stdout.readline().startswith("collect 4"):
        assert process.poll() is None, embedded.log()
    process.send_signal(number)
    said, _ = process.communicate(timeout=300)
    gate.open()
    assert '"interrupted": true' in said, embedded.log()
    assert "resumes" in said
    facts = embedded.finish()
    assert facts["resumed"]
    assert facts["ok"]
    assert differing(comparable(embedded.url), undisturbed) == []


def _kill_and_resume(embedded: Embedded, undisturbed: bytes, *, kills: int, seed: int) -> Counter[str]:
    """Kill runs at random moments, resume each, and compare whenever one got through and at the end.

    Returns how many kills came in which stage.
    """
    chance = random.Random(seed)
    stages: Counter[str] = Counter()
    ended = 0
    while stages.total() < kills:
        process = embedded.start()
        try:
            process.communicate(timeout=chance.uniform(0.0, 2.0))
            ended += 1
            assert differing(comparable(embedded.url), undisturbed) == [], f"after kills in {stages}"
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
            stages[said.split()[-2] if said.split() else "start"] += 1
    assert embedded.finish()["ok"], embedded.log()
    with opened(embedded.url) as store:
        for row in store.list_runs(ended + 1):
            assert differing(comparable(embedded.url, row.run.id), undisturbed) == []
    return stages
