"""`hallmark lab secrets`."""

from __future__ import annotations

import secrets as randomness
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from msgspec.structs import asdict

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
from workers.cli.lab.inputs import read_rows, walk_files, where_argument
from workers.cli.lab.quality import format_rate, make_quality_row
from workers.cli.options import ANY_PATH, json_lines_option

MAX_BYTES: Final = 16_000_000
SKIPPED: Final = frozenset({".git"})

_HEAD: Final = 8_192
_BOMS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Label(Struct, frozen=True):
    """Whether a file, or one line of it, holds a secret."""

    path: str
    line: int | None
    secret: bool


@click.command()
@where_argument
@json_lines_option
@click.option(
    "--secret-rules",
    metavar="FILE.toml",
    type=ANY_PATH,
    help="Rules in gitleaks' format, instead of the built-in ones.",
)
@click.option(
    "--labels",
    metavar="FILE.jsonl",
    type=ANY_PATH,
    help='Rows {"path": ..., "line": ..., "secret": true}; line is optional.',
)
@click.option(
    "--all", "everything", is_flag=True, help="Also print findings in tests, examples, documents and vendored files."
)
@click.option("--salt", default="", show_default=False, help="Salt of the printed hashes. Default: a new random one.")
def secrets(  # noqa: PLR0917  options of a command
    where: Path, as_json: bool, secret_rules: Path | None, labels: Path | None, everything: bool, salt: str
) -> None:
    """Search files for secrets. Prints the place and a salted hash of each, never the secret itself.

    A finding does not count when its pattern is generic, or in tests, examples, documents and vendored files. With
    --json every finding is a row with `counts`; with --labels the last row is precision and recall.

    Examples:

    hallmark lab secrets ./project

    hallmark lab secrets ./project --secret-rules gitleaks.toml --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 no file could be read.
    """
    with explain_failures():
        scanner = _build_scanner(secret_rules)
        labelled = read_rows(labels, _label, "path and secret") if labels else []
        key = salt.encode() or randomness.token_bytes(16)
        findings: list[Finding] = []
        skipped: Counter[str] = Counter()
        read = 0
        for path, name in (*walk_files(where, SKIPPED), *_find_git_files(where)):
            data = _read_text_file(path)
            if isinstance(data, bytes):
                read += 1
                findings += scanner.scan(_decode(data), name, salt=key)
            else:
                skipped[data] += 1
                if as_json and data != "binary":
                    print_json({"path": name, "skipped": data})
        _print(findings, as_json=as_json, everything=everything)
        if labels:
            _print_quality(findings, labelled, as_json=as_json)
        counted = sum(finding.counts for finding in findings)
        left_out = "".join(f", {count} {reason.replace('_', ' ')}" for reason, count in sorted(skipped.items()))
        print_note(f"{read} files read{left_out}; {len(findings)} findings, {counted} of them count")
        raise click.exceptions.Exit(ExitCode.OK if read else ExitCode.NOTHING)


def _find_git_files(where: Path) -> list[tuple[Path, str]]:
    """The files of a repository's own folder that people and tools write credentials into."""
    names = (".git/config", ".git/credentials", ".git/FETCH_HEAD")
    return [(where / name, name) for name in names if (where / name).is_file() and not (where / name).is_symlink()]


def _build_scanner(rules: Path | None) -> Scanner:
    if rules is None:
        return Scanner(build_own_rules())
    try:
        return Scanner(
            load_rules(rules.read_text(encoding="utf-8"), lambda name: (rules.parent / name).read_text("utf-8"))
        )
    except (OSError, UnicodeDecodeError, RulesInvalid) as error:
        exit_with_error(f"{rules} cannot be used: {error}", ExitCode.USAGE)


def _read_text_file(path: Path) -> bytes | str:
    """The bytes of a text file, or the reason why the file is skipped."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return "unreadable"
    if len(data) > MAX_BYTES:
        return "too_large"
    return "binary" if b"\0" in data[:_HEAD] and not data.startswith(tuple(bom for bom, _ in _BOMS)) else data


def _decode(data: bytes) -> str:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    return data.decode(encoding, "replace")


def _print(findings: Sequence[Finding], *, as_json: bool, everything: bool) -> None:
    if as_json:
        for finding in findings:
            print_json({**asdict(finding), "counts": finding.counts})
        return
    shown = [finding for finding in findings if everything or finding.discount in {None, "generic", "public by design"}]
    if shown:
        grid = make_table("File", ("Line", "right"), "Pattern", "Counts", "Context")
        for finding in shown:
            counts = f"no, {finding.discount.value}" if finding.discount else "yes"
            place, pattern = clean_text(finding.path), clean_text(finding.pattern)
            grid.add_row(place, str(finding.line), pattern, counts, clean_text(finding.context))
        print_data(grid)
    if len(shown) < len(findings):
        print_note(
            f"{len(findings) - len(shown)} more in tests, examples, documents and vendored files; --all prints them"
        )


def _label(row: Any) -> Label:
    return Label(str(row["path"]), row.get("line"), bool(row["secret"]))


def _print_quality(findings: Sequence[Finding], labels: Sequence[Label], *, as_json: bool) -> None:
    """Print the quality of all findings, and of those that count."""
    rows = {
        "all": measure_quality(findings, labels),
        "counting": measure_quality([one for one in findings if one.counts], labels),
    }
    if as_json:
        print_json({"quality": rows, "labels": len(labels)})
        return
    grid = make_table("Findings", ("Precision", "right"), ("Recall", "right"), ("Right", "right"), ("Wrong", "right"))
    for name, row in rows.items():
        rates = format_rate(row["precision"]), format_rate(row["recall"])
        grid.add_row(name, *rates, str(row["right"]), str(row["wrong"]))
    print_data(grid)


def measure_quality(findings: Sequence[Finding], labels: Sequence[Label]) -> dict[str, Any]:
    """Compare findings with labels; findings in places without a label are not counted."""
    lines = {(finding.path, finding.line) for finding in findings}
    paths = {finding.path for finding in findings}
    reported = [
        label for label in labels if (label.path in paths if label.line is None else (label.path, label.line) in lines)
    ]
    right, secret = sum(label.secret for label in reported), sum(label.secret for label in labels)
    return make_quality_row(right=right, reported=len(reported), found=right, labelled=secret)
