"""Scans tools in a JSON Lines file, each together with the names of its server's other tools, in bounded memory.

The file is read twice: first for the tool names of each server, then row by row.
"""

from __future__ import annotations

import codecs
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from evidence.canonical import Json, NotJson, parse_json
from evidence.derive.poisoning import Hit, scan_listing
from evidence.derive.poisoning.listing_texts import escape_segment
from evidence.kinds.listing import Listing

MAX_LINE: Final = 4_000_000
"""Bytes of one row; a longer one is invalid."""
MAX_NAMES: Final = 500
"""Tool names kept per server."""
MAX_SERVERS: Final = 50_000
"""Servers whose tool names are kept; tools of further servers are scanned alone."""
MAX_NAME: Final = 200
MAX_LABELS: Final = 50_000_000
"""Bytes of the categories file."""

ServerKey: TypeAlias = tuple[str, str]


class ToolRow(Struct, frozen=True):
    """One tool. `label` says whether it is poisoned, `categories` in which way; each is None without such a label."""

    id: str | int
    group: ServerKey
    name: str
    tool: Mapping[str, Json]
    label: bool | None
    set: str
    categories: frozenset[str] | None = None


class InvalidRow(Struct, frozen=True):
    """A line that is not a valid row, and the reason."""

    line: int
    why: str


class ToolCorpus(Struct, frozen=True):
    """A file of rows, the tool names of each server in it, and categories by row id."""

    path: Path
    names: Mapping[ServerKey, frozenset[str]]
    categories: Mapping[str, frozenset[str]]

    @staticmethod
    def read(path: Path, categories: Mapping[str, frozenset[str]] | None = None) -> ToolCorpus:
        """Read the tool names; raise OSError when the file cannot be read."""
        names: dict[ServerKey, set[str]] = defaultdict(set)
        for row in _rows(path):
            if isinstance(row, InvalidRow) or not row.name or not row.group[1]:
                continue
            if (row.group in names or len(names) < MAX_SERVERS) and len(names[row.group]) < MAX_NAMES:
                names[row.group].add(row.name[:MAX_NAME])
        return ToolCorpus(path, {group: frozenset(each) for group, each in names.items()}, categories or {})

    def scan(self) -> Iterator[tuple[ToolRow, tuple[Hit, ...]] | tuple[InvalidRow, tuple[Hit, ...]]]:
        """Every row with its findings, in the order of the file; an invalid row has none."""
        for row in _rows(self.path):
            yield (row, ()) if isinstance(row, InvalidRow) else (self._labelled(row), self._hits(row))

    def _labelled(self, row: ToolRow) -> ToolRow:
        categories = self.categories.get(str(row.id))
        return row if row.categories is not None or categories is None else replace(row, categories=categories)

    def _hits(self, row: ToolRow) -> tuple[Hit, ...]:
        others = sorted(self.names.get(row.group, frozenset()) - {row.name})
        tools: list[Json] = [row.tool, *({"name": name} for name in others)]
        listing = Listing({"lists": {"tools": {"end": "complete", "pages": [{"tools": tools}]}}})
        own = f"tools/{escape_segment(row.name or '@0')}/"
        return tuple(hit for hit in scan_listing(listing) if hit.at.startswith(own))


def read_categories(path: Path) -> dict[str, frozenset[str]]:
    """Read categories by row id from a file with one JSON object; raise OSError or ValueError."""
    value = parse_json(path.read_bytes(), max_bytes=MAX_LABELS)
    categories: dict[str, frozenset[str]] = {}
    for ident, names in value.items() if isinstance(value, Mapping) else [("", None)]:
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise ValueError(f"{path}: expected an object that maps row ids to lists of categories")
        categories[ident] = frozenset(str(each) for each in names)
    return categories


def _rows(path: Path) -> Iterator[ToolRow | InvalidRow]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # some editors write it
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    continue
                yield InvalidRow(number, f"longer than {MAX_LINE} bytes")
            elif line.strip():
                yield _row(line, number)


def _row(line: bytes, number: int) -> ToolRow | InvalidRow:
    try:
        value = parse_json(line.strip(), max_bytes=MAX_LINE)
    except NotJson as error:
        return InvalidRow(number, str(error)[:200])
    if not isinstance(value, Mapping):
        return InvalidRow(number, "expected an object")
    name, description = value.get("name"), value.get("description")
    if not isinstance(description, str | None) or not isinstance(name, str | None):
        return InvalidRow(number, "expected name and description to be strings")
    categories = value.get("categories")
    if not _is_names(categories):
        return InvalidRow(number, "expected categories to be a list of strings")
    ident = value.get("id")
    label, server, part = value.get("label"), value.get("server"), value.get("set")
    members = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    return ToolRow(
        id=ident if isinstance(ident, str | int) else number,
        group=(part if isinstance(part, str) else "", server if isinstance(server, str) else ""),
        name=name or "",
        tool={member: value[member] for member in members if value.get(member) is not None},
        label=bool(label) if isinstance(label, bool | int) else None,
        set=part if isinstance(part, str) else "",
        categories=None if categories is None else frozenset(categories),
    )


def _is_names(value: object) -> TypeGuard[list[str] | None]:
    return value is None or (isinstance(value, list) and all(isinstance(each, str) for each in value))
