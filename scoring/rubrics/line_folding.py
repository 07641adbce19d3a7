"""Limits the length of receipts: the lines of one id beyond a limit are summed up in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from itertools import islice

from msgspec.structs import replace

from scoring.results.scorecard import Line


def fold_lines(lines: Iterable[Line], limit: int) -> tuple[Line, ...]:
    """The first `limit` lines of each published id in order, then one line with the points of the rest of each id."""
    lines = iter(lines)
    kept = list(islice(lines, limit))
    if len(kept) < limit:
        return tuple(kept)
    seen = Counter([line.cites for line in kept])
    last: dict[str, Line] = {}
    points: dict[str, Decimal] = {}
    for line in lines:
        seen[line.cites] += 1
        if seen[line.cites] <= limit:
            kept.append(line)
        else:
            last[line.cites] = line
            points[line.cites] = points.get(line.cites, Decimal(0)) + line.points
    for cites, line in last.items():
        rest = seen[cites] - limit
        more = f"{rest} more {'finding' if rest == 1 else 'findings'}"
        kept.append(replace(line, points=points[cites], why=more, at="", rule=None, checked=0))
    return tuple(kept)
