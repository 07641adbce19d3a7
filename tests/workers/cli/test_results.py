from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from evidence.store import Store
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from tests.dossiers import captures
from tests.publish import samples
from tests.workers.cli.conftest import Hallmark
from workers.cli.results.servers import _columns

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
MARK = ["caps", "status", "score", "grade", "coverage", "floor", "ceiling", "thin"]
READING = [
    ["runs"],
    ["list"],
    ["show", samples.hostile_dossier().server.id, "--evidence"],
    ["show", "npm:absent-start_failed", "--evidence"],
    ["explain", samples.hostile_dossier().server.id],
    ["export"],
    ["export", "--format", "csv"],
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_nothing_hostile_reaches_the_terminal(hallmark: Hallmark, stored: Sequence[str], words: list[str]) -> None:
    result = hallmark(*words)
    assert result.code == 0
    assert result.out
    assert not CONTROL.search(result.out.replace("\r\n", "\n"))


@pytest.mark.parametrize("words", [[*words, "--json"] for words in READING[:5]], ids=" ".join)
def test_json_is_one_object_per_line_and_plain_ascii(
    hallmark: Hallmark, stored: Sequence[str], words: list[str]
) -> None:
    words = [word for word in words if word != "--evidence"]
    result = hallmark(*words)
    assert result.code == 0
    assert all(isinstance(row, dict) for row in result.rows)
    assert result.out.isascii()
    assert not CONTROL.search(result.out)


def test_without_a_run_every_reader_says_what_to_do(hallmark: Hallmark) -> None:
    for words in (["list"], ["runs"], ["show", "x"], ["export"], ["report", "latest", "r"]):
        result = hallmark(*words)
        assert (result.code, result.out) == (3, "")
        assert "hallmark run" in result.err


def test_list_rows_have_these_members(hallmark: Hallmark, stored: Sequence[str]) -> None:
    rows = hallmark("list", "--json").rows
    assert {row["server"] for row in rows} == set(stored)
    assert all(list(row) == ["server", "ref", "name", "state", "absent", "tools", "scores"] for row in rows)
    scores = [score for row in rows for score in row["scores"].values()]  # type: ignore[attr-defined]
    assert all(list(score) == MARK for score in scores)
    absent = next(row for row in rows if row["ref"] == "npm:absent-start_failed")
    assert absent["absent"]["reason"] == "start_failed"  # type: ignore[index]
    bounds = {"coverage": "0", "floor": "0", "ceiling": "100"}
    nothing = {"caps": [], "status": "start_failed", "score": None, "grade": None, **bounds, "thin": False}
    assert absent["scores"]["lint@1"] == nothing  # type: ignore[index]


def test_list_is_sorted_by_score_with_the_absent_last(hallmark: Hallmark, stored: Sequence[str]) -> None:
    rows = hallmark("list", "--json").rows
    states = [row["absent"] is not None for row in rows]
    assert states == sorted(states)
    scores = [float(row["scores"]["adaptive@1"]["score"]) for row in rows if row["absent"] is None]  # type: ignore[index]
    assert scores == sorted(scores, reverse=True)


def test_list_can_be_narrowed(hallmark: Hallmark, stored: Sequence[str]) -> None:
    assert len(hallmark("list", "--limit", "3", "--json").rows) == 3
    only = hallmark("list", "--absent", "start_failed", "--json").rows
    assert [row["ref"] for row in only] == ["npm:absent-start_failed"]
    one = hallmark("list", "--rubric", "lint", "--json").rows
    assert {key for row in one for key in row["scores"]} == {"lint@1"}  # type: ignore[attr-defined]
    two = hallmark("list", "--rubric", "lint@1", "--rubric", "adaptive@1", "--json").rows
    assert {tuple(row["scores"]) for row in two} == {("lint@1", "adaptive@1")}  # type: ignore[arg-type]


def test_export_can_be_narrowed_to_rubrics(hallmark: Hallmark, stored: Sequence[str]) -> None:
    rows = hallmark("export", "--rubric", "lint@1").rows
    assert {card["rubric"] for row in rows for card in row["scorecards"]} == {"lint"}  # type: ignore[attr-defined]
    assert len(hallmark("export", "--rubric", "lint@1", "--format", "csv").out.splitlines()) == len(stored) + 1


def test_list_reads_no_evidence(hallmark: Hallmark, stored: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("list read a dossier")

    monkeypatch.setattr(Store, "read_dossiers", refuse)
    assert len(hallmark("list", "--json").rows) == len(stored)
    assert hallmark("list").code == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["list", "--absent", "nonsense"], "oauth_required"),
        (["list", "--rubric", "nonsense"], "adaptive@1"),
        (["list", "--run", "nonsense"], "hallmark runs"),
        (["show", "com.example"], "matches"),
    ],
)
def test_wrong_names_are_wrong_usage_and_name_the_right_ones(
    hallmark: Hallmark, stored: Sequence[str], words: list[str], hint: str
) -> None:
    result = hallmark(*words)
    assert result.code == 2
    assert hint in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("columns", ["40", "60", "80", "200"])
