"""Kinds of problems of a snapshot, each with its own code."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from msgspec import Struct


class ProblemKind(IntEnum):
    """The kind of a problem. The exit code of `hallmark verify` is the lowest number found."""

    UNREADABLE = 10
    SIGNATURE = 11
    MISSING_FILE = 12
    EXTRA_FILE = 13
    CHANGED_FILE = 14
    SUMS = 15
    ROWS = 16
    METHODOLOGY = 17
    EVIDENCE = 18
    SCORE = 19
    FORMS = 20

    @property
    def word(self) -> str:
        return self.name.lower()


class Problem(Struct, frozen=True, kw_only=True):
    """One problem: where, what was expected, and what was found. Members that do not apply are empty."""

    fault: ProblemKind
    file: str
    expected: str
    found: str
    server: str = ""
    rubric: str = ""
    at: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "fault": self.fault.word,
            "code": int(self.fault),
            "file": self.file,
            "server": self.server or None,
            "rubric": self.rubric or None,
            "at": self.at or None,
            "expected": self.expected,
            "found": self.found,
        }

    def __str__(self) -> str:
        where = " ".join(part for part in (self.file, self.server, self.rubric, self.at) if part)
        return f"{self.fault.word.replace('_', ' ')}: {where}: expected {self.expected}, found {self.found}"


def show_value(value: object) -> str:
    """An untrusted value for a message: short and on one line; "none" for None."""
    if value is None:
        return "none"
    text = str(value)
    return ascii(text[:160])[1:-1] + ("…" if len(text) > 160 else "")
