"""The operator who decides at the command line, and the time of the decision."""

from __future__ import annotations

from datetime import datetime

import click

from workers.cli.display.console import ExitCode, exit_with_error
from workers.cli.error_boundary import explain_failures
from workers.clock import clock_at
from workers.publication.finding_disclosure import read_login_name
from workers.settings.environment import read_settings

by_option = click.option(
    "--by", default="", show_default=False, help="Who decides. Default: your login name, unless you are root."
)


def find_decider(by: str) -> str:
    """The operator's name for the audit trail; exits when none is known."""
    named = by.strip() or read_login_name()
    if not named:
        exit_with_error(
            "expected --by NAME with the name of the operator: root and accounts without a name have none",
            ExitCode.USAGE,
        )
    return named


def read_clock() -> datetime:
    with explain_failures():
        return clock_at(read_settings().clock).wall()
