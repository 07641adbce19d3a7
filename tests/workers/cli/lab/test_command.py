from __future__ import annotations

from pathlib import Path

from tests.evidence.lockfiles.samples import SAMPLES
from tests.workers.cli.conftest import Hallmark


def shelf(folder: Path) -> Path:
    """A project with two lockfiles, one of them broken, and a file that is none."""
    (folder / "web").mkdir()
    (folder / "node_modules" / "x").mkdir(parents=True)
    (folder / "uv.lock").write_text(SAMPLES["uv"].text)
    (folder / "web" / "package-lock.json").write_text(SAMPLES["package-lock 3"].text[:300])
    (folder / "node_modules" / "x" / "yarn.lock").write_text(SAMPLES["yarn 1"].text)
    (folder / "readme.md").write_text("nothing")
    return folder


def test_every_lockfile_of_a_folder_is_reported(hallmark: Hallmark, tmp_path: Path) -> None:
    result = hallmark("lab", "lockfiles", str(shelf(tmp_path)))
    assert result.code == 0
    assert "uv.lock" in result.out
    assert "web/package-lock.json" in result.out
    assert "yarn.lock" not in result.out
    assert "1 lockfiles read, 1 not readable" in result.err


def test_json_has_one_line_for_each_file(hallmark: Hallmark, tmp_path: Path) -> None:
    good, bad = hallmark("lab", "lockfiles", str(shelf(tmp_path)), "--json").rows
    assert (good["file"], good["ecosystem"], good["complete"], good["error"]) == ("uv.lock", "PyPI", True, None)
    assert good["dependencies"][2] == {  # type: ignore[index]
        "ecosystem": "PyPI",
        "name": "quince",
        "version": "1.9.0",
        "raw": None,
        "relation": "direct",
        "dev": True,
        "optional": False,
        "peer": False,
        "source": "registry",
        "location": None,
        "alias": None,
    }
    assert bad["dependencies"] is None
    assert bad["error"]["class"] in {"truncated", "syntax"}  # type: ignore[index]
    assert bad["error"]["line"] > 1  # type: ignore[index]


def test_a_version_that_is_none_is_unknown_beside_its_text(hallmark: Hallmark, tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text("pear>=1\n")
    (row,) = hallmark("lab", "lockfiles", str(path), "--json").rows
    (found,) = row["dependencies"]  # type: ignore[misc]
    assert (found["version"], found["raw"]) == ("unknown", ">=1")


def test_a_file_of_another_name_is_read_as_what_it_is_said_to_be(hallmark: Hallmark, tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    path.write_text(SAMPLES["pnpm 9"].text)
    assert hallmark("lab", "lockfiles", str(path)).code == 2
    (row,) = hallmark("lab", "lockfiles", str(path), "--as", "pnpm", "--json").rows
    assert len(row["dependencies"]) == 4  # type: ignore[arg-type]


def test_a_format_that_is_not_known_is_wrong_usage(hallmark: Hallmark, tmp_path: Path) -> None:
    result = hallmark("lab", "lockfiles", str(tmp_path), "--as", "conda")
    assert result.code == 2


def test_nothing_to_read_has_its_exit_code(hallmark: Hallmark, tmp_path: Path) -> None:
    assert hallmark("lab", "lockfiles", str(tmp_path)).code == 3
