"""`hallmark version`."""

from __future__ import annotations

import click

from workers.cli.display.console import make_fact_table, print_data, print_json
from workers.cli.error_boundary import explain_failures
from workers.cli.options import json_document_option
from workers.clock import SystemClock
from workers.runs import pins
from workers.settings.environment import read_settings
from workers.wiring.network import NetworkWiring


@click.command()
@json_document_option
def version(as_json: bool) -> None:
    """Show the versions of the code, rules, rubrics and formats: those that a new run uses.

    Example: hallmark version --json
    """
    with explain_failures():
        settings = read_settings()
        found = pins.read_current_pins(NetworkWiring(settings, SystemClock()).versions, settings.commit)
        if as_json:
            print_json(found)
        else:
            print_data(make_fact_table(found.items()))
