"""Output for people: rates, behaviour, merged caveats, and hints for an invalid target."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path

import click
import pytest
from msgspec.structs import replace
from rich.console import Console

from evidence.kinds import behaviour
from evidence.kinds.behaviour import Contact, Decoy
from evidence.model import Record
from evidence.store import StoreUnavailable
from publish.views.server_summary import MeasuredState, ServerRow, summarize_server
from scoring.receipt import decode_stored_scorecard
from scoring.results.scorecard import Line
from tests.publish import samples
from tests.publish.judged import whole
from tests.workers.cli.conftest import Hallmark
from workers.cli.display.console import print_data
from workers.cli.display.observations import show_observed
from workers.cli.display.receipts import render_receipt
from workers.cli.error_boundary import explain_failures
from workers.cli.measure.run_progress import TerminalProgress
from workers.cli.measure.run_result import make_run_table
from workers.cli.measure.scan_target import InvalidTarget, read_target
from workers.cli.results.servers import make_server_table
from workers.progress import StageStatus
from workers.stages.scorecards import score_dossier


@pytest.mark.parametrize(("rate", "pace"), [(12.34, "12.3/s"), (1.0, "1.0/s"), (0.02, "1.2/min")])
def test_a_slow_pace_is_shown_by_the_minute(rate: float, pace: str) -> None:
    said = StringIO()
    TerminalProgress(Console(file=said)).show(StageStatus(stage="collect", done=5, planned=24, rate=rate))
    assert said.getvalue() == f"Collecting: 5 of 24  {pace}\n"


def test_what_a_package_tried_is_shown_with_what_was_observed(capsys: pytest.CaptureFixture[str]) -> None:
    dossier = samples.dossiers(1)[0]
    seen = behaviour.build_behaviour(
        contacts=[Contact("192.0.2.1", 443)], names=["api.example.com"], decoys=[Decoy(".netrc")]
    )
    record = Record(
        server=dossier.server.id,
        kind=behaviour.KIND,
        schema=behaviour.SCHEMA,
        collector="protocol",
        collector_version=1,
        observed_at=dossier.as_of,
        content=seen.observed(),
    )
    show_observed(replace(dossier, records={behaviour.KIND: record}))
    printed = capsys.readouterr().out
    assert "Behaviour in the sandbox" in printed
    assert all(word in printed for word in ("api.example.com", "192.0.2.1:443", ".netrc (opened)"))


def test_criteria_of_which_the_same_is_said_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    card = samples.cards(samples.dossiers(1)[0])[0]
    said = ("A1 is unknown.", "S1 is unknown.", "S2 is not.", "It is thin.", "It is not.")
    print_data(render_receipt(replace(card, caveats=said)))
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:5] == ["  A1, S1: each is unknown.", "  S2 is not.", "  It is thin.", "  It is not."]


def test_lines_of_a_rule_are_one_row_with_count_total_and_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    lines = tuple(
        Line(
            cites="LLM-004",
            points=Decimal("-0.5"),
            why="no description",
            rule="param-description-missing",
            at=f"tools/read/{name}",
        )
        for name in ("order", "size", "unit")
    )
    card = replace(samples.cards(samples.dossiers(1)[0])[0], lines=lines, dimensions=())
    print_data(render_receipt(card))
    printed = capsys.readouterr().out
    assert re.search(r"−1\.5 +tools/read/order and 2 more +3 times: no description", printed)
    assert "param-description-missing: Add a `description` string" in printed
    assert "tools/read/size" not in printed
    print_data(render_receipt(card, details=True))
    every = capsys.readouterr().out
    assert all(line.at in every for line in lines)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("left-pad", "npm:left-pad or pypi:left-pad"), ("a/server.json", "no such file"), (".", "run --registry .")],
)
def test_an_invalid_target_gets_a_hint(text: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidTarget, match=hint):
        read_target(text)


@pytest.mark.parametrize(
    "words",
    [
        "night list",
        "disputes list",
        "retests",
        "tokens list",
        "audit",
        "opt-out list",
        "control list",
        "control webhooks",
    ],
)
def test_a_list_of_nothing_says_so(hallmark: Hallmark, stored: Sequence[str], words: str) -> None:
    result = hallmark(*words.split())
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("no ")


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "error: No space left on device. Free some space"),
        (OSError(errno.EROFS, "Read-only file system", "/x/run.lock"), "error: Read-only file system: /x/run.lock\n"),
        (StoreUnavailable("refused\n Is it running?"), "error: refused Is it running. `hallmark doctor` checks it\n"),
    ],
)
def test_a_failure_of_the_machine_is_one_line(
    error: Exception, start: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(click.exceptions.Exit), explain_failures():
        raise error
    said = capsys.readouterr().err
    assert said.startswith(start)
    assert said.count("\n") == 1


@pytest.mark.parametrize(("columns", "tabled"), [(60, False), (80, False), (115, True), (160, True)])
def test_a_list_that_does_not_fit_as_a_table_has_a_block_for_each_server(
    columns: int, tabled: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    row = ServerRow(
        id="srv_1",
        ref="npm:@modelcontextprotocol/server-everything",
        name="io.github.modelcontextprotocol/server-everything",
        state=MeasuredState.MEASURED,
        reason=None,
        detail="",
        tools=13,
        marks=(),
    )
    cards = samples.cards(samples.dossiers(1)[0])
    five = [replace(cards[0], rubric=name) for name in ("adaptive", "enterprise", "lint", "sdk_tier", "tool_design")]
    print_data(make_server_table([(row, five)]))
    printed = capsys.readouterr().out.splitlines()
    assert ("Coverage" in printed[0]) is tabled
    assert all(len(line) <= columns for line in printed)
    assert sum(len(line.split()[0]) < 5 for line in printed if line.strip()) == 0, "no name is broken into letters"


@pytest.mark.parametrize("columns", [80, 100])
def test_names_of_dimensions_are_not_broken_into_letters(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stored = next(one for one in score_dossier(whole()) if one.rubric == "adaptive")
    card = decode_stored_scorecard(stored.body)
    print_data(render_receipt(card))
    printed = capsys.readouterr().out
    assert all(len(line) <= columns for line in printed.splitlines())
    words = {word for part in card.dimensions for one in part.components for word in one.name.split("_")}
    assert {"authentication", "responsiveness"} <= words <= set(printed.split())


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_the_table_of_a_run_has_one_line_for_each_server(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    dossiers = samples.dossiers(8)
    rows = [(summarize_server(one, samples.cards(one)), samples.cards(one)) for one in dossiers]
    long = replace(rows[0][0], name="io.github.modelcontextprotocol/" + "x" * 60 + "-the-end")
    print_data(make_run_table([(long, rows[0][1]), *rows[1:]]))
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 1 + len(rows)
    assert all(len(line) <= columns for line in printed)
    assert "-the-end " in printed[1] and printed[1].startswith("…")
    assert all(str(row.tools) in line for (row, _), line in zip(rows, printed[1:], strict=True) if row.tools)


def test_a_scan_with_network_access_shows_the_allowed_hosts(
    hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALLMARK_SANDBOX", "off")
    hosts = ["--network", "allow:b.example:8443", "--network", "allow:a.example", "--network", "stub:c.example"]
    said = " ".join(hallmark("scan", *hosts, "--rubric", "lint", "--", "python", "server.py").err.split())
    assert "may reach a.example, b.example. The evidence records this" in said
    assert "answers for c.example with an empty JSON object. The evidence records this" in said


@pytest.mark.parametrize(("columns", "shown"), [("80", False), ("160", True)])
def test_what_a_check_is_needed_for_gives_way_to_what_to_do(
    hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch, columns: str, shown: bool
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    heading = hallmark("doctor").out.splitlines()[0]
    assert "What to do" in heading
    assert ("Needed for" in heading) is shown
