"""Reads and writes the baseline of a scan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evidence.model import Dossier
from publish.scan_reports.baseline import (
    AppliedBaseline,
    BaselineEntry,
    InvalidBaseline,
    apply_baseline,
    encode_baseline,
    make_entries,
    parse_baseline,
)
from publish.scan_reports.findings import ScanFinding
from workers.cli.display.console import ExitCode, exit_with_error, print_note


def read_baseline(file: Path | None, written: Path | None) -> tuple[BaselineEntry, ...]:
    """The entries of the baseline; without one those of the file that will be written, whose reasons stay."""
    source = file or (written if written is not None and written.exists() else None)
    if source is None:
        return ()
    try:
        return parse_baseline(source.read_bytes())
    except InvalidBaseline as error:
        exit_with_error(f"{source}: {error}", ExitCode.USAGE)
    except OSError as error:
        advice = "--write-baseline FILE makes one"
        exit_with_error(f"expected a baseline in {source}; {error.strerror}. {advice}", ExitCode.USAGE)


def use_baseline(
    findings: Sequence[ScanFinding], entries: Sequence[BaselineEntry], dossier: Dossier, written: Path | None
) -> AppliedBaseline:
    """The findings with their acceptance. With `written` all that can refuse the server are accepted and written."""
    applied = apply_baseline(findings, entries, dossier)
    if written is None:
        return applied
    new = make_entries(applied)
    written.write_bytes(encode_baseline(new))
    print_note(f"baseline of {len(new)} findings written to {written}: replace the reasons of new ones with your own")
    return apply_baseline(findings, new, dossier)
