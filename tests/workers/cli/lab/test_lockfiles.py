"""Labels of a corpus of lockfiles: what is right, missing and extra, and how far relations and scopes agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.workers.cli.conftest import Hallmark

LOCK = {
    "lockfileVersion": 3,
    "packages": {
        "": {"dependencies": {"oak": "1"}, "devDependencies": {"elm": "git+https://code.example/elm.git"}},
        "node_modules/oak": {"version": "1.0.0"},
        "node_modules/acorn": {"version": "2.0.0"},
        "node_modules/elm": {"resolved": "git+https://code.example/elm.git#abc", "dev": True},
    },
}


def row(name: str | None, version: str | None = None, *, file: str = "web/package-lock.json", **more: Any) -> str:
    named = {} if name is None else {"ecosystem": "npm", "name": name, "version": version}
    return json.dumps({"file": file, **named, **more})


def corpus(folder: Path, *rows: str) -> tuple[str, str]:
    """A folder with one lockfile of three packages, and a file of labels beside it."""
    (folder / "corpus" / "web").mkdir(parents=True)
    (folder / "corpus" / "web" / "package-lock.json").write_text(json.dumps(LOCK))
    (folder / "labels.jsonl").write_text("\n".join(rows))
    return str(folder / "corpus"), str(folder / "labels.jsonl")


def quality(hallmark: Hallmark, folder: Path, *rows: str) -> dict[str, Any]:
    where, labels = corpus(folder, *rows)
    result = hallmark("lab", "lockfiles", where, "--labels", labels, "--json")
    return result.rows[-1]["quality"]  # type: ignore[return-value]


def test_what_is_labelled_in_full_is_all_right(hallmark: Hallmark, tmp_path: Path) -> None:
    report = quality(
        hallmark,
        tmp_path,
        row("oak", "1.0.0", relation="direct", scopes=[]),
        row("acorn", "2.0.0", relation="transitive"),
        row("elm", None, relation="direct", scopes=["dev"]),
    )
    assert report["all"] == {
        "files": 1,
        "labelled": 3,
        "found": 3,
        "right": 3,
        "precision": 1.0,
        "recall": 1.0,
        "relations": 1.0,
        "scopes": 1.0,
    }
    assert report["formats"]["package-lock"] == report["all"]
    assert report["disagreements"] == []


def test_missing_extra_and_otherwise_related_packages_are_reported(hallmark: Hallmark, tmp_path: Path) -> None:
    report = quality(
        hallmark,
        tmp_path,
        row("oak", "1.0.1"),
        row("acorn", "2.0.0", relation="direct", scopes=["optional"]),
        row("elm"),
    )
    assert (report["all"]["precision"], report["all"]["recall"]) == (0.6667, 0.6667)
    assert (report["all"]["relations"], report["all"]["scopes"]) == (0.0, 0.0)
    assert [(one["package"], one["what"], one["labelled"], one["found"]) for one in report["disagreements"]] == [
        ("acorn", "relation", "direct", "transitive"),
        ("acorn", "scopes", "optional", "none"),
        ("oak", "extra", "no", "yes"),
        ("oak", "missing", "yes", "no"),
    ]


def test_what_has_no_version_may_be_labelled_by_any_text_that_is_none(hallmark: Hallmark, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "requirements.txt").write_text("pear>=1\nPlum\n")
    rows = [
        {"file": "./requirements.txt", "ecosystem": "pypi", "name": "Pear", "version": ">= 1"},
        {"file": "requirements.txt", "ecosystem": "PyPI", "name": "plum", "version": "unknown"},
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(json.dumps(one) for one in rows))
    result = hallmark(
        "lab", "lockfiles", str(tmp_path / "corpus"), "--labels", str(tmp_path / "labels.jsonl"), "--json"
    )
    assert result.rows[-1]["quality"]["all"]["right"] == 2  # type: ignore[index]


def test_a_labelled_file_that_is_not_there_was_missed(hallmark: Hallmark, tmp_path: Path) -> None:
    report = quality(hallmark, tmp_path, row("oak", "1.0.0", file="gone/yarn.lock"))
    assert report["formats"]["yarn"]["recall"] == 0.0
    assert report["disagreements"][0]["found"] == "no such file"


def test_files_without_labels_have_no_figures(hallmark: Hallmark, tmp_path: Path) -> None:
    report = quality(hallmark, tmp_path, row(None, file="other/go.sum"))
    assert report["all"]["found"] == 0
    assert report["all"]["precision"] is None


def test_a_label_tells_how_to_read_a_file_of_another_name(hallmark: Hallmark, tmp_path: Path) -> None:
    where, labels = corpus(tmp_path, row(None, file="one.json", format="package-lock"))
    (tmp_path / "corpus" / "one.json").write_text(json.dumps({"lockfileVersion": 3, "packages": {}}))
    result = hallmark("lab", "lockfiles", where, "--labels", labels)
    assert result.code == 0
    assert "one.json" in result.out


def test_the_table_ends_with_the_figures(hallmark: Hallmark, tmp_path: Path) -> None:
    where, labels = corpus(tmp_path, row("oak", "1.0.0"), row("fig", "1.0.0"))
    result = hallmark("lab", "lockfiles", where, "--labels", labels)
    assert "missing" in result.out
    assert "33.33%" in result.out
    assert "50.00%" in result.out


def test_a_row_that_is_no_label_is_wrong_usage(hallmark: Hallmark, tmp_path: Path) -> None:
    for bad in ("{", "[]", '{"name": "a"}', row("a", relation="cousin"), row("a", scopes=["x"]), row(None, format="x")):
        where, labels = corpus(tmp_path / str(len(bad)), bad)
        result = hallmark("lab", "lockfiles", where, "--labels", labels)
        assert result.code == 2, bad
        assert "line 1" in result.err


def test_the_platform_of_a_labelled_gem_is_no_part_of_its_version(hallmark: Hallmark, tmp_path: Path) -> None:
    (tmp_path / "Gemfile.lock").write_text(
        "GEM\n  specs:\n    fig (1.0.0-x86_64-linux)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  fig\n"
    )
    label = {"file": "Gemfile.lock", "ecosystem": "RubyGems", "name": "fig", "version": "1.0.0-x86_64-linux"}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label))
    path = str(tmp_path / "Gemfile.lock")
    result = hallmark("lab", "lockfiles", path, "--labels", str(tmp_path / "labels.jsonl"), "--json")
    assert result.rows[-1]["quality"]["all"]["right"] == 1  # type: ignore[index]
