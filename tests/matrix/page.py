"""The generated parts of docs/version-matrix.md: versions that behave alike share a line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tests.conformance.page import table
from tests.matrix.measuring import Row
from tests.matrix.probing import DEPTHS
from tests.matrix.questions import classify
from tests.matrix.versions import Environment

PAGE = "version-matrix.md"
NOT_ASKED = "–"
COUNTED = ("mcp 1.8.1", "mcp 2.3.0", "TypeScript SDK 1.17.5", "TypeScript server 2.4.0")
"""Servers of which the page gives the number of requests."""


def matrix(rows: Sequence[Row]) -> str:
    """How a fresh client is served after each probe."""
    head = ["server on", "versions", "transports", "negotiates", "serves afterwards"]
    return table(head, _lines(rows))


def requests(rows: Sequence[Row]) -> str:
    """How many requests a probe of each depth sends to some servers; transports of equal counts share a line."""
    counted: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row.environment.name in COUNTED:
            counts = (str(row.outcomes[depth].requests) if depth in row.outcomes else NOT_ASKED for depth in DEPTHS)
            counted.setdefault((row.environment.name, *counts), []).append(row.transport)
    lines = [[name, ", ".join(transports), *counts] for (name, *counts), transports in counted.items()]
    return table(["server on", "transports", *DEPTHS], lines)


def causes(found: Mapping[Environment, Mapping[str, Collection[str]]]) -> str:
    """Which single questions bring a server down; environments of which the same is true share a line."""
    joined: dict[str, dict[str, list[str]]] = {}
    for environment, of_transport in found.items():
        for transport, names in of_transport.items():
            told = "; ".join(classify(names)) or "nothing"
            joined.setdefault(told, {}).setdefault(environment.name, []).append(transport)
    lines = []
    for told, environments in joined.items():
        of_transports: dict[str, list[str]] = {}
        for name, transports in environments.items():
            of_transports.setdefault(", ".join(transports), []).append(name)
        lines += [[", ".join(names), transports, told] for transports, names in of_transports.items()]
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
        if row.environment not in environments:
            environments.append(row.environment)
        if row.transport not in transports:
            transports.append(row.transport)
    order = list(dict.fromkeys(row.environment for row in rows))
    for (family, note, *rest), (environments, transports) in groups.items():
        versions = ", ".join(_ranges([one for one in order if (one.family, one.note) == (family, note)], environments))
        yield [family, f"{versions} with {note}" if note else versions, ", ".join(transports), *rest]


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
