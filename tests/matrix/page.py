"""The generated parts of docs/version-matrix.md: versions that behave alike share a line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from tests.conformance.page import table
from tests.matrix.measuring import Row
from tests.matrix.probing import CORE, DEPTHS, FULL
from tests.matrix.questions import classify
from tests.matrix.versions import HTTP, JSON, SSE, STATELESS, STDIO, Environment

_Item = TypeVar("_Item")

PAGE = "version-matrix.md"
NOT_ASKED = "–"
COUNTED = ("mcp 1.8.1", "mcp 2.3.0", "TypeScript SDK 1.17.5")
"""Servers of which the page gives the number of requests."""

BEFORE = {
    "mcp 1.8.1": {HTTP: (9, 35), STATELESS: (5, 5), JSON: (9, 33), SSE: (7, 16), STDIO: (6, 14)},
    "mcp 2.3.0": {HTTP: (8, 57), STATELESS: (7, 49), JSON: (8, 57), SSE: (7, 15), STDIO: (6, 34)},
    "TypeScript SDK 1.17.5": {HTTP: (5, 31), STATELESS: (4, 22), JSON: (5, 31), SSE: (4, 12), STDIO: (3, 14)},
}
"""Requests of a core and a full scan at commit c137b9de (23 November 2026), before questions had a risk and an order,
counted by a proxy between `hallmark scan` and the server. There was no light check. A server on mcp 1.8.1 that is
stateless fell after five."""


def matrix(rows: Sequence[Row]) -> str:
    """How a fresh client is served after each probe."""
    head = ["server on", "versions", "transports", "negotiates", "serves afterwards"]
    return table(head, _lines(rows))


def requests(rows: Sequence[Row]) -> str:
    """How many requests a probe of each depth sends to some servers; transports of equal counts share a line."""
    counted: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row.environment.name in COUNTED:
            counts = [str(row.outcomes[depth].requests) if depth in row.outcomes else NOT_ASKED for depth in DEPTHS]
            before = map(str, BEFORE[row.environment.name][row.transport])
            counted.setdefault((row.environment.name, *counts, *before), []).append(row.transport)
    lines = [[name, ", ".join(transports), *counts] for (name, *counts), transports in counted.items()]
    return table(["server on", "transports", *DEPTHS, *(f"{depth} before" for depth in (CORE, FULL))], lines)


def causes(found: Mapping[Environment, Mapping[str, Collection[str]]]) -> str:
    """Which single questions bring servers down; questions that do so to the same servers share a line."""
    fallen: dict[str, tuple[list[Environment], list[str]]] = {}
    for environment, of_transport in found.items():
        for transport, names in of_transport.items():
            for cause in classify(names):
                environments, transports = fallen.setdefault(cause, ([], []))
                _add(environments, environment)
                _add(transports, transport)
    joined: dict[tuple[str, str], list[str]] = {}
    for cause, (environments, transports) in fallen.items():
        servers = ", ".join(_describe(list(found), environments))
        joined.setdefault((servers, ", ".join(transports)), []).append(cause)
    lines = [[servers, transports, "; ".join(asked)] for (servers, transports), asked in joined.items()]
    return table(["server on", "transports", "each alone brings it down"], lines)


def write(docs: Path, parts: Mapping[str, str]) -> None:
    """Replace parts of the page, each between two comments that name it."""
    page = docs / PAGE
    text = page.read_text()
    for name, part in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        text, count = pattern.subn(lambda match, part=part: match[1] + part + "\n" + match[2], text)  # type: ignore[misc]
        if not count:
            raise SystemExit(f"{page} has no part {name}")
    page.write_text(text)


def _lines(rows: Sequence[Row]) -> Iterator[list[str]]:
    groups: dict[tuple[str, ...], tuple[list[Environment], list[str]]] = {}
    for row in rows:
        key = (row.environment.family, row.environment.note, row.negotiated, _verdict(row))
        environments, transports = groups.setdefault(key, ([], []))
        _add(environments, row.environment)
        _add(transports, row.transport)
    order = list(dict.fromkeys(row.environment for row in rows))
    for (family, _, *rest), (environments, transports) in groups.items():
        [name] = _describe(order, environments)
        yield [family, name.removeprefix(f"{family} "), ", ".join(transports), *rest]


def _describe(order: Sequence[Environment], chosen: Sequence[Environment]) -> Iterator[str]:
    """The environments of each family and note in words, neighbours in the order as one range."""
    kinds = dict.fromkeys((one.family, one.note) for one in chosen)
    for family, note in kinds:
        known, own = ([one for one in some if (one.family, one.note) == (family, note)] for some in (order, chosen))
        yield f"{family} {', '.join(_ranges(known, own))}{f' with {note}' if note else ''}"


def _add(found: list[_Item], item: _Item) -> None:
    if item not in found:
        found.append(item)


def _verdict(row: Row) -> str:
    if row.harms:
        return f"not after {', '.join(row.harms)}"
    return "as before; leaks with every request of any client" if row.leaks else "as before"


def _ranges(order: Sequence[Environment], chosen: Sequence[Environment]) -> Iterator[str]:
    """Neighbours in the order as one range."""
    positions = [order.index(one) for one in chosen]
    start = 0
    for end in range(len(positions)):
        if end + 1 < len(positions) and positions[end + 1] == positions[end] + 1:
            continue
        first, last = chosen[start].version, chosen[end].version
        yield first if first == last else f"{first} to {last}"
        start = end + 1
