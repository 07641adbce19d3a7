"""`make impact` says who moved and by which lines."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "infra" / "impact.py"


@pytest.fixture(scope="module")
def impact() -> ModuleType:
    spec = importlib.util.spec_from_file_location("impact", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["impact"] = module
    spec.loader.exec_module(module)
    return module


def card(score: str, *lines: tuple[str, str, str], grade: str = "") -> dict[str, object]:
    return {"score": score, "grade": grade, "lines": [list(line) for line in lines]}


def test_a_move_names_the_lines_that_came_and_went(impact: ModuleType) -> None:
    before = {"one": {"lint@1": card("80", ("a", "tools/x", "-5"), ("b", "tools/y", "-15"))}}
    after = {"one": {"lint@1": card("90", ("a", "tools/x", "-5"), ("c", "tools/z", "-5"))}}
    (moved,) = impact.find_moves(before, after)
    assert (moved.dossier, moved.rubric, moved.before, moved.after) == ("one", "lint@1", "80", "90")
    assert moved.shifts == ("+15.00 b (-1 lines, such as tools/y)", "-5.00 c (+1 lines, such as tools/z)")
    assert "80 -> 90\n    +15.00 b" in moved.text


def test_equal_scores_have_not_moved_and_a_grade_alone_has(impact: ModuleType) -> None:
    before = {"one": {"lint@1": card("80", ("a", "", "-20"))}, "two": {"lint@1": card("80", grade="B")}}
    after = {"one": {"lint@1": card("80", ("b", "", "-20"))}, "two": {"lint@1": card("80", grade="C")}}
    (moved,) = impact.find_moves(before, after)
    assert (moved.dossier, moved.before, moved.after, moved.shifts) == ("two", "80 B", "80 C", ())


def test_what_is_new_or_gone_is_said_once(impact: ModuleType) -> None:
    before = {"one": {"lint@1": card("80")}, "old": {"lint@1": card("1")}}
    after = {"one": {"lint@2": card("80")}, "new": {"lint@2": card("1")}}
    assert list(impact.find_moves(before, after)) == []
    expected = ["new dossier new", "dossier old is gone", "new rubric lint@2", "rubric lint@1 is gone"]
    assert list(impact.list_differences(before, after)) == expected


def test_every_recorded_dossier_is_scored_under_every_rubric(impact: ModuleType) -> None:
    found = impact.score_all()
    assert len(found) >= 229
    assert {"lint@1", "adaptive@1"} <= set(found["arxiv-mcp-server"])
    assert found["arxiv-mcp-server"]["lint@1"]["score"] == "71"
    assert ["tool-long-description", "tools/search_papers", "-5"] in found["arxiv-mcp-server"]["lint@1"]["lines"]
    assert {"control-dual", "abandoned"} <= found.keys(), "full probes, and projects with evidence of every kind"


def test_a_revision_that_is_none_is_named() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--base", "no-such"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "expected a revision" in done.stderr
