"""`hallmark doctor`."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.text import Text

from workers.cli.boundary import explained
from workers.cli.checks import Check, Verdict, checks
from workers.cli.console import FULL_TABLE, Exit, emit, note, out, plain, show, table
from workers.settings import Settings

app = typer.Typer(add_completion=False)

_STYLES: Final = {Verdict.OK: "green", Verdict.MISSING: "bold red", Verdict.OPTIONAL: "yellow"}


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
) -> None:
    """Check what is available here and say what to do about what is not. Nothing is changed and no registry is asked.

    Exit codes: 0 when everything that is needed is there, 3 when something is missing.

    Example: hallmark doctor --json
    """
    with explained():
        found = list(checks(Settings()))
        if as_json:
            for check in found:
                emit(
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
        missing = [check.name for check in found if check.verdict is Verdict.MISSING]
        note(f"missing: {', '.join(missing)}" if missing else "Everything that `hallmark run` needs is here.")
        raise typer.Exit(Exit.NOTHING if missing else Exit.OK)


def _show(found: list[Check]) -> None:
    told = out().width >= FULL_TABLE  # what it is needed for is in --json too
    grid = table("", "Check", "Found", *["Needed for"] * told, "What to do")
    for check in found:
        mark, needed = Text(check.verdict.value, style=_STYLES[check.verdict]), [plain(check.needed_for)] * told
        grid.add_row(mark, check.name, plain(check.found), *needed, plain(check.fix, limit=500))
    show(grid)
