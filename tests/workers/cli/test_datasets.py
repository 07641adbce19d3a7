"""`hallmark export RUN DIR`, `verify`, `diff` and `key`: from the store to a reader who trusts no one."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from evidence.store import open_store
from publish.datasets.verification import verify as verifying
from publish.datasets.verification.problems import ProblemKind
from tests.publish import samples
from tests.publish.datasets import nights
from tests.workers.cli.conftest import Hallmark


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a published run with real receipts, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "hallmark.db"
    store = open_store(f"sqlite:///{path}")
    store.migrate()
    nights.fill(store, [samples.dossiers(3)[2], samples.hostile_dossier()])
    store.close()
    return path


@pytest.fixture
def night(home: Path, filled: Path) -> str:
    """A published run with real receipts, in the home of the command."""
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(filled, home / "hallmark.db")
    return nights.RUN.id


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify in this process, as most claims are about other things."""

    def verify(folder: Path, *, processes: int, **more: Any) -> verifying.VerificationReport:
        return verifying.verify_snapshot(folder, processes=0, **more)

    monkeypatch.setattr("workers.cli.results.verify.check", verify)


def test_a_dataset_is_exported_signed_verified_and_compared(
    hallmark: Hallmark, night: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    key, folder = tmp_path / "datasets.key", tmp_path / "snapshot"
    made = hallmark("key", "new", "--no-password", str(key))
    assert made.code == 0
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    word = made.out.strip()
    assert hallmark("key", "show", str(key)).out.strip() == word
    exported = hallmark("export", "latest", str(folder), "--key", str(key))
    assert (exported.code, exported.out) == (0, "")
    assert f"run {night}, servers written to {folder}: 2\n" in exported.err

    verified = hallmark("verify", str(folder), "--key", word, "--processes", "1")
    assert verified.code == 0, verified.out + verified.err
    assert "no problems" in verified.err
    request.getfixturevalue("alone")
    document = json.loads(hallmark("verify", str(folder), "--key", f"{key}.pub", "--processes", "1", "--json").out)
    assert (document["ok"], document["code"], document["servers"]) == (True, 0, 2)
    assert document["signed"] == f"hallmark dataset {night}"

    same = hallmark("diff", str(folder), night)
    assert same.code == 0
    assert "0 receipts changed" in same.err
    assert hallmark("diff", str(folder), night, "--json").out == ""


@pytest.mark.usefixtures("alone")
def test_an_archive_is_exported_and_verified_directly(hallmark: Hallmark, night: str, tmp_path: Path) -> None:
    made = tmp_path / "dataset.zip"
    assert hallmark("export", "latest", str(made)).code == 0
    verified = hallmark("verify", str(made), "--processes", "1")
    assert verified.code == 0, verified.out + verified.err
    assert f"{night}: no problems" in verified.err
    again = hallmark("export", "latest", str(made))
    assert (again.code, "does not exist" in again.err) == (2, True)
    made.write_bytes(made.read_bytes()[:-30])
    broken = hallmark("verify", str(made))
    assert (broken.code, "an archive of a snapshot expected" in broken.err) == (2, True)


@pytest.mark.usefixtures("alone")
def test_what_is_wrong_is_named_and_has_a_code(hallmark: Hallmark, night: str, tmp_path: Path) -> None:
    folder = tmp_path / "snapshot"
    hallmark("export", night, str(folder))
    words = ("verify", str(folder), "--processes", "1")
    unsigned = hallmark(*words, "--key", hallmark("key", "new", "--no-password", str(tmp_path / "k")).out.strip())
    assert (unsigned.code, "no signature" in unsigned.out) == (ProblemKind.SIGNATURE, True)
    card = next(row for row in nights.rows(folder, "scorecards") if row["rubric"] == "lint" and row["score"])
    nights.forge(folder, "scorecards", lambda row: row.update(score="1") if row == card else None)
    forged = hallmark(*words)
    assert forged.code == ProblemKind.SCORE
    assert f"{card['server']} lint@{card['version']} score: expected {card['score']}, found 1" in forged.out
    (problem,) = json.loads(hallmark(*words, "--json").out)["problems"]
    assert (problem["fault"], problem["server"], problem["found"]) == ("score", card["server"], "1")
    moved = hallmark("diff", night, str(folder), "--json").rows
    assert [(row["rubric"], row["causes"]) for row in moved] == [("lint", ["time or withheld evidence"])]


@pytest.mark.usefixtures("alone")
def test_a_comparable_snapshot_is_checked_without_its_scores(hallmark: Hallmark, night: str, tmp_path: Path) -> None:
    assert hallmark("export", night, str(tmp_path / "s"), "--comparable").code == 0
    done = hallmark("verify", str(tmp_path / "s"), "--processes", "1")
    assert done.code == 0
    assert "not recomputed" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["export", "latest"],
        ["export", "latest", "DIR", "--format", "csv"],
        ["export", "latest", "DIR", "-o", "x"],
        ["export", "--since", "DIR"],
        ["export", "latest", "DIR", "--key", "NONE"],
        ["export", "latest", "DIR", "--since", "NONE"],
        ["export", "latest", "FULL"],
        ["verify", "NONE"],
        ["verify", "FULL"],
        ["verify", "FULL", "--key", "nonsense"],
        ["diff", "FULL", "latest"],
        ["key", "new", "FULL/thesis.txt", "--no-password"],
        ["key", "new", "KEY"],
        ["key", "show", "FULL/thesis.txt"],
    ],
    ids=" ".join,
)
def test_wrong_usage_says_what_was_expected(hallmark: Hallmark, night: str, tmp_path: Path, words: list[str]) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("years of work")
    places = {"DIR": tmp_path / "dir", "NONE": tmp_path / "none", "FULL": full, "KEY": tmp_path / "key"}
    known = [str(places[word]) if word in places else word.replace("FULL", str(full)) for word in words]
    result = hallmark(*known)
    assert result.code == 2, result.err
    assert result.err
    assert (full / "thesis.txt").read_text() == "years of work"
    assert not (tmp_path / "dir").exists()
