"""The lines of receipts as columns: most rows of a dataset by far, so each costs a few list items and no dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, Final

from publish.datasets.format.columns import Columns
from publish.datasets.format.tables import LINES

MAX_DECIMALS: Final = 28
"""Maximum decimal places of a number in the dataset."""

_WIDE: Final = Context(prec=60)
_LAST: Final = Decimal(1).scaleb(-MAX_DECIMALS)


class LineColumns:
    """The columns of table `lines` for receipts in JSON values. `cited` renames digests of evidence."""

    def __init__(self, run: str, cited: Mapping[str, str]) -> None:
        self._run = run
        self._cited = cited
        self._lines: list[Mapping[str, Any]] = []
        self._keys: list[list[Any]] = [[] for _ in range(6)]
        self._positions: list[int] = []

    def add(self, card: Mapping[str, Any]) -> None:
        """Add the lines of a receipt: its own, then those of each dimension and of its components."""
        key = (card["server"], self._run, card["rubric"], card["version"])
        self._add((*key, None, None), card["lines"])
        for dimension in card["dimensions"]:
            self._add((*key, dimension["name"], None), dimension["lines"])
            for part in dimension["components"]:
                self._add((*key, dimension["name"], part["name"]), part["lines"])

    @property
    def columns(self) -> Columns:
        """The columns of all receipts that were added."""
        lines = self._lines
        if not lines:
            return {}
        evidence = [line["evidence"] for line in lines]
        renamed = {digest: self._cited.get(digest, digest) for digest in set(evidence)}
        values = (
            *self._keys,
            self._positions,
            [line["cites"] for line in lines],
            [shorten_decimal(line["points"]) for line in lines],
            [line["why"] for line in lines],
            [line["rule"] for line in lines],
            [line["at"] for line in lines],
            [line["severity"] for line in lines],
            [renamed[digest] for digest in evidence],
            [line.get("checked") for line in lines],
        )
        return dict(zip(_NAMES, values, strict=True))

    def _add(self, place: Sequence[Any], lines: Sequence[Mapping[str, Any]]) -> None:
        if lines:
            self._lines += lines
            self._positions += range(len(lines))
            for values, value in zip(self._keys, place, strict=True):
                values.extend([value] * len(lines))


def format_decimal(value: Decimal) -> str:
    """A number as a string with at most MAX_DECIMALS decimals, without an exponent."""
    return shorten_decimal(format(value, "f"))


def shorten_decimal(number: str) -> str:
    """A number without an exponent, with at most MAX_DECIMALS decimals."""
    if len(number) <= MAX_DECIMALS or len(number) - number.find(".") <= MAX_DECIMALS + 1:
        return number
    value = Decimal(number)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -MAX_DECIMALS:
        return format(value.quantize(_LAST, context=_WIDE).normalize(_WIDE), "f")
    return number


_NAMES: Final = tuple(column.name for column in LINES.columns)
