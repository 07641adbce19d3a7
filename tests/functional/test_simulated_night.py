"""A whole night over simulated remotes in a network of their own: everything is scored and no host is ever crowded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.simulation import network
from tests.functional.processes import ROOT

pytestmark = pytest.mark.xdist_group("functional-celery-nights")

SERVERS = 50
SEED = 175  # of every kind but those that hang or answer just in time, which cost their timeouts


@pytest.mark.soak  # tests/workers/coordination/test_shared_host_pacing.py paces in every run
def test_a_night_over_simulated_remotes_crowds_no_host(tmp_path: Path) -> None:
    if why := network.why_not(tmp_path):
        if "sandbox" in os.environ.get("HALLMARK_REQUIRE", "").split(","):
            pytest.fail(why)
        pytest.skip(f"no network of our own can be made here: {why}")
    found = _night(tmp_path)
    night, access = found["nights"][0], found["access"]
    assert night["planned"] == night["scored"] == SERVERS
    assert night["own failures"] == 0
    assert {"oauth_required", "not_mcp", "unreachable"} <= night["absent listings"].keys()
    assert access["crowded"] == []
    assert access["neighbours"] > SERVERS, "too few requests to say anything"
    assert access["closest seconds"] < 2 * found["gap"], "no request came near the gap, so nothing was shown"


def _night(folder: Path) -> dict[str, Any]:
    size = [
        "--servers",
        str(SERVERS),
        "--seed",
        str(SEED),
        "--nights",
        "1",
        "--workers",
        "2",
        "--together",
        "--pace",
        "0.05",
    ]
    quick = ["--set", "HALLMARK_SWEEP_EVERY=0.5", "--set", "HALLMARK_PLAN_EVERY=0.5", "--deadline", "400"]
    into = folder / "night.json"
    command = [sys.executable, "-m", "bench.night", *size, *quick, "--json", str(into)]
    done = subprocess.run(
        network.command_inside(command, folder),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(into.read_text())
    return found
