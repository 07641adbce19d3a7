"""`hallmark lab secrets`."""

from __future__ import annotations

import json
import os
import secrets as randomness
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from evidence.derive.secrets import Finding, RulesInvalid, Scanner, build_own_rules, load_rules
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

MAX_BYTES: Final = 16_000_000
SKIPPED: Final = frozenset({".git"})

_HEAD: Final = 8_192
_BOMS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a file or of one of its lines."""

    path: str
    line: int | None
    secret: bool


def secrets(  # noqa: PLR0917  options of a command
    where: Annotated[Path, typer.Argument(metavar="DIR", help="A folder, searched with those below it, or one file.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
    secret_rules: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Rules in the format of gitleaks, instead of our own.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl", help='Rows {"path": ..., "line": ..., "secret": true}; line may be left out.'
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print also what stands in tests, examples, documents and vendored files.")
    ] = False,
    salt: Annotated[str, typer.Option(help="Salt of the hashes; a new one each time unless it is given.")] = "",
) -> None:
    """Look for secrets in files. Prints where they are and a salted hash, never the secret.

    What is generic, or stands in a test, an example, a document or a vendored file, does not count. With --json every
    finding is a row that says so; with --labels the last row is precision and recall.

    Examples:

    hallmark lab secrets ./project

    hallmark lab secrets ./project --secret-rules gitleaks.toml --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 no file could be read.
    """
    with explain_failures():
        scanner = _scanner(secret_rules)
        known = _labels(labels) if labels else ()
        key = salt.encode() or randomness.token_bytes(16)
        findings: list[Finding] = []
        skipped: Counter[str] = Counter()
        read = 0
        for path, name in _files(where):
            text = _text(path)
            if isinstance(text, bytes):
                read += 1
                findings += scanner.scan(_decoded(text), name, salt=key)
            else:
                skipped[text] += 1
                if as_json and text != "binary":
                    print_json({"path": name, "skipped": text})
        _print(findings, as_json=as_json, everything=everything)
        if labels:
            _print_quality(findings, known, as_json=as_json)
        counted = sum(finding.counts for finding in findings)
        left_out = "".join(f", {count} {reason.replace('_', ' ')}" for reason, count in sorted(skipped.items()))
        print_note(f"{read} files read{left_out}; {len(findings)} findings, {counted} of them count")
        raise typer.Exit(ExitCode.OK if read else ExitCode.NOTHING)


def _scanner(rules: Path | None) -> Scanner:
    if rules is None:
        return Scanner(build_own_rules())
    try:
        return Scanner(
            load_rules(rules.read_text(encoding="utf-8"), lambda name: (rules.parent / name).read_text("utf-8"))
        )
    except (OSError, UnicodeDecodeError, RulesInvalid) as error:
        exit_with_error(f"{rules} cannot be used: {error}", ExitCode.USAGE)


def _files(where: Path) -> Iterator[tuple[Path, str]]:
    """Regular files in the order of their paths; links are not followed."""
    if not where.is_dir():
        yield where, where.name
        return
    for folder, below, names in os.walk(where):
        below[:] = sorted(name for name in below if name not in SKIPPED)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path, path.relative_to(where).as_posix()


def _text(path: Path) -> bytes | str:
    """The bytes of a text file, or why there are none."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return "unreadable"
    if len(data) > MAX_BYTES:
        return "too_large"
    return "binary" if b"\0" in data[:_HEAD] and not data.startswith(tuple(bom for bom, _ in _BOMS)) else data


def _decoded(data: bytes) -> str:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    return data.decode(encoding, "replace")


def _print(findings: Sequence[Finding], *, as_json: bool, everything: bool) -> None:
    if as_json:
        for finding in findings:
            print_json({**asdict(finding), "counts": finding.counts})
        return
    shown = [finding for finding in findings if everything or finding.discount in {None, "generic"}]
    if shown:
        grid = make_table("File", ("Line", "right"), "Pattern", "Counts", "Context")
        for finding in shown:
            why = f"no, {finding.discount.value}" if finding.discount else "yes"
            grid.add_row(
                clean_text(finding.path),
                str(finding.line),
                clean_text(finding.pattern),
                why,
                clean_text(finding.context),
            )
        print_data(grid)
    if len(shown) < len(findings):
        print_note(
            f"{len(findings) - len(shown)} more in tests, examples, documents and vendored files; --all prints them"
        )


def _labels(path: Path) -> tuple[Label, ...]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return tuple(Label(str(row["path"]), row.get("line"), bool(row["secret"])) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        exit_with_error(f"{path}: expected rows with path and secret; {error!r}", ExitCode.USAGE)


def _print_quality(findings: Sequence[Finding], labels: Sequence[Label], *, as_json: bool) -> None:
    """Precision and recall over the labelled places, of all findings and of those that count."""
    rows = {
        "all": measure_quality(findings, labels),
        "counting": measure_quality([one for one in findings if one.counts], labels),
    }
    if as_json:
        print_json({"quality": rows, "labels": len(labels)})
        return
    grid = make_table("Findings", ("Precision", "right"), ("Recall", "right"), ("Right", "right"), ("Wrong", "right"))
    for name, row in rows.items():
        grid.add_row(name, _share(row["precision"]), _share(row["recall"]), str(row["right"]), str(row["wrong"]))
    print_data(grid)


def measure_quality(findings: Sequence[Finding], labels: Sequence[Label]) -> dict[str, Any]:
    """Each labelled place counts once: found and a secret is right, found and none is wrong. No label, no figure."""
    lines = {(finding.path, finding.line) for finding in findings}
    paths = {finding.path for finding in findings}
    told = [
        label for label in labels if (label.path in paths if label.line is None else (label.path, label.line) in lines)
    ]
    right = sum(label.secret for label in told)
    there = sum(label.secret for label in labels)
    return {
        "precision": round(right / len(told), 4) if told else None,
        "recall": round(right / there, 4) if there else None,
        "right": right,
        "wrong": len(told) - right,
        "missed": there - right,
    }


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
