"""Values of the options of `hallmark scan`."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """The format of stdout."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class FailOn(StrEnum):
    """What decides about the exit code: violated protocol checks, or findings of a severity and above."""

    NEVER = "never"
    MUST = "must"
    SHOULD = "should"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
