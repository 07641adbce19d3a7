"""A column of the dataset: name, type, meaning, and its form in each file format.

Rows hold JSON values: decimals and times are strings. JSON Lines keep a decimal exactly, and `verify` recomputes from
them; Parquet and CSV round it to the places of its column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache, lru_cache, partial
from itertools import chain, islice, starmap
from typing import Any, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct, defstruct
from msgspec.json import Encoder

from publish.formats.csv_columns import make_safe_cell
from publish.text.numbers import round_number

Row: TypeAlias = Mapping[str, Any]
"""One row as JSON values, its members in the order of the table's columns."""

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""The values of some rows by column, in the order of the table's columns; empty for no rows."""


def transpose_rows(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The values of each column by its name. The rows have the same members in the same order."""
    names = list(rows[0]) if rows else []
    values = list(chain.from_iterable(row.values() for row in rows))
    return {name: values[at :: len(names)] for at, name in enumerate(names)}


def zip_columns(columns: Columns) -> list[Row]:
    """The rows of columns: the inverse of `transpose_rows`."""
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def join_columns(parts: Sequence[Columns]) -> dict[str, list[Any]]:
    """The columns of some rows after those of others; parts without rows are left out."""
    parts = [part for part in parts if part]
    return {name: list(chain.from_iterable(part[name] for part in parts)) for name in (parts[0] if parts else ())}


def encode_lines(columns: Columns) -> bytes:
    """Rows as JSON Lines. Raise UnicodeEncodeError for lone surrogates, which JSON in UTF-8 cannot hold."""
    rows = starmap(_row_type(tuple(columns)), zip(*columns.values(), strict=True)) if columns else iter(())
    return b"".join(map(_JSON.encode_lines, iter(lambda: list(islice(rows, _SOME_ROWS)), [])))


@cache
def _row_type(names: tuple[str, ...]) -> type[Struct]:
    """A type with these fields: the encoder writes structs three times as fast as dicts."""
    return defstruct("_Row", [(name, Any) for name in names], gc=False)


_JSON: Final = Encoder()
_SOME_ROWS: Final = 500
"""Rows that are encoded together, so that the memory of their objects is used again for the next ones."""


class Type(StrEnum):
    """The type of a value. `DECIMAL` and `TIME` are strings in JSON; `JSON` is a document in a string."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIME = "time"
    JSON = "json"


DECIMAL_PATTERN: Final = r"^-?[0-9]+(\.[0-9]+)?$"
_DIGITS: Final = 18
"""Digits of a decimal in Parquet, which then fits 64 bits."""

_ARROW: Final[Mapping[Type, pa.DataType]] = {
    Type.TEXT: pa.string(),
    Type.TEXTS: pa.list_(pa.string()),
    Type.INTEGER: pa.int64(),
    Type.BOOLEAN: pa.bool_(),
    Type.TIME: pa.timestamp("us", "UTC"),
    Type.JSON: pa.string(),
}
_SCHEMA: Final[Mapping[Type, Mapping[str, Any]]] = {
    Type.TEXT: {"type": "string"},
    Type.TEXTS: {"type": "array", "items": {"type": "string"}},
    Type.INTEGER: {"type": "integer"},
    Type.DECIMAL: {"type": "string", "pattern": DECIMAL_PATTERN},
    Type.BOOLEAN: {"type": "boolean"},
    Type.TIME: {"type": "string", "format": "date-time"},
    Type.JSON: {"type": "string", "contentMediaType": "application/json"},
}
_FIELDS: Final[Mapping[Type, str]] = {
    Type.TEXT: "string",
    Type.TEXTS: "string",
    Type.INTEGER: "integer",
    Type.DECIMAL: "number",
    Type.BOOLEAN: "boolean",
    Type.TIME: "datetime",
    Type.JSON: "string",
}
_CROISSANT: Final[Mapping[Type, str]] = {
    Type.TEXT: "sc:Text",
    Type.TEXTS: "sc:Text",
    Type.INTEGER: "sc:Integer",
    Type.DECIMAL: "sc:Float",
    Type.BOOLEAN: "sc:Boolean",
    Type.TIME: "sc:DateTime",
    Type.JSON: "sc:Text",
}


class Column(Struct, frozen=True):
    """One column. `volatile` ones differ between equal runs, and the comparable form leaves them out.

    A `nullable` one has no value where there is none; a column beside it says why. `places` are the decimals of a
    number in Parquet and CSV.
    """

    name: str
    type: Type
    meaning: str
    nullable: bool = False
    volatile: bool = False
    places: int = 0

    @property
    def arrow(self) -> pa.Field:
        """The column of a Parquet file."""
        kind = pa.decimal128(_DIGITS, self.places) if self.type is Type.DECIMAL else _ARROW[self.type]
        return pa.field(self.name, kind, nullable=self.nullable, metadata={"description": self.meaning})

    @property
    def json_schema(self) -> dict[str, Any]:
        """The member of a JSON object (JSON Schema 2020-12)."""
        schema = dict(_SCHEMA[self.type])
        if self.nullable:
            schema["type"] = [schema["type"], "null"]
        return {**schema, "description": self.meaning}

    @property
    def table_schema(self) -> dict[str, Any]:
        """The field of a CSV file (Frictionless Table Schema); an empty cell is no value."""
        field: dict[str, Any] = {"name": self.name, "type": _FIELDS[self.type], "description": self.meaning}
        return field if self.nullable or self.type in _MAY_BE_EMPTY else {**field, "constraints": {"required": True}}

    @property
    def label(self) -> str:
        """Its type in the reference of columns."""
        kind = f"decimal({_DIGITS},{self.places})" if self.type is Type.DECIMAL else self.type.value
        return f"{kind} or none" if self.nullable else kind

    @property
    def croissant(self) -> str:
        return _CROISSANT[self.type]

    @property
    def cell(self) -> Callable[[Any], str]:
        """How a value is written in CSV."""
        return partial(round_text, places=self.places) if self.type is Type.DECIMAL else _CELLS[self.type]


@lru_cache(16_384)
def round_text(number: str | None, places: int) -> str:
    """A decimal with at most `places` decimals, rounded half up, without trailing zeros; "" for None."""
    if number is None:
        return ""
    text = f"{round_number(Decimal(number), places):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


_MAY_BE_EMPTY: Final = {Type.TEXT, Type.TEXTS, Type.JSON}
_PLAIN: Final = frozenset("=+-@' \t")


def _text_cell(value: str | None) -> str:
    """The text as a safe spreadsheet cell: cut, without hidden characters or formulas."""
    if not value:
        return ""
    if len(value) <= _SHORT and value.isascii() and value.isprintable() and value[0] not in _PLAIN:
        return value
    return make_safe_cell(value)


def _texts_cell(value: list[str] | None) -> str:
    return _text_cell(";".join(value)) if value else ""


def _plain_cell(value: Any) -> str:
    return "" if value is None else str(value)


def _boolean_cell(value: bool | None) -> str:
    return "" if value is None else json.dumps(value)


_SHORT: Final = 1_000
_CELLS: Final[Mapping[Type, Callable[[Any], str]]] = {
    Type.TEXT: _text_cell,
    Type.TEXTS: _texts_cell,
    Type.INTEGER: _plain_cell,
    Type.BOOLEAN: _boolean_cell,
    Type.TIME: _plain_cell,
    Type.JSON: _text_cell,
}
