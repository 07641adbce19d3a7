"""`hallmark compact` says what it drops, and before there is anything to drop says so."""

from __future__ import annotations

from collections.abc import Sequence

from tests.workers.cli.conftest import Hallmark


def test_without_a_run_there_is_nothing_to_compact(hallmark: Hallmark) -> None:
    done = hallmark("compact")
    assert done.code == 3
    assert "no run yet" in done.err


def test_the_newest_records_are_left_alone(hallmark: Hallmark, stored: Sequence[str]) -> None:
    assert stored
    [said] = hallmark("compact", "--json").rows
    assert said["dry_run"] is False
    assert set(said["record_sets"].values()) <= {0}  # type: ignore[attr-defined]
    assert said["bodies"] == {"given_up": 0, "deleted": 0, "bytes": 0}
    assert "would delete the records of 0 servers" in hallmark("compact", "--dry-run").err
