from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from evidence.store import open_store
from tests.dossiers import captures
from tests.publish.filled_stores import fill
from tests.workers.cli.conftest import Hallmark

MEMBERS = {"corpus", "rubric", "ruleset", "run", "as_of", "values", "published", "proposed", "deciles", "deviation"}


@pytest.fixture
def scored(hallmark: Hallmark, home: Path) -> str:
    """A run of three captures that was scored with the rules of this version."""
    home.mkdir()
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    fill(store, [captures()[name] for name in ("mcp-server-git", "mcp-server-time", "excel-mcp-server")])
    store.close()
    done = hallmark("rescore")
    assert done.code == 0, done.err
    return str(hallmark("runs", "--json").rows[0]["run"])


def test_the_distribution_counts_every_score_of_the_run(hallmark: Hallmark, scored: str) -> None:
    (row,) = hallmark("calibrate", scored, "--json").rows
    listed = hallmark("list", "--run", scored, "--rubric", "adaptive@2", "--json").rows
    scores = [one["scores"]["adaptive@2"]["score"] for one in listed]  # type: ignore[index]
    assert sorted(float(score) for score in scores if score is not None) == row["values"]
    assert row["without_score"] == scores.count(None)
    for table in ("published", "proposed"):
        assert sum(share["count"] for share in row[table]) == row["count"] == len(row["values"])  # type: ignore[attr-defined,arg-type]


def test_a_table_is_written_with_its_versions(hallmark: Hallmark, scored: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    result = hallmark("calibrate", scored, "--corpus", "mine", "--output", str(file))
    assert result.code == 0, result.err
    table = json.loads(file.read_text())
    assert table.keys() >= MEMBERS
    assert (table["hallmark_calibration"], table["corpus"], table["rubric"], table["run"]) == (
        1,
        "mine",
        "adaptive@2",
        scored,
    )
    assert "standard deviation" in result.out and "Proposed" in result.out
    assert result.out.count("#") >= 1


def test_a_run_without_such_scores_says_what_to_do(hallmark: Hallmark, stored: Sequence[str]) -> None:
    result = hallmark("calibrate", "run_2026")
    assert (result.code, result.out) == (3, "")
    assert "hallmark rescore" in result.err
