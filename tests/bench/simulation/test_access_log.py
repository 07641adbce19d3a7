"""The proof of politeness can fail, and says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.simulation.access_log import Access, Stall, check, read, read_stalls

GAP = 0.6


def at(start: float, end: float, host: str = "h1.fleet.example") -> Access:
    return Access(host, start, end, 1, "POST", 200)


def test_requests_that_keep_the_gap_are_not_crowded() -> None:
    verdict = check([at(0.0, 0.3), at(0.9, 1.2), at(1.81, 2.0)], GAP)
    assert verdict.crowded == ()
    assert (verdict.requests, verdict.hosts, verdict.neighbours) == (3, 1, 2)
    assert verdict.closest == pytest.approx(0.6)


def test_a_request_too_soon_after_the_last_answer_is_found() -> None:
    verdict = check([at(0.0, 0.3), at(0.85, 1.2)], GAP)
    assert [round(one.distance, 3) for one in verdict.crowded] == [0.55]


def test_two_requests_at_once_are_found_even_without_a_gap() -> None:
    verdict = check([at(0.0, 2.0), at(1.0, 1.5)], 0.0)
    assert [round(one.distance, 3) for one in verdict.crowded] == [-1.0]


def test_a_long_request_hides_no_later_one() -> None:
    verdict = check([at(0.0, 9.0), at(1.0, 1.5), at(8.0, 8.5)], GAP)
    assert [round(one.distance, 3) for one in verdict.crowded] == [-8.0, -1.0]


@pytest.mark.parametrize(("start", "crowded"), [(10.56, 0), (10.5, 1), (9.9, 1)])
def test_when_a_visitor_gave_up_is_seen_late(start: float, crowded: int) -> None:
    given_up = Access("h1.fleet.example", 0.0, 10.0, 1, "POST", 0)
    assert len(check([given_up, at(start, 11.0)], GAP).crowded) == crowded


@pytest.mark.parametrize(
    ("stall", "crowded"),
    [(Stall(9.6, 10.0), 0), (Stall(9.6, 9.97), 0), (Stall(9.6, 9.9), 1), (Stall(9.9, 10.0), 1), (Stall(10.0, 10.4), 1)],
)
def test_who_gave_up_while_the_fleet_stood_still_did_so_at_its_beginning(stall: Stall, crowded: int) -> None:
    given_up = Access("h1.fleet.example", 0.0, 10.0, 1, "POST", 0)
    verdict = check([given_up, at(10.2, 11.0)], GAP, [stall])
    assert (len(verdict.crowded), verdict.seen_late) == (crowded, 1 - crowded)


def test_a_stall_does_not_excuse_a_request_that_was_answered_before_it() -> None:
    assert len(check([at(0.0, 10.0), at(10.2, 11.0)], GAP, [Stall(9.6, 10.0)]).crowded) == 1


def test_requests_and_stalls_are_read_separately(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(at(0.0, 0.3).line() + Stall(0.5, 0.9).line())
    assert read([log]) == [at(0.0, 0.3)]
    assert read_stalls([log]) == [Stall(0.5, 0.9)]


def test_hosts_do_not_wait_for_each_other() -> None:
    assert check([at(0.0, 1.0), at(0.0, 1.0, "h2.fleet.example")], GAP).crowded == ()


def test_the_order_of_the_lines_does_not_matter() -> None:
    crowded = [at(0.85, 1.2), at(0.0, 0.3)]
    assert check(crowded, GAP) == check(crowded[::-1], GAP)


def test_logs_of_several_processes_are_one(tmp_path: Path) -> None:
    logs = [tmp_path / "one.log", tmp_path / "two.log"]
    logs[0].write_text(at(0.0, 0.3).line())
    logs[1].write_text(at(0.31, 0.4).line())
    assert len(check(read(logs), GAP).crowded) == 1


def test_a_broken_line_is_no_proof(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text("h1 0.0 what 1 POST 200\n")
    with pytest.raises(ValueError, match="not a line"):
        read([log])
