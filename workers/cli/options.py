"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")]
AsJsonDocument: TypeAlias = Annotated[bool, typer.Option("--json", help="One JSON document, for programs.")]
RunName: TypeAlias = Annotated[str, typer.Option(help="Id of a run, the beginning of one, or `latest`.")]
OnlyServer: TypeAlias = Annotated[str | None, typer.Argument(help="Only those of one server.")]
Limit: TypeAlias = Annotated[int, typer.Option(min=1, help="How many, newest first.")]
Rubrics: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--rubric",
        metavar="NAME[@V]",
        help="Only this rubric: `lint` is its newest version, `lint@1` exactly that one. Repeatable.",
    ),
]
