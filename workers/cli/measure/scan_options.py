"""Values of the options of `hallmark scan`."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct


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


class ReportOptions(Struct, frozen=True, kw_only=True):
    """The options of a scan that say what is judged, printed and written. `target` and `source`: what was scanned."""

    target: str | None
    source: Path | None
    rubric: tuple[str, ...]
    fail_under: Decimal | None
    fail_on: tuple[FailOn, ...]
    baseline: Path | None
    write_baseline: Path | None
    evidence: bool
    verbose: bool
    form: Format
    sarif_file: Path | None
    junit_file: Path | None


def take_report_options(options: dict[str, Any]) -> ReportOptions:
    """Remove the options of the report from all options of a scan."""
    if options.pop("as_json"):
        options["form"] = Format.JSON
    return ReportOptions(**{name: options.pop(name) for name in ReportOptions.__struct_fields__})
