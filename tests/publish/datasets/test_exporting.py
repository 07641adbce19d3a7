"""A snapshot is whole, the same every time, and holds what may be known and nothing else."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import jsonschema_rs
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evidence.canonical import sha256
from evidence.model import Target, TargetType
from evidence.store import Store, UnknownRun
from publish.datasets import export as exporting
from publish.datasets.export import ExportOrder, FolderNotEmpty, export_snapshot
from publish.datasets.format import table_files
from publish.datasets.format.columns import encode_lines
from publish.datasets.format.tables import TABLES, table_file_name
from publish.datasets.rows import export_workers
from publish.datasets.rows.evidence_bodies import LICENCES, OPEN_LICENCES
from publish.datasets.rows.export_workers import ExportedBatch, RowExporter
from publish.datasets.rows.server_rows import make_server_columns
from publish.datasets.snapshot.manifest import MANIFEST
from publish.datasets.snapshot.minisign import generate_key
from publish.datasets.verification.published_rows import PublishedRows, RowParsers
from publish.datasets.verification.rescoring import ServerVerifier
from publish.datasets.verification.verify import verify_snapshot
from publish.disclosure import PRIVATE_KINDS, PUBLIC_KINDS, WITHHELD, private_rule_ids
from publish.views.public_servers import read_public_servers
from scoring.engine.assess import assess_dossier
from tests.publish import observed, projects, samples
from tests.publish.datasets import nights
from tests.publish.test_public_receipts import poisoned

Make = Callable[..., Store]
TIMES = ("package_published", "repository_created", "repository_last_commit")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def everything(folder: Path) -> Iterator[str]:
    """All that a snapshot says, unpacked."""
    for name, data in contents(folder).items():
        if name.endswith(".gz"):
            yield gzip.decompress(data).decode()
        elif name.endswith(".parquet"):
            yield json.dumps(pq.read_table(folder / name).to_pylist(), default=str)
        else:
            yield data.decode()


def test_two_exports_of_one_run_are_equal_byte_for_byte(night: Store, written: Path, tmp_path: Path) -> None:
    export_snapshot(night, ExportOrder(run=nights.RUN.id), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(written)


def test_comparable_exports_of_two_equal_runs_are_equal_byte_for_byte(
    night: Store, tmp_path: Path, make_store: Make
) -> None:
    dossiers = [samples.dossiers(3)[2], samples.hostile_dossier()]
    first, second = make_store([]), make_store([])
    other = replace(nights.RUN, id="20260302T030000Z-nightly", as_of=nights.RUN.as_of + timedelta(days=1))
    nights.fill(first, dossiers)
    nights.fill(second, nights.later(dossiers[::-1], timedelta(days=1)), other)
    export_snapshot(first, ExportOrder(run=nights.RUN.id, comparable=True), tmp_path / "first")
    export_snapshot(second, ExportOrder(run=other.id, comparable=True), tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    text = "\n".join(everything(tmp_path / "first"))
    assert nights.RUN.id not in text
    assert "2026-03-01" not in text


def test_small_batches_and_groups_hold_the_same_rows(
    night: Store, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_workers, "BATCH_SIZE", 2)
    monkeypatch.setattr(table_files, "GROUP_ROWS", 3)
    export_snapshot(night, ExportOrder(run=nights.RUN.id), tmp_path / "small")
    small = contents(tmp_path / "small")
    for name, data in contents(written).items():
        if name.endswith(".jsonl.gz"):
            assert gzip.decompress(small[name]) == gzip.decompress(data)
        if name.endswith(".parquet"):
            assert pq.read_table(tmp_path / "small" / name).equals(pq.read_table(written / name))
    assert pq.ParquetFile(tmp_path / "small" / "servers.parquet").num_row_groups > 1


def test_several_processes_write_the_same(
    night: Store, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_workers, "SERVERS_PER_WORKER", 1)
    monkeypatch.setattr(export_workers, "BATCH_SIZE", 3)
    url = night._database.url.render_as_string(hide_password=False)
    export_snapshot(night, ExportOrder(run=nights.RUN.id), tmp_path / "together", RowExporter(url, 2))
    together = contents(tmp_path / "together")
    for name, data in contents(written).items():
        if name.endswith(".gz"):
            assert gzip.decompress(together[name]) == gzip.decompress(data)


def test_sha256sum_accepts_every_file(written: Path) -> None:
    tool = shutil.which("sha256sum")
    assert tool is not None
    done = subprocess.run(
        [tool, "-c", "--strict", "SHA256SUMS"], cwd=written, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(contents(written)) - 1


def test_the_manifest_names_every_file_with_digest_size_and_rows(written: Path) -> None:
    document = json.loads((written / MANIFEST).read_bytes())
    for name, one in document["files"].items():
        data = (written / name).read_bytes()
        assert (one["sha256"], one["bytes"]) == (sha256(data), len(data))
    for table in TABLES:
        rows = len(nights.rows(written, table.name))
        assert {document["files"][table_file_name(table, form)]["rows"] for form in table.formats} == {rows}
    assert set(document["versions"]) == {"schema", "methodology", "snapshot"}
    assert document["sources"]["listing"]["first"] == samples.AS_OF.isoformat()


def test_absence_is_a_reason_and_never_a_zero(written: Path) -> None:
    server = next(row for row in nights.rows(written, "servers") if row["reason"] == "timeout")
    assert (server["state"], server["tools"]) == ("not_testable", None)
    cards = [row for row in nights.rows(written, "scorecards") if row["server"] == server["server"]]
    lint = next(row for row in cards if row["rubric"] == "lint")
    assert (lint["score"], lint["not_measured"]) == (None, "timeout")
    asked = {row["rule"] for row in nights.rows(written, "rule_outcomes") if row["server"] == server["server"]}
    assert "tool-description-missing" not in asked


def test_rows_of_servers_and_scores_name_run_and_ecosystem(written: Path) -> None:
    server = samples.hostile_dossier().server.id
    for name in ("servers", "scorecards", "dimension_scores"):
        rows = nights.rows(written, name)
        assert {row["run"] for row in rows} == {nights.RUN.id}
        assert {row["ecosystem"] for row in rows if row["server"] == server} == {"remote"}
    assert {row["run"] for name in ("lines", "rule_outcomes") for row in nights.rows(written, name)} == {nights.RUN.id}


def test_the_first_target_of_the_entry_decides_the_ecosystem_also_for_the_verifier(
    make_store: Make, tmp_path: Path
) -> None:
    known = samples.dossiers(3)[2]
    targets = tuple(Target(type=kind, identifier="x") for kind in (TargetType.PYPI, TargetType.NPM, TargetType.PYPI))
    store = nights.fill(make_store([]), [replace(known, server=replace(known.server, targets=targets))])
    export_snapshot(store, ExportOrder(run=nights.RUN.id), tmp_path / "s")
    (row,) = nights.rows(tmp_path / "s", "servers")
    assert (row["ecosystem"], row["targets"]) == ("pypi", ["pypi", "npm"])
    assert verify_snapshot(tmp_path / "s", processes=0).problems == []


def test_parquet_and_csv_round_the_numbers_that_json_lines_hold_exactly(written: Path) -> None:
    exact = [row["coverage"] for row in nights.rows(written, "scorecards")]
    assert any(len(number) > 20 for number in exact)
    rounded = [Decimal(number).quantize(Decimal("0.001"), ROUND_HALF_UP) for number in exact]
    assert pq.read_table(written / "scorecards.parquet").column("coverage").to_pylist() == rounded
    with gzip.open(written / "scorecards.csv.gz", "rt", newline="") as file:
        cells = [row["coverage"] for row in csv.DictReader(file)]
    assert [Decimal(cell) for cell in cells] == rounded
    assert all(len(cell) <= len("0.123") for cell in cells)


def test_many_small_points_are_not_rounded_away(written: Path) -> None:
    exact = sum(Decimal(row["points"]) for row in nights.rows(written, "lines"))
    rounded = sum(pq.read_table(written / "lines.parquet").column("points").to_pylist())
    assert abs(exact - rounded) < Decimal("0.01")


def test_times_are_times_in_parquet_and_one_form_of_iso_8601_elsewhere(written: Path) -> None:
    table = pq.read_table(written / "servers.parquet")
    assert {str(table.schema.field(name).type) for name in TIMES} == {"timestamp[us, tz=UTC]"}
    (row,) = [row for row in nights.rows(written, "servers") if row["package_published"]]
    assert row["package_published"] == "2026-01-02T03:04:05+00:00"
    assert datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) in table.column("package_published").to_pylist()


@pytest.mark.parametrize("text", ["yesterday", "0001-01-01T00:00:00+14:00", "2026-13-01", "<b>"])
def test_a_time_that_is_none_is_left_out(make_store: Make, tmp_path: Path, text: str) -> None:
    known = projects.with_project(samples.dossiers(3)[1], "MIT")
    body = json.loads(known.records["repository"].content.body)  # type: ignore[union-attr]
    store = nights.fill(make_store([]), [observed.rewritten(known, "repository", body | {"last_commit_at": text})])
    export_snapshot(store, ExportOrder(run=nights.RUN.id), tmp_path / "s")
    (row,) = nights.rows(tmp_path / "s", "servers")
    assert (row["repository_last_commit"], row["repository_created"]) == (None, "2024-05-06T07:08:09+00:00")


def test_tools_have_their_cost_in_tokens(written: Path) -> None:
    for row in nights.rows(written, "servers"):
        assert (row["tool_tokens"] is None) == (row["tools"] is None)
        assert bool(row["tool_tokens"]) == bool(row["tools"])


def test_every_line_fits_the_schema_of_its_table(written: Path) -> None:
    for table in TABLES:
        schema = json.loads((written / f"{table.name}.schema.json").read_bytes())
        judge = jsonschema_rs.validator_for(schema)
        rows = nights.rows(written, table.name)
        assert rows
        for row in rows:
            judge.validate(row)


def test_nothing_private_is_in_any_file(written: Path) -> None:
    text = "\n".join(everything(written))
    assert nights.MARKER not in text
    assert "index.internal" not in text
    kinds = {row["kind"] for row in nights.rows(written, "evidence")}
    assert kinds <= PUBLIC_KINDS
    assert not kinds & PRIVATE_KINDS
    published_rules = {row["rule"] for row in nights.rows(written, "lines")} | {
        row["rule"] for row in nights.rows(written, "rule_outcomes")
    }
    assert not published_rules & private_rule_ids()


def test_what_an_invalid_token_got_is_left_out_with_every_trace_of_its_digest(written: Path) -> None:
    dossier = observed.locked_out(bogus=(200, "accepted"))
    whole = dossier.records["access"].digest
    (body,) = [row for row in nights.rows(written, "bodies") if row["kind"] == "access" and "oauth" in row["body"]]
    assert json.loads(body["body"])["bogus"] is None
    assert sha256(body["body"].encode()) == body["digest"] != whole
    assert whole not in "\n".join(everything(written))


def test_withheld_lines_stand_with_their_points(make_store: Make, tmp_path: Path) -> None:
    store = nights.fill(make_store([]), [poisoned()])
    export_snapshot(store, ExportOrder(run=nights.RUN.id), tmp_path / "s")
    lines = [row for row in nights.rows(tmp_path / "s", "lines") if row["cites"] == WITHHELD]
    assert any(row["points"].startswith("-") for row in lines)
    assert {(row["at"], row["evidence"]) for row in lines} == {("", "")}


def test_source_goes_out_only_under_a_licence_that_allows_it(make_store: Make, tmp_path: Path) -> None:
    for number, licence in enumerate(("MIT", "Proprietary")):
        store = nights.fill(make_store([]), [projects.with_project(samples.dossiers(3)[1], licence)])
        export_snapshot(store, ExportOrder(run=nights.RUN.id), tmp_path / str(number))
        (row,) = [row for row in nights.rows(tmp_path / str(number), "evidence") if row["kind"] == "source"]
        has_body = any(body["kind"] == "source" for body in nights.rows(tmp_path / str(number), "bodies"))
        assert (row["body"], has_body) == (("whole", True) if licence in OPEN_LICENCES else ("withheld", False))


def test_every_public_kind_has_a_note_on_its_licence() -> None:
    assert set(LICENCES) == PUBLIC_KINDS


def test_a_failure_leaves_no_folder(night: Store, tmp_path: Path) -> None:
    class Failing(RowExporter):
        def pages(self, *args: Any, **options: Any) -> Iterator[ExportedBatch]:
            yield from super().pages(*args, **options)
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        export_snapshot(night, ExportOrder(run=nights.RUN.id), tmp_path / "snapshot", Failing())
    assert list(tmp_path.iterdir()) == []


def test_only_a_snapshot_is_replaced(night: Store, snapshot: Path, tmp_path: Path) -> None:
    (snapshot / "README.md").write_text("old")
    export_snapshot(night, ExportOrder(run=nights.RUN.id), snapshot)
    assert (snapshot / "README.md").read_text() != "old"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(FolderNotEmpty, match="not a snapshot"):
        export_snapshot(night, ExportOrder(run=nights.RUN.id), tmp_path / "mine")
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "snapshot"}


def test_an_unknown_run_is_named(night: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownRun, match="nobody"):
        export_snapshot(night, ExportOrder(run="nobody"), tmp_path / "s")


def test_a_signed_snapshot_has_a_signature_of_its_manifest(night: Store, tmp_path: Path) -> None:
    signer = generate_key()
    export_snapshot(night, ExportOrder(run=nights.RUN.id, signer=signer), tmp_path / "s")
    signature = (tmp_path / "s" / exporting.SIGNATURE).read_bytes()
    assert signer.public.check((tmp_path / "s" / MANIFEST).read_bytes(), signature).endswith(nights.RUN.id)


def test_servers_that_opted_out_since_are_in_no_file(night: Store, tmp_path: Path) -> None:
    gone = samples.hostile_dossier().server
    export_snapshot(night, ExportOrder(run=nights.RUN.id, hidden=frozenset({gone.id})), tmp_path / "s")
    assert gone.id not in "\n".join(everything(tmp_path / "s"))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), number=st.integers(0, 8), word=st.sampled_from(["MIT", "odd", "GPL-3.0"]))
def test_a_dossier_that_went_through_a_dataset_gives_the_same_scorecards(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, number: int, word: str
) -> None:
    """Sheet to rows, rows to dossier, dossier to receipts: nothing of a public receipt is lost on the way."""
    from evidence.store import open_store

    dossier = samples.dossiers(9, seed)[number]
    dossier = projects.with_project(dossier, word) if seed % 2 else dossier
    store = open_store(f"sqlite:///{shutil.copy(sqlite_template, tmp_path_factory.mktemp('one') / 'one.db')}")
    try:
        nights.fill(store, [dossier])
        (one,) = read_public_servers(store, nights.RUN.id)
        columns = make_server_columns(one, assess_dossier(one.dossier), nights.RUN.id)
        lines = {name: encode_lines(some) for name, some in columns.items() if some}
        rows = PublishedRows(lines, RowParsers(comparable=False))
        judged = ServerVerifier(nights.RUN.id, nights.RUN.as_of, ours=True).judge(rows)
        assert judged.problems == []
    finally:
        store.close()
