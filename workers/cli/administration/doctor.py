"""`hallmark doctor`."""

from __future__ import annotations

from typing import Final

import click
from rich.text import Text

from workers.cli.administration.doctor_checks import Check, CheckStatus, run_checks
from workers.cli.display.console import (
    FULL_TABLE_WIDTH,
    ExitCode,
    clean_text,
    make_table,
    open_stdout,
    print_data,
    print_json,
    print_note,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.options import json_lines_option
from workers.settings.environment import read_settings

_STYLES: Final = {CheckStatus.OK: "green", CheckStatus.MISSING: "bold red", CheckStatus.OPTIONAL: "yellow"}


@click.command()
@json_lines_option
def doctor(as_json: bool) -> None:
    """Check this installation and say how to fix what is missing. Nothing is changed and no registry is contacted.

    Exit codes: 0 when everything needed is available, 3 when something is missing.

    Example: hallmark doctor --json
    """
    with explain_failures():
        found = list(run_checks(read_settings()))
        if as_json:
            for check in found:
                print_json(
                    {
                        "check": check.name,
                        "verdict": check.verdict.value,
                        "found": check.found,
                        "needed_for": check.needed_for,
                        "fix": check.fix,
                    }
                )
        else:
            _show(found)
        missing = [check.name for check in found if check.verdict is CheckStatus.MISSING]
        print_note(
            f"missing: {', '.join(missing)}" if missing else "Everything that `hallmark run` needs is available."
        )
        raise click.exceptions.Exit(ExitCode.NOTHING if missing else ExitCode.OK)


def _show(found: list[Check]) -> None:
    is_wide = open_stdout().width >= FULL_TABLE_WIDTH  # the purpose is in --json too
    grid = make_table("", "Check", "Found", *["Needed for"] * is_wide, "What to do")
    for check in found:
        mark, needed = Text(check.verdict.value, style=_STYLES[check.verdict]), [clean_text(check.needed_for)] * is_wide
        grid.add_row(mark, check.name, clean_text(check.found), *needed, clean_text(check.fix, limit=500))
    print_data(grid)