def test_no_width_cuts_a_name(
    hallmark: Hallmark, stored: Sequence[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    printed = hallmark("list").out
    assert all(len(line) <= int(columns) for line in printed.splitlines())
    for dossier in samples.dossiers(10):
        assert dossier.server.name in printed
        assert dossier.server.ref in printed or columns == "80", "80 columns have room for a table, not for references"


@pytest.mark.parametrize(("columns", "ruled"), [("80", False), ("109", False), ("110", True), ("160", True)])
def test_where_there_is_little_room_the_rule_gives_way(
    hallmark: Hallmark, stored: Sequence[str], monkeypatch: pytest.MonkeyPatch, columns: str, ruled: bool
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    dossier = samples.dossiers(10)[0]
    (card,) = (card for card in samples.cards(dossier) if card.rubric == "lint")
    assert {line.rule for line in card.lines} != {line.cites for line in card.lines}
    printed = hallmark("show", dossier.server.ref, "--rubric", "lint@1", "--details").out
    for line in card.lines:
        assert (f"{line.rule}" in printed) is ruled
        (row,) = (row for row in printed.splitlines() if line.cites in row and line.at in row)
        assert line.why in row, "no cell is broken"


def test_show_prints_every_line_of_every_receipt(hallmark: Hallmark, stored: Sequence[str]) -> None:
    dossier = samples.dossiers(10)[2]
    printed = hallmark("show", dossier.server.ref, "--details").out
    for card in samples.cards(dossier):
        assert f"{card.rubric}@1" in printed
        for line in card.lines:
            assert line.at in printed
            assert line.why in printed
    assert "Coverage" not in printed
    assert "coverage 40 %" in printed
    assert "37.5 %" in printed


def test_show_says_what_to_do_about_an_absence(hallmark: Hallmark, stored: Sequence[str]) -> None:
    printed = hallmark("show", "npm:absent-start_failed").out
    assert "Could not be tested: start failed" in printed
    assert "What to do: Start it without arguments" in printed
    assert "no score" in printed


def test_show_json_has_these_members(hallmark: Hallmark, stored: Sequence[str]) -> None:
    (row,) = hallmark("show", stored[0], "--json").rows
    assert list(row) == ["run", "server", "records", "scorecards"]
    (one,) = hallmark("show", stored[0], "--json", "--rubric", "lint@1").rows
    assert [card["rubric"] for card in one["scorecards"]] == ["lint"]  # type: ignore[attr-defined]


def test_explain_knows_rules_rubrics_and_servers(hallmark: Hallmark, stored: Sequence[str]) -> None:
    everything = [row["id"] for row in hallmark("explain", "--json").rows]
    assert {"lint@1", "adaptive@1", "tool-description-missing"} <= set(everything)
    assert "Cited by" in hallmark("explain", "tool-description-missing").out
    assert "Settled by us" in hallmark("explain", "lint").out
    assert "Formula" in hallmark("explain", "lint@1").out
    assert "Charged by" in hallmark("explain", "TOOL-NO-DESCRIPTION").out
    assert "lint@1: " in hallmark("explain", stored[0], "--verbose").out
    assert " adaptive@1, " in hallmark("explain", stored[0]).out
    assert hallmark("explain", "lint@99").code == 2
    nothing = hallmark("explain", "no-such-thing-anywhere")
    assert nothing.code == 3
    assert "`hallmark explain` lists rules" in nothing.err


def test_paragraphs_of_an_explanation_stay_apart(hallmark: Hallmark) -> None:
    lines = hallmark("explain", "param-path-unchecked").out.splitlines()
    assert lines[1] == lines[3] == ""
    assert lines[4].startswith("`literal` judges only")


def test_explaining_a_server_says_what_to_change_and_what_it_brings(hallmark: Hallmark, stored: Sequence[str]) -> None:
    words = ["explain", samples.dossiers(10)[2].server.ref, "--rubric", "lint@1"]
    printed = hallmark(*words, "--verbose")
    assert "What to change for lint@1" in printed.out
    assert "Fixing everything would bring +" in printed.out
    (row,) = hallmark(*words, "--json").rows
    assert [row["rubric"], row["version"]] == ["lint", "1"]
    first = row["remedies"][0]  # type: ignore[index]
    assert list(first) == ["rule", "title", "cites", "gain", "places"]
    assert list(first["places"][0]) == ["at", "why", "gain_alone"]


def test_export_writes_all_files_into_a_folder(hallmark: Hallmark, stored: Sequence[str], tmp_path: Path) -> None:
    done = hallmark("export", "--all", str(tmp_path / "all"))
    assert (done.code, done.out) == (0, "")
    assert {path.name for path in (tmp_path / "all").iterdir()} >= {"servers.jsonl", "scores.csv", "comparable.jsonl"}
    assert (tmp_path / "all" / "comparable.jsonl").read_text() == hallmark("export", "--comparable").out
    assert hallmark("export", "--all", str(tmp_path / "all"), "--rubric", "lint").code == 2


def test_export_writes_only_data_to_stdout(hallmark: Hallmark, stored: Sequence[str], tmp_path: Path) -> None:
    result = hallmark("export", "--comparable")
    assert len(result.rows) == len(stored)
    assert "12 servers" in result.err
    assert hallmark("export", "--comparable", "-o", str(tmp_path / "x.jsonl")).out == ""
    assert (tmp_path / "x.jsonl").read_text() == result.out


def test_report_prints_where_it_is_and_keeps_other_files(
    hallmark: Hallmark, stored: Sequence[str], tmp_path: Path
) -> None:
    result = hallmark("report", "latest", str(tmp_path / "report"))
    assert result.code == 0
    assert Path(result.out.strip()).read_text().startswith("<!doctype html>")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("")
    taken = hallmark("report", "latest", str(tmp_path / "mine"))
    assert taken.code == 2
    assert "another folder" in taken.err


def test_a_run_is_found_by_the_beginning_of_its_id(hallmark: Hallmark, stored: Sequence[str]) -> None:
    assert hallmark("list", "--run", "run_2026", "--json").rows == hallmark("list", "--json").rows
    (row,) = hallmark("runs", "--json").rows
    assert list(row) == ["run", "as_of", "trigger", "state", "note", "planned", "collected", "scored", "pins"]


def test_output_to_a_pipe_has_no_escape_codes(process: Hallmark, hallmark: Hallmark, stored: Sequence[str]) -> None:
    said = [process("list"), *(hallmark(*words) for words in (["show", stored[0]], ["settings"], ["doctor"]))]
    for result in said:
        assert "\x1b" not in result.out + result.err
        assert all(line == line.rstrip() for line in result.out.splitlines())


def test_no_color_is_honoured_where_colour_is_forced(process: Hallmark, stored: Sequence[str]) -> None:
    coloured = process("list", env={"FORCE_COLOR": "1"})
    assert re.search("\x1b\\[[0-9;]*3[0-9]", coloured.out)
    plain = process("list", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", plain.out)


def test_json_of_the_console_script_is_json(process: Hallmark, hallmark: Hallmark, stored: Sequence[str]) -> None:
    assert len(process("list", "--json").rows) == len(stored)
    assert json.loads(hallmark("version", "--json").out)["rubric.lint@1"]


def test_a_rubric_that_scored_no_server_has_no_column() -> None:
    asked = [catalogue.get_rubric(name) for name in ("lint@1", "sdk_tier@1")]
    assessment = assess_dossier(next(iter(captures().values())), asked)
    scored, unscored = (rubric.score(assessment) for rubric in asked)
    assert _columns([scored, unscored]) == [("lint", 1)]
    assert _columns([unscored]) == [("sdk_tier", 1)]
