"""`hallmark version`."""

from __future__ import annotations

from typing import Annotated

import typer

from workers import pins
from workers.cli.boundary import explained
from workers.cli.console import emit, facts, show
from workers.clock import SystemClock
from workers.outside import Network
from workers.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def version(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Show the versions of the code, rules, rubrics and formats: what a run started now would pin.

    Example: hallmark version --json
    """
    with explained():
        settings = Settings()
        found = pins.current(Network(settings, SystemClock()).versions, settings.commit)
        if as_json:
            emit(found)
        else:
            show(facts(found.items()))
