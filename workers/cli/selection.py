"""Which methodologies a command is about: `--rubric lint@1`, repeatable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from evidence.store import Store, StoredCard
from scoring import catalogue
from scoring.rubric import Rubric
from workers.cli.console import Exit, fail

Rubrics: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--rubric",
        metavar="NAME[@V]",
        help="Only this rubric: `lint` is its newest version, `lint@1` exactly that one. Repeatable.",
    ),
]


def named(rubric: str) -> Rubric:
    """The rubric of a name; fails with the names there are."""
    try:
        return catalogue.rubric(rubric)
    except LookupError as error:
        fail(str(error.args[0]), Exit.USAGE)


def selected(names: Sequence[str] | None) -> list[Rubric]:
    """The named rubrics in the order of their names; without names the newest version of each, the default first."""
    if names:
        return list({rubric.name: rubric for rubric in map(named, names)}.values())
    newest = {rubric.id: rubric for rubric in catalogue.rubrics()}
    return sorted(newest.values(), key=lambda rubric: (not rubric.default, rubric.id))


def stored_cards(
    store: Store, run_id: str, names: Sequence[str] | None, servers: Sequence[str] | None = None
) -> list[StoredCard]:
    """The stored receipts of the named rubrics in their order; without names all of them."""
    if not names:
        return store.scorecards(run_id, servers=servers)
    return [
        card
        for rubric in selected(names)
        for card in store.scorecards(run_id, servers=servers, rubric=rubric.id, version=rubric.version)
    ]
