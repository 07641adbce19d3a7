"""Who decides at the command line, and when."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypeAlias

import typer

from workers.cli.boundary import explained
from workers.cli.console import Exit, fail
from workers.clock import clock_at
from workers.findings import operating_user
from workers.settings import Settings

By: TypeAlias = Annotated[str, typer.Option("--by", help="Who decides. Default: your login name, unless you are root.")]


def who(by: str) -> str:
    """The name that the trail keeps; ends the command where nobody can be named."""
    named = by.strip() or operating_user()
    if not named:
        fail(
            "expected --by NAME, which says who decides: this is run by root, or by an account without a name",
            Exit.USAGE,
        )
    return named


def now() -> datetime:
    """Real time."""
    with explained():
        return clock_at(Settings().clock).wall()
