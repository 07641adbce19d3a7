"""Options that several commands share, and the group of commands with its list in the help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])

ANY_PATH: Final = click.Path(readable=False, path_type=Path)
"""A file or folder, which may be absent: the command says what is wrong with it."""

json_lines_option = click.option("--json", "as_json", is_flag=True, help="One JSON object per line, for programs.")
json_document_option = click.option("--json", "as_json", is_flag=True, help="One JSON document, for programs.")
server_limit_option = click.option(
    "--limit", type=click.IntRange(min=1), help="Only this many servers, the first by id."
)
only_option = click.option(
    "--only",
    metavar="PATTERN",
    multiple=True,
    help="Only servers whose id, reference or name matches; * allowed. Repeatable.",
)
run_option = click.option("--run", default="latest", help="Id of a run, the beginning of one, or `latest`.")
only_server_argument = click.argument("server", required=False, help="Only those of one server.")
rubric_option = click.option(
    "--rubric",
    metavar="NAME[@V]",
    multiple=True,
    help="Only this rubric: `lint` is its newest version, `lint@1` exactly that one. Repeatable.",
)


def limit_option(default: int) -> Callable[[_F], _F]:
    return click.option("--limit", type=click.IntRange(min=1), default=default, help="How many, newest first.")


class CommandGroup(click.Group):
    """Lists its commands in the order of their definition, each with its first paragraph."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_paragraph(one.help or "")) for name, one in self.commands.items()])


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())
