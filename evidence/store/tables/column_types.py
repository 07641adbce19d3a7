"""Column types that hold the same values on SQLite and PostgreSQL."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# U+241B SYMBOL FOR ESCAPE marks what neither database stores in text: NUL and lone surrogates, and itself.
_ESCAPE = "\u241b"
_UNSTORABLE = re.compile("[\x00\u241b\ud800-\udfff]")
_ESCAPED = re.compile("\u241b([0-9a-f]{4})")


class TextColumn(TypeDecorator[str]):
    """Any Python string, including hostile ones; ordinary text is stored unchanged."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Compare and sort by code point on PostgreSQL too, regardless of the cluster's locale."""
        return Text(collation="C") if dialect.name == "postgresql" else Text()

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else escape_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else unescape_text(value)


class TimestampColumn(TypeDecorator[datetime]):
    """An aware time with microseconds, read back in UTC. SQLite stores microseconds since 1970."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(BigInteger() if dialect.name == "sqlite" else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Raise ValueError for a time without a zone, which would mean another moment on another machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return (value - _EPOCH) // _MICROSECOND if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment: datetime = _EPOCH + value * _MICROSECOND if dialect.name == "sqlite" else value.astimezone(UTC)
        return moment


def escape_text(text: str) -> str:
    """Escape the characters that a database cannot store."""
    return _UNSTORABLE.sub(lambda match: f"{_ESCAPE}{ord(match[0]):04x}", text)


def unescape_text(stored: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), stored) if _ESCAPE in stored else stored
