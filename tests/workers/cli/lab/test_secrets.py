from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidence.patterns.secrets.samples import write_sample
from tests.workers.cli.conftest import Hallmark

TOKEN = write_sample("ghp_<w36>")


def tree(folder: Path) -> Path:
    """A project with a secret in its code, one in a test, a random value, and files without any."""
    (folder / "src").mkdir()
    (folder / "tests").mkdir()
    (folder / ".git").mkdir()
    (folder / "src" / "app.py").write_text(f'import os\ntoken = "{TOKEN}"\n')
    (folder / "src" / "other.py").write_text(write_sample('session_secret = "<w40>"\n'))
    (folder / "src" / "plain.py").write_text("token = os.environ['TOKEN']\n")
    (folder / "tests" / "test_app.py").write_text(f"TOKEN = '{TOKEN}'\n")
    (folder / ".git" / "config").write_text(TOKEN)
    (folder / "image.png").write_bytes(b"\0\0" + TOKEN.encode())
    return folder


def test_findings_are_reported_without_the_secret(hallmark: Hallmark, tmp_path: Path) -> None:
    result = hallmark("lab", "secrets", str(tree(tmp_path)))
    assert result.code == 0
    assert "src/app.py" in result.out and "github-token" in result.out
    assert "tests/test_app.py" not in result.out
    assert TOKEN not in result.out + result.err
    assert "5 files read, 1 binary; 4 findings, 2 of them count" in result.err


def test_json_has_one_row_for_each_finding_and_says_which_count(hallmark: Hallmark, tmp_path: Path) -> None:
    result = hallmark("lab", "secrets", str(tree(tmp_path)), "--json", "--salt", "a")
    rows = {(row["path"], row["line"]): row for row in result.rows}
    assert {place: (row["pattern"], row["discount"], row["counts"]) for place, row in rows.items()} == {
        (".git/config", 1): ("github-token", None, True),
        ("src/app.py", 2): ("github-token", None, True),
        ("src/other.py", 1): ("assignment", "generic", False),
        ("tests/test_app.py", 1): ("github-token", "test", False),
    }
    assert rows["src/app.py", 2]["digest"] == rows["tests/test_app.py", 1]["digest"]
    assert TOKEN not in result.out
    assert hallmark("lab", "secrets", str(tmp_path), "--json", "--salt", "a").out == result.out


def test_precision_and_recall_where_labels_are_given(hallmark: Hallmark, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    known = [("src/app.py", True), ("src/plain.py", False), ("src/other.py", True)]
    (tmp_path / "tree").mkdir()
    labels.write_text("".join(json.dumps({"path": path, "secret": secret}) + "\n" for path, secret in known))
    result = hallmark("lab", "secrets", str(tree(tmp_path / "tree")), "--labels", str(labels), "--json")
    quality = result.rows[-1]["quality"]
    assert quality["all"] == {"precision": 1.0, "recall": 1.0, "right": 2, "wrong": 0, "missed": 0}  # type: ignore[index]
    assert quality["counting"]["recall"] == 0.5  # type: ignore[index]


def test_a_rule_file_takes_the_place_of_our_patterns(hallmark: Hallmark, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rules]]\nid = 'environ'\nregex = '''os\\.environ'''\n")
    (tmp_path / "tree").mkdir()
    rows = hallmark("lab", "secrets", str(tree(tmp_path / "tree")), "--secret-rules", str(rules), "--json").rows
    assert [(row["pattern"], row["path"]) for row in rows] == [("environ", "src/plain.py")]


@pytest.mark.parametrize("content", ["not toml", "[[rules]]\nid = 'a'\nregex = '''(?<=a)b'''\n"])
def test_a_rule_file_that_is_none_is_wrong_usage(hallmark: Hallmark, tmp_path: Path, content: str) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(content)
    result = hallmark("lab", "secrets", str(tmp_path), "--secret-rules", str(rules))
    assert result.code == 2
    assert "rules.toml cannot be used: expected" in result.err


def test_an_empty_folder_measures_nothing(hallmark: Hallmark, tmp_path: Path) -> None:
    assert hallmark("lab", "secrets", str(tmp_path)).code == 3
