"""Hostile servers through full probes: each leaves its class, no question outlives its deadline, no blame is wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping

import pytest

from evidence.model import Absent
from tests.conformance.mishandling import CASES, PATIENT, PATIENT_PROBE, Suffered, served, suffer

GRACE = 10.0
MEMORY = 150 * 1024  # KiB

pytestmark = pytest.mark.xdist_group("hostile")


@pytest.fixture(scope="module")
def suffered() -> Mapping[str, Suffered]:
    with served() as addresses:
        return asyncio.run(suffer(addresses))


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_server_leaves_its_class_and_fails_what_it_truly_fails(
    suffered: Mapping[str, Suffered], name: str
) -> None:
    case, probed = CASES[name], suffered[name].probed
    content = probed.listing.content
    failed = probed.failed()

    assert (content.reason if isinstance(content, Absent) else None) is case.reason
    assert case.fails is None or set(failed) == case.fails, failed
    if case.sees:
        step, reason = case.sees
        seen = [exchange.failure for exchange in probed.talk() if exchange.step == step]
        assert reason in seen


def test_no_question_outlives_its_deadline(suffered: Mapping[str, Suffered]) -> None:
    late = {name: one.slowest for name, one in suffered.items() if one.slowest > PATIENT.total + GRACE}

    assert late == {}


def test_no_probe_outlives_its_deadline(suffered: Mapping[str, Suffered]) -> None:
    late = {name: one.seconds for name, one in suffered.items() if one.seconds > PATIENT_PROBE.total + GRACE}

    assert late == {}


def test_there_are_far_more_than_seventy_behaviours() -> None:
    assert len(CASES) > 200


def test_all_that_say_anything_cost_bounded_memory() -> None:
    command = [sys.executable, "-m", "tests.conformance.mishandling"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)

    count, _, peak = done.stdout.split()
    assert (int(count) > 190, int(peak) < MEMORY) == (True, True), done.stdout
