"""`hallmark lab poisoning`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from evidence.derive.poisoning import Hit
from evidence.patterns.poisoning import Confidence
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.lab.poisoning_quality import PoisoningQuality
from workers.cli.lab.quality import format_rate
from workers.cli.lab.tool_rows import InvalidRow, ToolCorpus, read_categories
from workers.cli.options import ANY_PATH, json_lines_option


class Verdict(StrEnum):
    """`malicious` with a finding of high confidence, `suspicious` with one of medium confidence, else `clean`."""

    MALICIOUS = "malicious"
    SUSPICIOUS = "suspicious"
    CLEAN = "clean"


@click.command()
@click.argument("where", metavar="FILE.jsonl", type=ANY_PATH, help="Rows {id, server, name, description, inputSchema}.")
@json_lines_option
@click.option("--labels", is_flag=True, help="Print only precision and recall of the labelled rows.")
@click.option(
    "--categories", metavar="FILE.json", type=ANY_PATH, help="Categories of the rows, by id: {id: [category]}."
)
def poisoning(where: Path, as_json: bool, labels: bool, categories: Path | None) -> None:
    """Search your own tool descriptions for poisoning. A row is one tool; its texts are never printed.

    A row counts as poisoned when it has a finding of high confidence. Rows of one server (and `set`) are scanned
    together, so that instructions about another tool are found. Rows that cannot be read are reported and left out.

    With a `label` (1 or true: poisoned) the last rows are precision, recall and F1 of all rows, of each `set` and of
    each category. A category has a recall when poisoned rows have `categories`, in the row or in the --categories file.

    Examples:

    hallmark lab poisoning corpus.jsonl

    hallmark lab poisoning corpus.jsonl --labels --json

    hallmark lab poisoning corpus.jsonl --labels --categories categories.json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 no row could be read.
    """
    with explain_failures():
        try:
            corpus = ToolCorpus.read(where, read_categories(categories) if categories else None)
        except (OSError, ValueError) as error:
            exit_with_error(f"the rows or their categories cannot be read: {error}", ExitCode.USAGE)
        read, bad, poisoned, quality = _scan(corpus, as_json=as_json, quiet=labels)
        if labels and not quality.has_labels:
            exit_with_error(f'{where} has no row with a label; add "label": 1 or 0', ExitCode.USAGE)
        if quality.has_labels:
            _print_quality(quality, as_json=as_json)
        print_note(f"{read} rows read, {bad} left out; {poisoned} malicious")
        raise click.exceptions.Exit(ExitCode.OK if read else ExitCode.NOTHING)


def _scan(corpus: ToolCorpus, *, as_json: bool, quiet: bool) -> tuple[int, int, int, PoisoningQuality]:
    read = bad = poisoned = 0
    quality = PoisoningQuality()
    grid = make_table("Id", "Verdict", "Findings")
    for row, hits in corpus.scan():
        if isinstance(row, InvalidRow):
            bad += 1
            if as_json and not quiet:
                print_json({"line": row.line, "error": row.why})
            else:
                print_note(f"line {row.line}: {row.why}")
            continue
        read += 1
        verdict = _verdict(hits)
        poisoned += verdict is Verdict.MALICIOUS
        quality.add(row, hits)
        if as_json and not quiet:
            print_json(_result(row.id, hits))
        elif verdict is not Verdict.CLEAN and not quiet:
            found = Counter(f"{hit.pattern} ({hit.confidence.value})" for hit in hits)
            grid.add_row(clean_text(str(row.id)), verdict.value, clean_text(", ".join(found), limit=300))
    if not as_json and not quiet and grid.row_count:
        print_data(grid)
    return read, bad, poisoned, quality


def _result(ident: str | int, hits: Sequence[Hit]) -> dict[str, Any]:
    return {
        "id": ident,
        "verdict": _verdict(hits).value,
        "findings": [_finding(hit) for hit in hits if hit.is_grave],
        "notes": [_finding(hit) for hit in hits if not hit.is_grave],
    }


def _verdict(hits: Sequence[Hit]) -> Verdict:
    if any(hit.is_grave for hit in hits):
        return Verdict.MALICIOUS
    return Verdict.SUSPICIOUS if any(hit.confidence is Confidence.MEDIUM for hit in hits) else Verdict.CLEAN


def _finding(hit: Hit) -> dict[str, str]:
    return {
        "pattern": hit.pattern,
        "category": hit.category.value,
        "confidence": hit.confidence.value,
        "at": hit.at,
        "title": hit.title,
    }


def _print_quality(quality: PoisoningQuality, *, as_json: bool) -> None:
    rows = list(_quality_rows(quality))
    if as_json:
        for row in rows:
            print_json({"quality": row})
        return
    grid = make_table("Part", "Name", ("Rows", "right"), ("Precision", "right"), ("Recall", "right"), ("F1", "right"))
    for row in rows:
        rates = [format_rate(row[name]) for name in ("precision", "recall", "f1")]
        grid.add_row(row["part"], clean_text(row["name"]), str(row["rows"]), *rates)
    print_data(grid)


def _quality_rows(quality: PoisoningQuality) -> Iterator[dict[str, Any]]:
    yield {"part": "all", "name": "all", **quality.whole.figures()}
    for name, tally in sorted(quality.sets.items()):
        yield {"part": "set", "name": name, **tally.figures()}
    for figures in quality.categories():
        yield {"part": "category", **figures}
