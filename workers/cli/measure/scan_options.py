"""Values of the options of `hallmark scan`."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """The format of stdout."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class FailOn(StrEnum):
    """The protocol checks that decide about the exit code."""

    NEVER = "never"
    MUST = "must"
    SHOULD = "should"
