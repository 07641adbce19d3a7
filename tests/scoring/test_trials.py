"""What trials do to a score: errors of ours and of the world never cost a server anything."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import trials
from evidence.model import Absent, Dossier, Observed, Reason, Record
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore
from scoring.rubrics.adaptive import ADAPTIVE_1
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from tests.dossiers import AS_OF
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed


def row(outcome: str = "result", kind: str = "call", tool: str = "get-record", **members: Any) -> dict[str, Any]:
    return {"tool": tool, "index": 0, "class": "read", "kind": kind, "outcome": outcome, **members}


def tried(*rows: dict[str, Any]) -> Observed:
    return Observed(json.dumps({"policy": "read", "trials": rows, "skipped": [], "unlisted": 0}).encode())


def with_trials(content: Observed | Absent) -> Dossier:
    base = dossier(listed=listed(GOOD_TOOL))
    record = Record(
        server=base.server.id,
        kind=trials.KIND,
        schema=1,
        collector="test",
        collector_version=1,
        observed_at=AS_OF,
        content=content,
    )
    return replace(base, records={**base.records, trials.KIND: record})


def error_handling(content: Observed | Absent) -> ComponentScore:
    card = ADAPTIVE_1.score(assess_dossier(with_trials(content), [ADAPTIVE_1]))
    [reliability] = [part for part in card.dimensions if part.name == "reliability"]
    return next(part for part in reliability.components if part.name == "error_handling")


def test_a_server_that_handles_everything_well_loses_nothing() -> None:
    found = error_handling(
        tried(
            row(structured="valid"),
            row("tool_error", "invalid_type", text="id: a string is expected"),
            row("protocol_error", "missing_required", code=-32602, text="id is required"),
        )
    )
    assert (found.result, found.lines) == (Decimal(10), ())


def test_each_fault_costs_its_check() -> None:
    good = row(structured="valid")
    results = [
        error_handling(tried(good, bad)).result
        for bad in (
            row("protocol_error", code=-32601, text="Method not found"),
            row(structured="missing"),
            row("result", "invalid_type"),
            row("tool_error", "missing_required", text=""),
        )
    ]
    assert all(isinstance(result, Decimal) and result < 10 for result in results)


@pytest.mark.parametrize(
    "passing",
    [
        row("failure", reason="timeout", detail="no answer"),
        row("failure", reason="rate_limited", detail="HTTP 429"),
        row("failure", reason="unreachable", detail="HTTP 503 to tools/call"),
        row("failure", "invalid_type", reason="unreachable", detail="connection closed"),
        row("tool_error", "missing_required", text="Set NOTES_API_KEY", locked=True),
        row("input_required"),
        row("an outcome of next year"),
    ],
    ids=lambda passing: f"{passing['outcome']}-{passing.get('reason', '')}",
)
def test_what_is_inconclusive_costs_nothing(passing: dict[str, Any]) -> None:
    good = row(structured="valid")
    assert error_handling(tried(good, passing)).result == error_handling(tried(good)).result == Decimal(10)


@pytest.mark.parametrize("reason", [Reason.WRITE_ONLY, Reason.OPTED_OUT, Reason.CREDENTIALS_REQUIRED])
def test_a_server_whose_tools_may_not_be_called_is_not_measured_there(reason: Reason) -> None:
    assert error_handling(Absent(reason, "why")).result == NotMeasured(reason.value, "why")


def test_no_call_at_all_is_nothing_to_check_and_not_a_zero() -> None:
    assert isinstance(error_handling(tried()).result, NotMeasured)


def test_a_partial_card_says_that_no_tool_was_called_and_why() -> None:
    card = ADAPTIVE_1.score(assess_dossier(with_trials(Absent(Reason.WRITE_ONLY, "why")), [ADAPTIVE_1]))
    assert any("none of its tools was called (write_only)" in caveat for caveat in card.caveats)


@pytest.mark.parametrize("outcome", ["tool_error", "protocol_error"])
@pytest.mark.parametrize(
    "mistakes",
    [
        [],
        [row("tool_error", "invalid_type", text="id: a string is expected")],
        [row("tool_error", kind, text="id: a string is expected") for kind in ("invalid_type", "missing_required")],
    ],
)
def test_a_tool_that_answers_with_an_error_is_worth_no_more_than_one_that_works(
    outcome: str, mistakes: list[dict[str, Any]]
) -> None:
    text = "No note is called example."
    failing = [row(outcome, tool=f"get-{number}", code=-32602, text=text) for number in range(3)]
    working = [row(tool=f"get-{number}") for number in range(3)]

    def floor(*rows: dict[str, Any]) -> Decimal | None:
        card = ADAPTIVE_2.score(assess_dossier(with_trials(tried(*rows, *mistakes)), [ADAPTIVE_2]))
        [found] = [part.floor for one in card.dimensions for part in one.components if part.name == "error_handling"]
        return found

    with_errors, without = floor(*failing), floor(*working)
    assert with_errors is not None
    assert without is not None
    assert with_errors <= without


def test_errors_that_say_nothing_else_still_are_observations() -> None:
    """A protocol error may be about our values, so no other check judges it; what it says is judged."""
    one = tried(row("protocol_error", code=-32602, text="No note is called example."))
    card = ADAPTIVE_2.score(assess_dossier(with_trials(one), [ADAPTIVE_2]))
    [found] = [part for each in card.dimensions for part in each.components if part.name == "error_handling"]
    assert found.checked == 1
