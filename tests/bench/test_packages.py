"""What the bench of well-known packages says of them, without starting any."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.captures import differences, entry_of
from bench.launching import target_of
from bench.packages import Row, declared, line, table, wants_credentials, write
from evidence.model import TargetType


class Item:
    def __init__(self, raw: dict[str, object]) -> None:
        self.raw = raw


def test_at_least_sixty_packages_are_declared_and_half_of_them_want_credentials() -> None:
    entries = declared()
    names = {(entry["registryType"], entry["identifier"]) for entry in entries}
    assert len(names) == len(entries) >= 60
    assert sum(map(wants_credentials, entries)) * 2 >= len(entries)
    assert {entry["registryType"] for entry in entries} == {"npm", "pypi"}


@pytest.mark.parametrize("entry", declared(), ids=lambda entry: entry["identifier"])
def test_each_is_a_target_as_a_registry_would_name_it(entry: dict[str, object]) -> None:
    target = target_of(entry)
    assert target.type in {TargetType.NPM, TargetType.PYPI}
    assert target.version is None


def test_differences_name_what_is_missing_new_and_changed() -> None:
    before = [{"name": "a", "description": "x"}, {"name": "b"}, {"name": "gone"}]
    now = [Item({"name": "b"}), Item({"name": "a", "description": "y"}), Item({"name": "new"})]
    assert list(differences("tools", before, now)) == [
        "tools only recorded: gone",
        "tools only in the sandbox: new",
        "tools with another description: a",
    ]


def test_order_alone_is_a_difference_and_nothing_is_none() -> None:
    before = [{"name": "a"}, {"name": "b"}]
    assert list(differences("tools", before, [Item({"name": "b"}), Item({"name": "a"})])) == ["tools in another order"]
    assert list(differences("tools", before, [Item({"name": "a"}), Item({"name": "b"})])) == []


def test_a_capture_is_compared_at_its_own_version() -> None:
    capture = {"package": "mcp-server-time", "version": "1.2.3", "capture": {"ecosystem": "pypi"}}
    entry = entry_of(capture, declared())
    assert entry is not None
    assert target_of(entry).version == "1.2.3"
    assert entry_of({**capture, "package": "nobody-declares-this"}, declared()) is None


def test_what_a_server_said_cannot_break_the_table() -> None:
    row = Row(package="npm:x", credentials=True, reason="start_failed", detail="a|b\n`c` <script>" + "d" * 500)
    said = line(row)
    assert said.count("|") == 5
    assert "\n" not in said
    assert "<script" not in said
    assert len(said) < 400


def test_writing_the_table_again_keeps_the_page_around_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- packages -->\nprevious\n<!-- end of packages -->\nafter\n")
    write(page, table([Row(package="npm:x", credentials=False, tools=3)]))
    once = page.read_text()
    write(page, table([Row(package="npm:x", credentials=False, tools=3)]))
    assert page.read_text() == once
    assert once.startswith("before\n<!-- packages -->\n1 packages, of which 0 declare credentials: **1 list")
    assert once.endswith("<!-- end of packages -->\nafter\n")
    assert "previous" not in once
