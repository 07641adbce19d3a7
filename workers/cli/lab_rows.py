"""Rows of tools in a file of JSON lines, judged beside the other tools of their server, in bounded memory.

The file is read twice: first for the names of each server's tools, of which only so many are kept, then row by row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from evidence.canonical import Json, NotJson, parse_json
from evidence.derive.poisoning import Hit, scan
from evidence.derive.poisoning.said import segment
from evidence.kinds.listing import Listing

MAX_LINE: Final = 4_000_000
"""Bytes of one row; a longer one is recorded as bad."""
MAX_NAMES: Final = 500
"""Other tools of a server whose names are known to a row."""
MAX_SERVERS: Final = 50_000
"""Servers whose names are kept; rows of others are judged alone."""
MAX_NAME: Final = 200

Group: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One tool. `label`: whether somebody calls it poisoned; None when nobody says."""

    id: str | int
    group: Group
    name: str
    tool: Mapping[str, Json]
    label: bool | None
    set: str


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that is no row, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file of rows, and the names of the tools of each server in it."""

    path: Path
    names: Mapping[Group, frozenset[str]]

    @staticmethod
    def of(path: Path) -> Corpus:
        """Read the names; raise OSError when the file cannot be read."""
        names: dict[Group, set[str]] = defaultdict(set)
        for row in _rows(path):
            if isinstance(row, Bad) or not row.name or not row.group[1]:
                continue
            if (row.group in names or len(names) < MAX_SERVERS) and len(names[row.group]) < MAX_NAMES:
                names[row.group].add(row.name[:MAX_NAME])
        return Corpus(path, {group: frozenset(each) for group, each in names.items()})

    def judged(self) -> Iterator[tuple[Row, tuple[Hit, ...]] | tuple[Bad, tuple[Hit, ...]]]:
        """Every row with its findings, in the order of the file; a line that is no row has none."""
        for row in _rows(self.path):
            yield (row, ()) if isinstance(row, Bad) else (row, self._hits(row))

    def _hits(self, row: Row) -> tuple[Hit, ...]:
        others = sorted(self.names.get(row.group, frozenset()) - {row.name})
        tools: list[Json] = [row.tool, *({"name": name} for name in others)]
        listing = Listing({"lists": {"tools": {"end": "complete", "pages": [{"tools": tools}]}}})
        own = f"tools/{segment(row.name or '@0')}/"
        return tuple(hit for hit in scan(listing) if hit.at.startswith(own))


def _rows(path: Path) -> Iterator[Row | Bad]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    continue
                yield Bad(number, f"longer than {MAX_LINE} bytes")
            elif line.strip():
                yield _row(line, number)


def _row(line: bytes, number: int) -> Row | Bad:
    try:
        value = parse_json(line.strip(), max_bytes=MAX_LINE)
    except NotJson as error:
        return Bad(number, str(error)[:200])
    if not isinstance(value, Mapping):
        return Bad(number, "expected an object")
    name, description = value.get("name"), value.get("description")
    if not isinstance(description, str | None) or not isinstance(name, str | None):
        return Bad(number, "expected name and description to be strings")
    ident = value.get("id")
    told = value.get("label")
    server, part = value.get("server"), value.get("set")
    members = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    return Row(
        id=ident if isinstance(ident, str | int) else number,
        group=(part if isinstance(part, str) else "", server if isinstance(server, str) else ""),
        name=name or "",
        tool={member: value[member] for member in members if value.get(member) is not None},
        label=bool(told) if isinstance(told, bool | int) else None,
        set=part if isinstance(part, str) else "",
    )
