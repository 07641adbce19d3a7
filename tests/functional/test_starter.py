"""The main job on real servers: what `make run` does, in a home and cache of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HALLMARK = Path(sys.executable).parent / "hallmark"


def _hallmark(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "HALLMARK_HOME": str(folder / "home"), "NO_COLOR": "1"}
    finished = subprocess.run([HALLMARK, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.live
@pytest.mark.sandbox
def test_the_starter_registry_is_measured_in_the_sandbox(tmp_path: Path) -> None:
    _hallmark(tmp_path, "run", "--registry", "starter", "--quiet", "--report", str(tmp_path / "report"))
    exported = [json.loads(line) for line in _hallmark(tmp_path, "export", "--comparable").splitlines()]
    listings = [server["records"]["listing"] for server in exported]
    assert sum(listing["absent"] is None for listing in listings) >= 12
    for server, listing in zip(exported, listings, strict=True):
        if listing["absent"] is not None:
            scores = [card["score"] for card in server["scorecards"]]
            assert all(isinstance(score, dict) or float(score) > 0 for score in scores), "absence is not zero"
    assert (tmp_path / "report" / "index.html").is_file()
