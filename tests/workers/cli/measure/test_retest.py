"""`hallmark retest` and `hallmark retests` without workers: asked, done and shown by one command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.workers.cli.conftest import Hallmark


@pytest.fixture
def known(hallmark: Hallmark, fleet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a server that was measured once."""
    document = {
        "name": "io.example/one",
        "description": "One.",
        "version": "1.0.0",
        "remotes": [{"type": "streamable-http", "url": f"{fleet}/s/1/mcp"}],
    }
    (tmp_path / "server.json").write_text(json.dumps(document))
    for name, value in (("ALLOW_PRIVATE", "true"), ("SANDBOX", "off"), ("INTEROP", "off"), ("DEPTH", "full")):
        monkeypatch.setenv(f"HALLMARK_{name}", value)
    ran = hallmark("run", "--registry", str(tmp_path / "server.json"), "--quiet")
    assert ran.code == 0, ran.err
    return "io.example/one"


def test_a_retest_shows_every_rubric_before_and_after(hallmark: Hallmark, known: str) -> None:
    done = hallmark("retest", known)
    assert done.code == 0, done.err
    assert "Before" in done.out
    assert "adaptive@2" in done.out
    assert "nothing changed" in done.err


def test_programs_get_one_object_and_the_list_tells_the_same(hallmark: Hallmark, known: str) -> None:
    (row,) = hallmark("retest", known, "--json").rows
    assert row["state"] == "done"
    changes = row["changes"]
    assert isinstance(changes, Sequence)
    assert {"adaptive", "lint", "sdk_tier"} <= {change["rubric"] for change in changes}
    (listed,) = hallmark("retests", "--json").rows
    assert {name: value for name, value in row.items() if name != "changes"} == listed
    assert "done" in hallmark("retests", known).out


def test_a_retest_is_not_the_newest_run(hallmark: Hallmark, known: str) -> None:
    before = hallmark("list", "--json").out
    assert hallmark("retest", known).code == 0
    assert hallmark("list", "--json").out == before


def test_its_receipts_are_the_newest_of_its_server(hallmark: Hallmark, known: str) -> None:
    (shown,) = hallmark("show", known, "--json").rows
    (row,) = hallmark("retest", known, "--json").rows
    assert shown["run"] == row["before"]
    (again,) = hallmark("show", known, "--json").rows
    assert again["run"] == row["run"]


def test_an_unknown_server_is_not_tested(hallmark: Hallmark, known: str) -> None:
    assert hallmark("retest", "io.example/other").code == 3
