from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.advisories.mirror_refresh import _alone
from tests.servers.osv.records import CRITICAL, advisory, fixed_in
from tests.servers.osv.serving import running
from tests.servers.osv.world import Answer, OsvWorld, archive
from tests.workers.cli.conftest import Hallmark
from workers.cli.lab.advisories import Label, measure_quality


@pytest.fixture
def world() -> OsvWorld:
    found = OsvWorld()
    found.add(
        advisory(
            "GHSA-1",
            fixed_in("PyPI", "flour", "1.1"),
            aliases=["CVE-2026-1"],
            severity=[{"type": "CVSS_V3", "score": CRITICAL}],
            summary="Flour \u001b[31mburns",
        ),
        advisory("PYSEC-1", fixed_in("PyPI", "flour", "1.1"), aliases=["CVE-2026-1"]),
        advisory("PYSEC-2", fixed_in("PyPI", "salt", "3.0")),
    )
    return found


@pytest.fixture
def osv(world: OsvWorld, monkeypatch: pytest.MonkeyPatch) -> Iterator[OsvWorld]:
    with running(world) as base:
        monkeypatch.setenv("HALLMARK_OSV_EXPORT", base)
        monkeypatch.setenv("HALLMARK_ECOSYSTEMS", '["PyPI"]')
        yield world


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.txt"
    path.write_text("flour==1.0\nsalt==3.0\nwater>=1\n")
    return path


@pytest.fixture
def export(world: OsvWorld, tmp_path: Path) -> Path:
    folder = tmp_path / "osv"
    (folder / "PyPI").mkdir(parents=True)
    files = {f"{name}.json": json.dumps(record).encode() for name, record in world.records.items()}
    (folder / "PyPI" / "all.zip").write_bytes(archive({**files, "PYSEC-3.json": b"{"}))
    return folder


def test_a_mirror_is_made_and_reported(hallmark: Hallmark, osv: OsvWorld) -> None:
    assert hallmark("advisories", "status").code == 3
    done = hallmark("advisories", "refresh")
    assert (done.code, "PyPI: loaded, 3 advisories written" in done.err) == (0, True)
    assert "complete" in hallmark("advisories", "status").out
    (row,) = hallmark("advisories", "status", "--json").rows
    assert (row["ecosystem"], row["records"], row["whole"], row["bad_total"]) == ("PyPI", 3, True, 0)


def test_an_unavailable_ecosystem_is_reported_and_fails_the_command(hallmark: Hallmark, osv: OsvWorld) -> None:
    done = hallmark("advisories", "refresh", "--ecosystem", "Maven", "--ecosystem", "PyPI", "--json")
    assert done.code == 1
    assert [(row["ecosystem"], row["how"]) for row in done.rows] == [("Maven", "failed"), ("PyPI", "loaded")]
    assert done.rows[0]["why"] == "the export of OSV answered HTTP 404"


def test_two_refreshes_at_a_time_are_refused(hallmark: Hallmark, osv: OsvWorld, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    with _alone(tmp_path / "cache" / "advisories.sqlite.lock"):
        done = hallmark("advisories", "refresh")
    assert (done.code, "another process" in done.err) == (1, True)


def test_a_lockfile_is_judged_by_the_mirror(hallmark: Hallmark, osv: OsvWorld, lock: Path) -> None:
    nothing = hallmark("lab", "advisories", str(lock))
    assert (nothing.code, "hallmark advisories refresh" in nothing.err) == (3, True)
    hallmark("advisories", "refresh")
    found = hallmark("lab", "advisories", str(lock))
    assert found.code == 0
    assert "CVE-2026-1 +2" in found.out and "critical 9.8" in found.out
    assert "\x1b" not in found.out
    assert "2 versions compared, 1 vulnerabilities; not compared: 1 not a version" in found.err


def test_a_folder_in_the_layout_of_the_export_will_do(hallmark: Hallmark, lock: Path, export: Path) -> None:
    done = hallmark("lab", "advisories", str(lock), "--export", str(export), "--json")
    flaw, whole = done.rows
    assert (flaw["ids"], flaw["fixed"]) == (["CVE-2026-1", "GHSA-1", "PYSEC-1"], "1.1")
    assert (whole["checked"], whole["flaws"], whole["ecosystems"], whole["partial"]) == (2, 1, ["PyPI"], ["PyPI"])
    assert "the first is PYSEC-3" in done.err


def test_labels_give_precision_and_recall(hallmark: Hallmark, lock: Path, export: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    rows: list[dict[str, Any]] = [
        {"ecosystem": "PyPI", "name": "Flour", "version": "1.0", "ids": ["PYSEC-1"]},
        {"ecosystem": "PyPI", "name": "salt", "version": "3.0", "ids": ["PYSEC-2"]},
    ]
    labels.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = ("--export", str(export), "--labels", str(labels))
    judged = hallmark("lab", "advisories", str(lock), *options, "--json").rows[-1]
    assert judged["quality"] == {"precision": 1.0, "recall": 0.5, "right": 1, "wrong": 0, "missed": 1}
    assert "100.0%" in hallmark("lab", "advisories", str(lock), *options).out


def test_rows_of_packages_are_judged_like_a_lockfile(hallmark: Hallmark, export: Path, tmp_path: Path) -> None:
    rows = tmp_path / "packages.jsonl"
    rows.write_text('{"ecosystem": "PyPI", "name": "salt", "version": "2.9"}\n')
    assert hallmark("lab", "advisories", str(rows), "--export", str(export), "--json").rows[0]["ids"] == ["PYSEC-2"]


def test_what_cannot_be_read_is_said(hallmark: Hallmark, lock: Path, export: Path, tmp_path: Path) -> None:
    broken = tmp_path / "package-lock.json"
    broken.write_text("{")
    assert hallmark("lab", "advisories", str(broken), "--export", str(export)).code == 3
    assert hallmark("lab", "advisories", str(tmp_path / "some.txt"), "--export", str(export)).code == 2
    assert hallmark("lab", "advisories", str(lock), "--export", str(broken)).code == 2


def test_without_labels_of_a_package_its_flaws_count_for_nothing() -> None:
    assert measure_quality([], [Label(("PyPI", "bread", "1.0"), frozenset())])["precision"] is None


def test_an_export_that_is_down_leaves_the_mirror_as_it_was(hallmark: Hallmark, osv: OsvWorld) -> None:
    hallmark("advisories", "refresh")
    osv.faults["/PyPI/modified_id.csv"] = [Answer(404, b"")]
    done = hallmark("advisories", "refresh")
    assert done.code == 1
    assert hallmark("advisories", "status", "--json").rows[0]["records"] == 3


def test_a_lockfile_that_is_not_there_is_wrong_usage(hallmark: Hallmark, tmp_path: Path) -> None:
    missing = hallmark("lab", "advisories", str(tmp_path / "uv.lock"))
    assert (missing.code, "does not exist" in missing.err.replace("\n", " ")) == (2, True)
