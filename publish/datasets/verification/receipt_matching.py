"""Compares receipts as rows of a dataset; withheld lines are compared by the sum of their points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from msgspec import Struct

from publish.datasets.format.columns import Row, zip_columns
from publish.datasets.format.tables import DIMENSIONS, ECOSYSTEM, LINES, RUN, SCORECARDS
from publish.datasets.rows.server_rows import make_receipt_columns, mask_secrets
from publish.disclosure import WITHHELD
from scoring.receipt import describe_scorecard
from scoring.results.scorecard import Scorecard

Place: TypeAlias = tuple[str | None, str | None]
"""Dimension and component of a line; both None for lines of the whole receipt."""

Mismatch: TypeAlias = tuple[str, Any, Any]
"""Where two receipts differ, what was expected and what was found."""

WHOLE_RECEIPT: Final[Place] = (None, None)
_KEY: Final = frozenset({"server", RUN, "rubric", "version", ECOSYSTEM, "as_of"})
_OF_LINE: Final = ("cites", "points", "why", "rule", "at", "severity", "evidence", "checked")


class ReceiptRows(Struct, frozen=True):
    """The rows of one receipt."""

    card: Row
    parts: Sequence[Row]
    lines: Sequence[Row]

    @property
    def server(self) -> str:
        return str(self.card["server"])

    @property
    def name(self) -> str:
        return name_receipt(self.card)

    @property
    def places(self) -> dict[Place, list[Row]]:
        """The lines of each place, in their order."""
        found: dict[Place, list[Row]] = {}
        for line in self.lines:
            found.setdefault((line["dimension"], line["component"]), []).append(line)
        return found

    @property
    def by_part(self) -> dict[Place, Row]:
        """The rows of dimensions and components by their place."""
        return {(row["dimension"], row["component"]): row for row in self.parts}


def name_receipt(card: Row) -> str:
    """The name of the rubric of a receipt, given its row of `scorecards`."""
    return f"{card['rubric']}@{card['version']}"


def group_receipts(rows: Mapping[str, Sequence[Row]]) -> list[ReceiptRows]:
    """The receipts of one server, from its rows."""
    parts, lines = (_by_card(rows.get(table.name, ())) for table in (DIMENSIONS, LINES))
    return [
        ReceiptRows(row, parts.get(_card(row), ()), lines.get(_card(row), ())) for row in rows.get(SCORECARDS.name, ())
    ]


def render_receipts(cards: Iterable[Scorecard], published: ReceiptRows) -> list[ReceiptRows]:
    """Public receipts of one server as this code publishes them, with the run and ecosystem of a published one."""
    columns = make_receipt_columns(map(describe_scorecard, cards), published.card[RUN], published.card[ECOSYSTEM])
    return group_receipts({name: zip_columns(some) for name, some in mask_secrets(columns).items()})


def find_first_difference(mine: ReceiptRows, published: ReceiptRows) -> Mismatch | None:
    """The first difference of two receipts: results first, then parts, then lines."""
    if mine == published:
        return None
    return next(find_differences(mine, published), None)


def find_differences(mine: ReceiptRows, published: ReceiptRows) -> Iterator[Mismatch]:
    """All differences of two receipts."""
    yield from compare_rows("", mine.card, published.card)
    ours, theirs = mine.by_part, published.by_part
    for place in (*ours, *(one for one in theirs if one not in ours)):
        yield from compare_part(place, ours.get(place), theirs.get(place))
    mine_lines, their_lines = mine.places, published.places
    for place in (*mine_lines, *(one for one in their_lines if one not in mine_lines)):
        yield from compare_lines(place, mine_lines.get(place, ()), their_lines.get(place, ()))


def compare_part(place: Place, mine: Row | None, published: Row | None) -> Iterator[Mismatch]:
    """The differences of the rows of a dimension or component."""
    if mine is None or published is None:
        yield _at(place), mine and "a row", published and "a row"
    else:
        yield from compare_rows(f"{_at(place)} ", mine, published)


def compare_rows(at: str, mine: Row, published: Row) -> Iterator[Mismatch]:
    """The differences of two rows."""
    for name, value in mine.items():
        if name not in _KEY and value != published[name]:
            yield f"{at}{name}", value, published[name]


def compare_lines(place: Place, mine: Sequence[Row], published: Sequence[Row]) -> Iterator[Mismatch]:
    """The differences of the lines of one place; of withheld lines only the sum of points is compared."""
    recomputed, stated = _line_values(mine), _line_values(published)
    at = f"{_at(place)} lines".strip()
    for number, (one, other) in enumerate(zip(recomputed, stated, strict=False)):
        if one != other:
            name = next(name for name, left, right in zip(_OF_LINE, one, other, strict=True) if left != right)
            index = _OF_LINE.index(name)
            yield f"{at} {number} {name}", one[index], other[index]
            return
    if len(recomputed) != len(stated):
        yield at, f"{len(recomputed)} lines", f"{len(stated)} lines"
    if (here := sum_withheld(mine)) != (there := sum_withheld(published)):
        yield f"{at} withheld points", here, there


def sum_withheld(lines: Sequence[Row]) -> Decimal:
    """The sum of the points of withheld lines in one place."""
    return sum((Decimal(line["points"]) for line in lines if line["cites"] == WITHHELD), Decimal(0))


def _line_values(lines: Sequence[Row]) -> list[tuple[Any, ...]]:
    return [tuple(line[name] for name in _OF_LINE) for line in lines if line["cites"] != WITHHELD]


def _at(place: Place) -> str:
    return ".".join(part for part in place if part)


def _by_card(rows: Sequence[Row]) -> dict[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault(_card(row), []).append(row)
    return found


def _card(row: Row) -> tuple[str, int]:
    return row["rubric"], row["version"]
