from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Reason, Run
from evidence.store import Store, UnknownRun
from publish.formats.csv_columns import CSV_COLUMNS, make_safe_cell, render_column_reference
from publish.publication import run_export
from publish.views import public_servers
from tests.publish import observed, projects, samples

Make = Callable[..., Store]
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "schemas" / "dataset.md"


def exported(
    store: Store, run: Run = samples.RUN, *, form: run_export.FileFormat = "jsonl", comparable: bool = False
) -> bytes:
    out = io.BytesIO()
    run_export.export_run(store, run.id, out, format=form, comparable=comparable)
    return out.getvalue()


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def later(dossiers: Sequence[Dossier], by: timedelta) -> list[Dossier]:
    """The same evidence seen at another time, with other durations."""
    return [
        replace(
            dossier,
            as_of=dossier.as_of + by,
            records={
                kind: replace(
                    record, observed_at=record.observed_at + by, observation={"durations_ms": {"opening": 99999}}
                )
                for kind, record in dossier.records.items()
            },
        )
        for dossier in dossiers
    ]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_equal_evidence_at_another_time_gives_equal_comparable_bytes(
    make_store: Make, form: run_export.FileFormat
) -> None:
    dossiers = [*samples.dossiers(20)[1:], observed.talkative()]
    run = replace(samples.RUN, id="run_later", as_of=samples.AS_OF + timedelta(days=1))
    first, second = make_store(dossiers), make_store(later(dossiers[::-1], timedelta(days=1)), run)
    assert exported(first, form=form, comparable=True) == exported(second, run, form=form, comparable=True)
    assert exported(first, form=form) != exported(second, run, form=form)


def test_other_evidence_gives_other_comparable_bytes(make_store: Make) -> None:
    first = make_store([samples.absent_dossier(Reason.TIMEOUT, "opening")])
    second = make_store([samples.absent_dossier(Reason.TIMEOUT, "listing")])
    assert exported(first, comparable=True) != exported(second, comparable=True)


def test_comparable_lines_hold_no_run_time_or_duration(make_store: Make) -> None:
    text = exported(make_store([*samples.dossiers(12)[1:], observed.talkative()]), comparable=True).decode()
    assert samples.RUN.id not in text
    assert "2026-03-01" not in text
    assert "duration" not in text
    assert '"ms"' not in text


def test_lines_are_sorted_by_server_across_batches(make_store: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_servers, "BATCH_SIZE", 7)
    ids = [json.loads(line)["server"]["id"] for line in exported(make_store(samples.dossiers(40))).splitlines()]
    assert ids == sorted(ids)
    assert len(set(ids)) == 40


def test_a_line_has_records_with_digests_and_whole_receipts(make_store: Make) -> None:
    dossier = samples.dossiers(1)[0]
    line = json.loads(exported(make_store([dossier])))
    assert line["run"]["id"] == samples.RUN.id
    assert line["records"]["listing"]["digest"] == dossier.records["listing"].digest
    assert line["records"]["listing"]["absent"] is None
    adaptive, lint = line["scorecards"]
    assert (adaptive["rubric"], lint["rubric"]) == ("adaptive", "lint")
    assert {part["name"] for part in adaptive["dimensions"]} == {"schema_quality", "trust", "reliability"}
    assert all({"cites", "points", "why", "at"} <= line.keys() for line in lint["lines"])


def test_a_line_has_every_kind_that_was_observed(make_store: Make) -> None:
    dossier = observed.talkative()
    line = json.loads(exported(make_store([dossier])))
    assert {kind: record["digest"] for kind, record in line["records"].items()} == {
        kind: record.digest for kind, record in dossier.records.items()
    }
    assert line["records"]["samples"]["observation"]["samples"]
    assert line["records"]["access"]["observation"] == {}


def test_an_absent_server_has_a_reason_and_no_score(make_store: Make) -> None:
    store = make_store([samples.absent_dossier(Reason.OAUTH_REQUIRED, "HTTP 401")])
    line = json.loads(exported(store))
    assert line["records"]["listing"]["absent"] == {"reason": "oauth_required", "detail": "HTTP 401"}
    assert line["scorecards"][1]["score"]["not_measured"] == "oauth_required"
    row = next(row for row in rows(exported(store, form="csv")) if row["rubric"] == "lint")
    assert (row["score"], row["not_measured"], row["listing_absent"]) == ("", "oauth_required", "oauth_required")


def test_csv_has_one_row_per_server_and_rubric(make_store: Make) -> None:
    table = rows(exported(make_store(samples.dossiers(10)), form="csv"))
    assert len(table) == 20
    assert list(table[0]) == [column.name for column in CSV_COLUMNS]
    weights = dict(pair.split("=") for pair in table[0]["effective_weights"].split(";"))
    assert sum(map(float, weights.values())) == 1


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1", "\r\n=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert make_safe_cell(text).startswith("'")


def test_hostile_cells_stay_in_their_cell(make_store: Make) -> None:
    data = exported(make_store([samples.hostile_dossier()]), form="csv")
    assert b"\x1b" not in data
    assert all("⟨U+202E⟩" in row["name"] for row in rows(data))


def test_an_unsandboxed_server_is_in_no_export(make_store: Make) -> None:
    store = make_store([samples.unsandboxed_dossier(), *samples.dossiers(2)])
    for data in (exported(store), exported(store, form="csv"), exported(store, comparable=True)):
        assert b"secret-server" not in data


def test_a_file_appears_only_when_it_is_complete(make_store: Make, tmp_path: Path) -> None:
    store, out = make_store(samples.dossiers(3)), tmp_path / "sub" / "servers.jsonl"
    assert run_export.export_run(store, samples.RUN.id, out, format="jsonl") == 3
    assert out.read_bytes() == exported(store)
    assert [path.name for path in out.parent.iterdir()] == ["servers.jsonl"]


def test_an_unknown_run_is_named_and_nothing_is_written(make_store: Make, tmp_path: Path) -> None:
    with pytest.raises(UnknownRun, match="run_nope"):
        run_export.export_run(make_store([]), "run_nope", tmp_path / "x", format="csv")
    assert not (tmp_path / "x").exists()


def test_the_guide_has_the_columns_as_they_are() -> None:
    assert render_column_reference() in GUIDE.read_text("utf-8"), "run `make docs`"


def test_a_row_has_the_public_facts_of_the_project(make_store: Make) -> None:
    plain, known = samples.dossiers(1)[0], projects.with_project(samples.dossiers(2)[1], "MIT")
    found = {row["server"]: row for row in rows(exported(make_store([plain, known]), form="csv"))}
    row = found[known.server.id]
    assert (row["package_version"], row["repository_archived"], row["repository_stars"]) == ("1.2.0", "yes", "1234")
    assert (row["licence"], row["advisories"], row["advisories_worst"]) == ("MIT", "205", "critical")
    assert {found[plain.server.id][name] for name in ("licence", "advisories", "repository_archived")} == {""}
