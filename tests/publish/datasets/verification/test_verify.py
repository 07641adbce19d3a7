"""Verification names each fault of a snapshot: which file, which server, which rubric, expected and found."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from evidence.store import Store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.format import table_files
from publish.datasets.format.tables import TABLES_BY_NAME
from publish.datasets.snapshot import reader
from publish.datasets.snapshot.manifest import CHECKSUMS, MANIFEST, NotASnapshot
from publish.datasets.verification import confined_processes, format_equality
from publish.datasets.verification import verify as verifying
from publish.datasets.verification.problems import Problem, ProblemKind
from publish.datasets.verification.rescoring import ReceiptVerdict
from publish.datasets.verification.verify import VerificationReport
from tests.publish import samples
from tests.publish.datasets import nights
from tests.publish.datasets.bombs import dictionary_bomb

verify = partial(
    verifying.verify_snapshot, processes=0
)  # to start processes takes longer than what most claims are about


def only(report: VerificationReport, fault: ProblemKind) -> Problem:
    """The one problem there is."""
    assert [problem.fault for problem in report.problems] == [fault], "\n".join(map(str, report.problems))
    assert report.code == fault
    return report.problems[0]


def measured(folder: Path, rubric: str) -> dict[str, Any]:
    return next(
        row for row in nights.rows(folder, "scorecards") if row["rubric"] == rubric and row["score"] is not None
    )


def test_nothing_is_wrong_with_what_we_write(written: Path) -> None:
    report = verify(written)
    assert report.problems == []
    assert report.judged.servers == len(nights.servers()) - 1, "the one that ran without a sandbox is not exported"
    assert ReceiptVerdict.DIFFERS not in {verdict for _, verdict in report.judged.verdicts}
    assert report.judged.verdicts["lint@2", ReceiptVerdict.RECOMPUTED] == report.judged.servers


@pytest.mark.soak
def test_several_processes_find_the_same(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publish.datasets.verification.verify.CHUNK", 3)
    here, together = verify(written), verify(written, processes=2)
    assert together.problems == here.problems == []
    assert together.judged.verdicts == here.judged.verdicts


def test_what_rests_on_private_evidence_is_named_and_the_rest_is_recomputed(written: Path) -> None:
    report = verify(written)
    assert report.judged.unverifiable["adaptive@1", "security.secrets"] == 1
    assert report.judged.unverifiable["adaptive@1", "security.authentication"] == 1
    assert ("adaptive@1", "setup.readme") not in report.judged.unverifiable


def test_a_changed_byte_is_named(snapshot: Path) -> None:
    path = snapshot / "lines.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    report = verify(snapshot)
    assert report.code <= ProblemKind.CHANGED_FILE
    changed = [problem for problem in report.problems if problem.fault is ProblemKind.CHANGED_FILE]
    assert [problem.file for problem in changed] == ["lines.parquet"]
    assert changed[0].expected != changed[0].found


def test_a_missing_and_an_odd_file_are_named(snapshot: Path) -> None:
    (snapshot / "LICENSE.txt").unlink()
    (snapshot / "more.txt").write_text("hello")
    found = {(problem.fault, problem.file) for problem in verify(snapshot).problems}
    assert found == {(ProblemKind.MISSING_FILE, "LICENSE.txt"), (ProblemKind.EXTRA_FILE, "more.txt")}


def test_a_missing_table_is_named(snapshot: Path) -> None:
    (snapshot / "scorecards.jsonl.gz").unlink()
    found = {(problem.fault, problem.file) for problem in verify(snapshot).problems}
    assert (ProblemKind.MISSING_FILE, "scorecards.jsonl.gz") in found


def test_a_forged_score_is_named_with_what_it_should_be(snapshot: Path) -> None:
    wanted = measured(snapshot, "enterprise")
    card = (wanted["server"], "enterprise", wanted["version"])

    def change(row: dict[str, Any]) -> None:
        if (row["server"], row["rubric"], row["version"]) == card:
            row["score"] = "99"

    nights.forge(snapshot, "scorecards", change)
    wrong = only(verify(snapshot), ProblemKind.SCORE)
    assert (wrong.server, wrong.rubric, wrong.at) == (wanted["server"], f"enterprise@{wanted['version']}", "score")
    assert (wrong.expected, wrong.found) == (wanted["score"], "99")


def test_a_score_forged_with_its_lines_and_parts_is_named(snapshot: Path) -> None:
    wanted = measured(snapshot, "lint")
    card = (wanted["server"], "lint", wanted["version"])

    def raised(row: dict[str, Any]) -> None:
        if (row["server"], row["rubric"], row["version"]) == card:
            row |= {"score": "100", "floor": "100", "ceiling": "100"}

    def free(row: dict[str, Any]) -> None:
        if (row["server"], row["rubric"], row["version"]) == card:
            row["points"] = "0"

    nights.forge(snapshot, "scorecards", raised)
    nights.forge(snapshot, "lines", free)
    wrong = only(verify(snapshot), ProblemKind.SCORE)
    assert (wrong.server, wrong.rubric) == (wanted["server"], f"lint@{wanted['version']}")


def test_a_component_that_rests_on_private_evidence_still_has_to_add_up(snapshot: Path) -> None:
    def change(row: dict[str, Any]) -> None:
        if (row["dimension"], row["component"]) == ("security", "secrets") and row["result"] is not None:
            row["result"] = "9.5"

    nights.forge(snapshot, "dimension_scores", change)
    wrong = only(verify(snapshot), ProblemKind.SCORE)
    assert wrong.rubric == "adaptive@1"
    assert wrong.at == "security.secrets result"


def test_a_component_of_public_evidence_cannot_be_forged_beside_a_private_one(snapshot: Path) -> None:
    """The receipt with secrets is spliced: what can be recomputed is."""
    secret = next(
        row["server"]
        for row in nights.rows(snapshot, "dimension_scores")
        if row["component"] == "secrets" and row["result"] is not None
    )

    def change(row: dict[str, Any]) -> None:
        if row["server"] == secret and row["component"] == "activity":
            row["checked"] += 1

    nights.forge(snapshot, "dimension_scores", change)
    wrong = verify(snapshot).problems
    assert [(one.fault, one.server, one.rubric, one.at) for one in wrong] == [
        (ProblemKind.SCORE, secret, rubric, "maintenance.activity checked") for rubric in ("adaptive@1", "adaptive@2")
    ]


def test_a_wrong_weight_in_the_methodology_is_named(snapshot: Path) -> None:
    def change(document: Any) -> None:
        adaptive = next(one for one in document["rubrics"] if one["name"] == "adaptive@1")
        next(part for part in adaptive["dimensions"] if part["name"] == "security")["weight"] = "30"

    nights.forge_document(snapshot, "methodology.json", change)
    found = [problem for problem in verify(snapshot).problems if problem.file == "methodology.json"]
    assert [(one.fault, one.rubric, one.expected, one.found) for one in found] == [
        (ProblemKind.METHODOLOGY, "adaptive@1", "25", "30")
    ]
    assert "security" in found[0].at
    assert found[0].at.endswith("weight")


def test_forged_evidence_is_named(snapshot: Path) -> None:
    kind = "listing"

    def change(row: dict[str, Any]) -> None:
        if row["kind"] == kind:
            row["body"] = row["body"].replace("description", "descriptiom")

    nights.forge(snapshot, "bodies", change)
    report = verify(snapshot)
    evidence = [problem for problem in report.problems if problem.fault is ProblemKind.EVIDENCE]
    assert {problem.at for problem in evidence} >= {kind}
    assert report.code == ProblemKind.EVIDENCE


def test_evidence_that_is_forged_with_its_digests_gives_other_scores(snapshot: Path) -> None:
    """Who changes a body and every digest of it is found by the scores that no longer follow."""
    body = next(row for row in nights.rows(snapshot, "bodies") if row["kind"] == "listing")
    forged = body["body"].replace('"description":"', '"description":"X')
    assert forged != body["body"]
    digest = hashlib.sha256(forged.encode()).hexdigest()

    def bodies(row: dict[str, Any]) -> None:
        if row["digest"] == body["digest"]:
            row |= {"body": forged, "digest": digest}

    def evidence(row: dict[str, Any]) -> None:
        if row["digest"] == body["digest"]:
            row["digest"] = digest

    nights.forge(snapshot, "bodies", bodies)
    nights.forge(snapshot, "evidence", evidence)
    assert ProblemKind.SCORE in {problem.fault for problem in verify(snapshot).problems}


def test_a_forged_outcome_of_a_rule_is_named(snapshot: Path) -> None:
    wanted = next(row for row in nights.rows(snapshot, "rule_outcomes") if row["findings"])

    def change(row: dict[str, Any]) -> None:
        if row == wanted:
            row["findings"] = 0

    nights.forge(snapshot, "rule_outcomes", change)
    wrong = only(verify(snapshot), ProblemKind.SCORE)
    assert (wrong.server, wrong.file) == (wanted["server"], "rule_outcomes.jsonl.gz")
    assert wanted["rule"] in wrong.at


def test_a_forged_row_of_a_server_is_named(snapshot: Path) -> None:
    def change(row: dict[str, Any]) -> None:
        if row["tools"]:
            row["tools"] += 1

    nights.forge(snapshot, "servers", change)
    assert {(problem.fault, problem.at) for problem in verify(snapshot).problems} == {(ProblemKind.EVIDENCE, "tools")}


@pytest.mark.parametrize(
    ("table", "name"), [("servers", "run"), ("lines", "run"), ("rule_outcomes", "run"), ("scorecards", "ecosystem")]
)
def test_a_row_of_another_run_or_ecosystem_is_named(snapshot: Path, table: str, name: str) -> None:
    server = nights.rows(snapshot, table)[0]["server"]

    def change(row: dict[str, Any]) -> None:
        if row["server"] == server:
            row[name] = "other"

    nights.forge(snapshot, table, change)
    wrong = only(verify(snapshot), ProblemKind.EVIDENCE)
    assert (wrong.file, wrong.server, wrong.at, wrong.found) == (f"{table}.jsonl.gz", server, name, "other")


def test_a_score_is_compared_exactly_although_parquet_and_csv_round_it(snapshot: Path) -> None:
    wanted = next(row for row in nights.rows(snapshot, "scorecards") if len(row["coverage"]) > 20)

    def change(row: dict[str, Any]) -> None:
        if row == wanted:
            row["coverage"] = row["coverage"][:-1] + ("1" if row["coverage"][-1] != "1" else "2")

    keep = {form: (snapshot / f"scorecards.{form}").read_bytes() for form in ("parquet", "csv.gz")}
    nights.forge(snapshot, "scorecards", change)
    assert keep == {form: (snapshot / f"scorecards.{form}").read_bytes() for form in keep}
    wrong = only(verify(snapshot), ProblemKind.SCORE)
    assert (wrong.at, wrong.expected) == ("coverage", wanted["coverage"])


@pytest.mark.parametrize("form", ["csv.gz", "parquet"])
def test_a_score_that_is_forged_in_one_format_only_is_named(snapshot: Path, form: str) -> None:
    name = f"scorecards.{form}"
    keep = {path.name: path.read_bytes() for path in snapshot.iterdir() if path.name.startswith("scorecards")}
    before = json.loads((snapshot / MANIFEST).read_bytes())

    def change(row: dict[str, Any]) -> None:
        row["grade"] = "A+"

    nights.forge(snapshot, "scorecards", change)
    forged = (snapshot / name).read_bytes()
    for other, data in keep.items():
        (snapshot / other).write_bytes(data)
    nights.seal(snapshot, before)
    nights.write(snapshot, name, forged)
    wrong = only(verify(snapshot), ProblemKind.FORMS)
    assert wrong.file == name
    assert "A+" in wrong.found


@pytest.mark.parametrize("lacking", [1, 2])
def test_a_csv_file_without_its_end_is_named(snapshot: Path, lacking: int) -> None:
    data = gzip.decompress((snapshot / "scorecards.csv.gz").read_bytes())
    nights.write(snapshot, "scorecards.csv.gz", gzip.compress(data[:-lacking], mtime=0))
    assert only(verify(snapshot), ProblemKind.FORMS).file == "scorecards.csv.gz"


def test_a_dropped_server_is_missed(snapshot: Path) -> None:
    """Without a server in any table, the count of the manifest must change, and the manifest is signed."""
    first = nights.rows(snapshot, "servers")[0]["server"]
    for table in TABLES_BY_NAME:
        kept = [row for row in nights.rows(snapshot, table) if row["server"] != first]
        data = b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in kept)
        nights.write(snapshot, f"{table}.jsonl.gz", gzip.compress(data, mtime=0))
    faults = {problem.fault for problem in verify(snapshot).problems}
    assert ProblemKind.ROWS in faults


def test_sums_that_do_not_fit_are_named(snapshot: Path) -> None:
    path = snapshot / CHECKSUMS
    path.write_text(path.read_text().replace("  README.md", "  readme.md"))
    found = {(problem.fault, problem.at) for problem in verify(snapshot).problems}
    assert found == {(ProblemKind.SUMS, "README.md"), (ProblemKind.SUMS, "readme.md")}


def test_a_folder_without_a_manifest_is_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(NotASnapshot, match=r"manifest\.json expected"):
        verify(tmp_path)
    with pytest.raises(NotASnapshot, match="found no folder"):
        verify(tmp_path / "none")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"format": "other"}',
        b"[" * 100_000,
        b'{"format": "hallmark-dataset", "versions": 3}',
        b" " * (reader.MANIFEST_LIMIT + 1),
    ],
    ids=["empty", "list", "cut", "other", "deep", "shape", "huge"],
)
def test_a_hostile_manifest_is_refused(snapshot: Path, data: bytes) -> None:
    (snapshot / MANIFEST).write_bytes(data)
    with pytest.raises(NotASnapshot, match=r"expected|not a manifest"):
        verify(snapshot)


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "a/b", "..", ".hidden", "x\ny", "README.md\0"])
def test_a_name_that_leads_out_of_the_folder_is_refused(snapshot: Path, name: str) -> None:
    document = json.loads((snapshot / MANIFEST).read_bytes())
    document["files"][name] = document["files"]["README.md"]
    (snapshot / MANIFEST).write_text(json.dumps(document))
    with pytest.raises(NotASnapshot, match="plain name"):
        verify(snapshot)


def test_a_link_is_not_followed(snapshot: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copy(snapshot / "lines.jsonl.gz", outside)
    (snapshot / "lines.jsonl.gz").unlink()
    (snapshot / "lines.jsonl.gz").symlink_to(outside)
    found = {(problem.fault, problem.file) for problem in verify(snapshot).problems}
    assert (ProblemKind.UNREADABLE, "lines.jsonl.gz") in found


def test_a_pipe_does_not_hold_anybody_up(snapshot: Path) -> None:
    (snapshot / "README.md").unlink()
    os.mkfifo(snapshot / "README.md")
    assert only(verify(snapshot), ProblemKind.UNREADABLE).file == "README.md"


def swapped(data: bytes) -> bytes:
    first, second, *rest = data.splitlines(keepends=True)
    return b"".join([*rest, second, first])


def with_value(name: str, value: Any) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        first, *rest = data.splitlines(keepends=True)
        row = {**json.loads(first), name: value}
        return b"".join([json.dumps(row, separators=(",", ":")).encode() + b"\n", *rest])

    return change


def twice(value: bytes, name: bytes = b'"ref"') -> Callable[[bytes], bytes]:
    return lambda data: data.replace(b'"ref":', name + b" : " + value + b',"ref":', 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (swapped, "sorted by server"),
        (lambda data: b"{}\n" + data, "begins with its server"),
        (lambda data: data[:-1], "whole line"),
        (lambda data: data + data.splitlines(keepends=True)[-1], "found more"),
        (lambda data: data.replace(b'"ref"', b'"fer"', 1), "columns of servers"),
        (twice(b'"other"'), "each column once"),
        (twice(b'"other"', rb'"\u0072ef"'), "each column once"),
        (twice(b"[" * 1_000 + b"]" * 1_000), "each column once"),
        (with_value("name", 3), "`name`"),
        (with_value("ref", json.loads("[" * 300 + "]" * 300)), "`ref`"),
        (with_value("seen_in", [3]), "`seen_in`"),
        (with_value("tools", 10**30), "`tools`"),
        (with_value("tools", 1.5), "`tools`"),
    ],
    ids=[
        "unsorted",
        "headless",
        "cut",
        "more",
        "column",
        "twice",
        "twice escaped",
        "twice nested",
        "type",
        "nested",
        "list",
        "integer",
        "float",
    ],
)
def test_rows_that_are_none_end_the_reading_with_a_message(
    snapshot: Path, change: Callable[[bytes], bytes], why: str
) -> None:
    data = gzip.decompress((snapshot / "servers.jsonl.gz").read_bytes())
    nights.write(snapshot, "servers.jsonl.gz", gzip.compress(change(data)))
    report = verify(snapshot)
    assert report.code == ProblemKind.UNREADABLE
    assert [problem.file for problem in report.problems if problem.fault is ProblemKind.UNREADABLE] == [
        "servers.jsonl.gz"
    ]
    assert any(why in problem.found for problem in report.problems), [str(problem) for problem in report.problems]


def test_a_bomb_is_not_unpacked(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_ALWAYS", 2**20)
    monkeypatch.setattr(reader, "MAX_UNPACK_RATIO", 10)
    nights.write(snapshot, "servers.jsonl.gz", gzip.compress(b" " * 2**24))
    assert any("unpacks to more than" in problem.found for problem in verify(snapshot).problems)


def test_an_endless_line_is_not_kept(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LINE_LIMIT", 2**20)
    nights.write(snapshot, "servers.jsonl.gz", gzip.compress(b'{"server":"' + b"x" * 2**22))
    assert any("lines of at most" in problem.found for problem in verify(snapshot).problems)


def test_a_file_that_is_no_parquet_is_named(snapshot: Path) -> None:
    nights.write(snapshot, "servers.parquet", b"PAR1" + b"\xff" * 100 + b"PAR1")
    found = {(problem.fault, problem.file) for problem in verify(snapshot).problems}
    assert (ProblemKind.UNREADABLE, "servers.parquet") in found


class ProcessStarted(Exception):
    """A process was started."""


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    start = confined_processes.start_confined_workers

    def refuse(processes: int, *, judging: bool = False) -> Executor:
        if processes:
            raise ProcessStarted
        return start(processes, judging=judging)

    monkeypatch.setattr(confined_processes, "start_confined_workers", refuse)


@pytest.mark.usefixtures("no_processes")
def test_a_small_set_is_judged_without_other_processes(written: Path) -> None:
    assert verify(written, processes=2).problems == []
    assert verify(written, processes=2).judged == verify(written).judged


@pytest.mark.usefixtures("no_processes")
def test_a_parquet_file_that_we_did_not_write_is_never_read_by_the_process_that_verifies(snapshot: Path) -> None:
    table = pq.read_table(snapshot / "servers.parquet")
    with (snapshot / "servers.parquet").open("wb") as file:
        pq.write_table(table, file, compression="none")
    with pytest.raises(ProcessStarted):
        verify(snapshot, processes=2)


def test_parquet_files_with_the_bytes_that_we_write_are_not_read(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(format_equality, "ParquetRows", lambda _folder, table, **_: opened.append(table.name))
    assert verify(written).problems == []
    assert opened == []


@pytest.mark.parametrize(("limit", "value"), [("GROUP_ROWS", 7), ("GROUP_BYTES", 5_000)])
def test_files_of_several_groups_are_not_read_either(
    night: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(table_files, limit, value)
    monkeypatch.setattr(verifying, "CHUNK", 2)  # an export has other blocks
    monkeypatch.setattr(format_equality, "ParquetRows", lambda _folder, table, **_: opened.append(table.name))
    export_snapshot(night, ExportOrder(run=nights.RUN.id), tmp_path / "groups")
    assert pq.ParquetFile(tmp_path / "groups" / "lines.parquet").num_row_groups > 1
    assert verify(tmp_path / "groups").problems == []
    assert opened == []


def test_the_same_rows_in_other_bytes_are_read_and_no_problem(snapshot: Path) -> None:
    out = io.BytesIO()
    pq.write_table(pq.read_table(snapshot / "lines.parquet"), out, compression="none")
    nights.write(snapshot, "lines.parquet", out.getvalue())
    assert verify(snapshot).problems == []


def test_a_row_that_lacks_in_parquet_of_other_bytes_is_missed(snapshot: Path) -> None:
    out = io.BytesIO()
    table = pq.read_table(snapshot / "lines.parquet")
    pq.write_table(table.slice(0, table.num_rows - 1), out, compression="none")
    nights.write(snapshot, "lines.parquet", out.getvalue())
    assert only(verify(snapshot), ProblemKind.FORMS).file == "lines.parquet"


@pytest.mark.usefixtures("no_processes")
def test_larger_sets_are_judged_by_confined_processes(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "SMALL_BYTES", 1_000)
    with pytest.raises(ProcessStarted):
        verify(written, processes=2)


@pytest.mark.usefixtures("no_processes")
def test_a_small_set_that_takes_much_memory_is_judged_elsewhere(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def take_much(*_: object) -> None:
        taken.append(len(bytearray(confined_processes.MEMORY_LIMIT)))

    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(verifying, "verify_chunk", take_much)
    with pytest.raises(ProcessStarted):
        verify(written, processes=2)
    assert taken == []
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.usefixtures("no_processes")
def test_a_forged_score_of_a_small_set_is_found_in_this_process(snapshot: Path) -> None:
    wanted = measured(snapshot, "lint")

    def change(row: dict[str, Any]) -> None:
        if row == wanted:
            row["score"] = str(Decimal(row["score"]) + 1)

    nights.forge(snapshot, "scorecards", change)
    assert only(verify(snapshot, processes=2), ProblemKind.SCORE).server == wanted["server"]


@pytest.mark.soak
def test_a_parquet_bomb_is_named_and_the_rest_is_still_checked(snapshot: Path) -> None:
    nights.write(snapshot, "bodies.parquet", dictionary_bomb("bodies", 2**24, 500))
    wrong = only(verify(snapshot, processes=1), ProblemKind.UNREADABLE)
    assert (wrong.file, wrong.found) == ("bodies.parquet", "reading it takes more memory than it may have")


VERIFY_IN_LITTLE_MEMORY = """
import json, sys
from pathlib import Path
from publish.datasets.verification import confined_processes
from publish.datasets.verification.verify import verify_snapshot
confined_processes.MEMORY_LIMIT = 2**29
print(json.dumps([problem.found for problem in verify_snapshot(Path(sys.argv[1]), processes=1).problems]))
"""


@pytest.mark.soak
def test_a_row_that_takes_more_memory_than_there_may_be_is_named(snapshot: Path) -> None:
    """In a process of its own: this one may hold more already."""
    first, *rest = gzip.decompress((snapshot / "servers.jsonl.gz").read_bytes()).splitlines(keepends=True)
    many = ",".join(["[]"] * (reader.LINE_LIMIT // 4)).encode()
    data = b"".join([re.sub(rb'"seen_in":\[[^]]*\]', b'"seen_in":[' + many + b"]", first), *rest])
    nights.write(snapshot, "servers.jsonl.gz", gzip.compress(data, 1))
    command = [sys.executable, "-c", VERIFY_IN_LITTLE_MEMORY, str(snapshot)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert any("takes more memory than it may have" in one for one in found), found


def test_parquet_files_hold_what_the_lines_say(written: Path) -> None:
    table = pq.read_table(written / "scorecards.parquet")
    found = [None if score is None else str(score) for score in table.column("score").to_pylist()]
    wanted = [row["score"] for row in nights.rows(written, "scorecards")]
    assert [None if one is None else float(one) for one in found] == [
        None if one is None else float(one) for one in wanted
    ]


def test_a_secret_in_an_address_is_masked_and_the_rest_is_still_checked(
    make_store: Callable[..., Store], tmp_path: Path
) -> None:
    token = "ghp_" + "k3J9sLq0ZxW7vB2nM5tR8yH1cD4fG6aE0pQu"
    known = samples.dossiers(3)[2]
    server = replace(known.server, ref=f"https://mcp.example/mcp?key={token}")
    records = {kind: replace(record, server=server.id) for kind, record in known.records.items()}
    store = nights.fill(make_store([]), [replace(known, server=server, records=records)])
    export_snapshot(store, ExportOrder(run=nights.RUN.id), tmp_path / "s")
    (row,) = nights.rows(tmp_path / "s", "servers")
    assert token not in row["ref"]
    assert row["server"] == server.id
    assert verify(tmp_path / "s").problems == []
