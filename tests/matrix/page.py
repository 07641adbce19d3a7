"""The generated parts of docs/version-matrix.md: versions that behave alike share a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.conformance.page import table
from tests.matrix.measuring import Row
from tests.matrix.probing import DEPTHS
from tests.matrix.versions import Environment

PAGE = "version-matrix.md"
SERVED, LEAKING, HARMED, NOT_ASKED = "as before", "leaks, as with any client", "harmed", "–"


def matrix(rows: Sequence[Row]) -> str:
    """How a fresh client is served after each probe."""
    head = ["server on", "versions", "transports", "negotiates", *(f"after {depth}" for depth in DEPTHS)]
    return table(head, _lines(rows))


def requests(rows: Sequence[Row]) -> str:
    """How many requests a probe of each depth sends to the servers of each family, by transport."""
    counted: dict[tuple[str, str], dict[str, list[int]]] = {}
    for row in rows:
        of_depth = counted.setdefault((row.environment.family, row.transport), {})
        for depth, outcome in row.outcomes.items():
            if not outcome.harm:
                of_depth.setdefault(depth, []).append(outcome.requests)
    lines = [
        [family, transport, *(_span(of_depth.get(depth, [])) for depth in DEPTHS)]
        for (family, transport), of_depth in counted.items()
    ]
    return table(["server on", "transport", *DEPTHS], lines)


def causes(found: Mapping[Environment, Mapping[str, Sequence[str]]]) -> str:
    """Which single questions bring a server down, by transport."""
    lines = []
    for environment, of_transport in found.items():
        joined: dict[str, list[str]] = {}
        for transport, names in of_transport.items():
            joined.setdefault("; ".join(names) or "none", []).append(transport)
        lines += [[environment.name, ", ".join(transports), names] for names, transports in joined.items()]
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
        verdicts = (_verdict(row, depth) for depth in DEPTHS)
        key = (row.environment.family, row.environment.note, row.negotiated, *verdicts)
        environments, transports = groups.setdefault(key, ([], []))
        if row.environment not in environments:
            environments.append(row.environment)
        if row.transport not in transports:
            transports.append(row.transport)
    order = list(dict.fromkeys(row.environment for row in rows))
    for (family, note, *rest), (environments, transports) in groups.items():
        versions = ", ".join(_ranges([one for one in order if (one.family, one.note) == (family, note)], environments))
        yield [family, f"{versions} with {note}" if note else versions, ", ".join(transports), *rest]


def _verdict(row: Row, depth: str) -> str:
    outcome = row.outcomes.get(depth)
    if outcome is None:
        return NOT_ASKED
    return HARMED if outcome.harm else LEAKING if row.leaks else SERVED


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


def _span(counts: Sequence[int]) -> str:
    if not counts:
        return NOT_ASKED
    return str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
