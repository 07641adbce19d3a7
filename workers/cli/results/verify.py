"""`hallmark verify`: checks a dataset without trust in its publisher."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from publish.datasets.snapshot.manifest import NotASnapshot
from publish.datasets.snapshot.reader import open_snapshot
from publish.datasets.verification.archives import open_dataset
from publish.datasets.verification.problems import ProblemKind
from publish.datasets.verification.rescoring import ReceiptVerdict
from publish.datasets.verification.verify import VerificationReport
from publish.datasets.verification.verify import verify_snapshot as check
from workers.cli.administration.signing_key import read_public_key
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.display.progress_counter import show_progress
from workers.cli.error_boundary import explain_failures
from workers.cli.options import ANY_PATH, json_document_option

_MOST = 50
_CODES = ", ".join(f"{int(fault)} {fault.word.replace('_', ' ')}" for fault in ProblemKind)


@click.command(
    epilog="Exit codes: 0 no problems, 1 Hallmark failed, 2 wrong usage or no snapshot, else the lowest code of the "
    f"problems: {_CODES}."
)
@click.argument("dataset", metavar="DIR|ZIP", type=ANY_PATH, help="Folder or archive of a snapshot.")
@click.option("--key", metavar="PUBKEY", help="Check the signature with this public key: a file or the key.")
@click.option(
    "--processes", type=click.IntRange(min=1, max=64), help="Processes that recompute scores. Default: one per core."
)
@json_document_option
def verify(dataset: Path, *, key: str | None, processes: int | None, as_json: bool) -> None:
    """Check a dataset with nothing but its files: digests, signature, rows, methodology, and every score recomputed.

    It uses no network and no database. An archive is unpacked into a temporary folder. Scores from private evidence are
    added up from their lines, and are listed as not verifiable.

    Examples:

    hallmark verify ./hallmark-dataset-20261126T182413Z-4d492d9e1d4ba.zip

    hallmark verify ./snapshot --key RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
    """
    with explain_failures():
        known = read_public_key(key) if key else None
        try:
            with open_dataset(dataset) as folder:
                servers = open_snapshot(folder).manifest.counts.get("servers", 0)
                with show_progress("recomputing", servers) as advance:
                    report = check(folder, key=known, processes=processes or os.cpu_count() or 1, on_progress=advance)
        except NotASnapshot as error:
            exit_with_error(str(error), ExitCode.USAGE)
        if as_json:
            print_json(_document(report))
        else:
            _print(report, is_keyed=known is not None)
    raise click.exceptions.Exit(report.code)


def _document(report: VerificationReport) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "snapshot": manifest.snapshot,
        "versions": {"schema": manifest.schema, "methodology": manifest.methodology},
        "ok": not report.problems,
        "code": report.code,
        "signed": report.signed or None,
        "servers": report.judged.servers,
        "receipts": [
            {"rubric": rubric, "verdict": verdict.value, "count": count}
            for (rubric, verdict), count in sorted(report.judged.verdicts.items())
        ],
        "not_verifiable": [
            {"rubric": rubric, "part": part, "count": count}
            for (rubric, part), count in sorted(report.judged.unverifiable.items())
        ],
        "notes": report.notes,
        "problems": [problem.to_json() for problem in report.problems],
        "more_problems": report.more,
    }


def _print(report: VerificationReport, *, is_keyed: bool) -> None:
    if report.judged.verdicts:
        print_data(_receipts(report.judged.verdicts))
    for (rubric, part), count in sorted(report.judged.unverifiable.items()):
        print_note(f"not verifiable from public evidence: {rubric} {part}, {count} receipts")
    for text in report.notes:
        print_note(text)
    if is_keyed and report.signed:
        print_note(f"signed: {report.signed}")
    elif not is_keyed:
        print_note("the signature was not checked: give --key with the operator's public key")
    for problem in report.problems[:_MOST]:
        print_data(clean_text(str(problem), limit=2_000))
    if (more := len(report.problems) + report.more - _MOST) > 0:
        print_note(f"and {more} more; --json lists them")
    wrong = len(report.problems) + report.more
    print_note(f"{report.manifest.snapshot}: {f'{wrong} problems' if wrong else 'no problems'}")


def _receipts(verdicts: Counter[tuple[str, ReceiptVerdict]]) -> Table:
    grid = make_table("Rubric", ("Receipts", "right"), "Verdict")
    for (rubric, verdict), count in sorted(verdicts.items()):
        grid.add_row(clean_text(rubric), f"{count:,}", verdict.value)
    return grid
