"""A scan checks the opt-outs of its installation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from evidence.store import open_store
from tests.servers.daemon import free_port
from tests.workers.cli.conftest import Hallmark


@pytest.fixture
def listed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of opt-outs with a domain and this machine."""
    (tmp_path / "opt-outs.txt").write_text("example.com # asked by mail\nhost: 127.0.0.1\n")
    monkeypatch.setenv("HALLMARK_OPT_OUTS", str(tmp_path / "opt-outs.txt"))


@pytest.mark.usefixtures("listed")
def test_who_is_in_the_file_is_left_alone(hallmark: Hallmark, home: Path) -> None:
    found = hallmark("scan", "https://mcp.example.com/mcp", "--json")
    assert (found.code, found.out) == (3, "")
    assert "the domain example.com opted out of being measured" in found.err
    assert "--anyway" in found.err
    assert not (home / "hallmark.db").exists()


@pytest.mark.usefixtures("listed")
def test_anyway_looks_all_the_same(hallmark: Hallmark) -> None:
    target = f"http://127.0.0.1:{free_port()}/mcp"
    assert "is not contacted" in hallmark("scan", target, "--allow-private").err
    found = hallmark("scan", target, "--allow-private", "--anyway", "--core", "--json")
    assert "is not contacted" not in found.err
    assert "unreachable" in found.out


def test_who_is_in_the_table_is_left_alone_by_any_of_its_names(
    hallmark: Hallmark, home: Path, stored: Sequence[str]
) -> None:
    store = open_store(f"sqlite:///{home}/hallmark.db")
    server = next(one for one in store.find_servers(stored) if one.ref.startswith("https://") and one.name != one.ref)
    store.close()
    assert hallmark("opt-out", "add", f"server: {server.name}", "--note", "asked", "--by", "ann").code == 0
    found = hallmark("scan", server.ref)
    assert found.code == 3
    assert f"{server.ref} is not contacted: the server {server.name}" in found.err.replace("\n", " ")


def test_a_list_that_cannot_be_read_stops_a_scan(
    hallmark: Hallmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALLMARK_OPT_OUTS", str(tmp_path / "nowhere.txt"))
    found = hallmark("scan", "https://mcp.example.com/mcp")
    assert found.code != 0
    assert "HALLMARK_OPT_OUTS" in found.err


def test_a_database_that_is_away_stops_a_scan(hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    away = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/hallmark?connect_timeout=2"
    monkeypatch.setenv("HALLMARK_DATABASE_URL", away)
    found = hallmark("scan", "https://mcp.example.com/mcp")
    assert found.code == 1
    assert "--anyway" in found.err
