from __future__ import annotations

from collections.abc import Sequence

from tests.workers.cli.conftest import Hallmark


def test_rescore_prints_who_moved_and_leaves_the_first_run_alone(hallmark: Hallmark, stored: Sequence[str]) -> None:
    before = hallmark("export", "--run", "run_2026", "--comparable").out
    rows = hallmark("rescore", "--rubric", "lint@1", "--rubric", "adaptive@1", "--json").rows
    moves, result = rows[:-1], rows[-1]
    assert (result["event"], result["servers"], result["failed"]) == ("result", len(stored), {})
    assert moves, "the stored receipts were made up"
    assert list(moves[0]) == ["event", "server", "ref", "from", "to", "points", "turn", "shifts"]
    assert {move["to"]["rubric"] for move in moves} <= {"lint@1", "adaptive@1"}  # type: ignore[index]
    assert hallmark("export", "--run", "run_2026", "--comparable").out == before
    new = hallmark("list", "--run", str(result["run"]), "--json").rows
    assert {name for row in new for name in row["scores"]} == {"lint@1", "adaptive@1"}  # type: ignore[attr-defined]


def test_rescored_twice_is_one_run(hallmark: Hallmark, stored: Sequence[str]) -> None:
    first = hallmark("rescore", "run_2026", "--rubric", "lint@1")
    assert first.code == 0
    assert "servers changed, compared with run" in first.err
    assert hallmark("rescore", "run_2026", "--rubric", "lint@1").out == first.out
    assert len(hallmark("runs", "--json").rows) == 2
    assert "lint" in first.out


def test_rescore_names_what_is_missing(hallmark: Hallmark, stored: Sequence[str]) -> None:
    assert hallmark("rescore", "nonsense").code == 2
    unknown = hallmark("rescore", "--rubric", "lint@99")
    assert unknown.code == 2
    assert "lint@1" in unknown.err
