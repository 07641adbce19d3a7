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
    """Any Python string, hostile ones included; ordinary text is stored as it is."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Compare and sort by code point on PostgreSQL too, whatever the cluster's locale is."""
        return Text(collation="C") if dialect.name == "postgresql" else Text()

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape what the database cannot hold."""
        return None if value is None else escape_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Undo the escaping."""
        return None if value is None else unescape_text(value)


class TimestampColumn(TypeDecorator[datetime]):
    """An aware time, microseconds kept, always read back as UTC. SQLite holds microseconds since 1970."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """SQLite has no time with a zone: an integer there."""
        return dialect.type_descriptor(BigInteger() if dialect.name == "sqlite" else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Refuse a time without a zone, which would mean another moment on another machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return (value - _EPOCH) // _MICROSECOND if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read back in UTC."""
        if value is None:
            return None
        moment: datetime = _EPOCH + value * _MICROSECOND if dialect.name == "sqlite" else value.astimezone(UTC)
        return moment


def escape_text(text: str) -> str:
    """The stored form of a string."""
    return _UNSTORABLE.sub(lambda match: f"{_ESCAPE}{ord(match[0]):04x}", text)


def unescape_text(stored: str) -> str:
    """The string of a stored form."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), stored) if _ESCAPE in stored else stored
