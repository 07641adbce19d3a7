"""Which methodologies a command is about: `--rubric lint@1`, repeatable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from scoring import catalogue
from scoring.rubric import Rubric
from workers.cli.console import Exit, fail
from workers.cli.receipts import Card, newest_only

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


def chosen(cards: Sequence[Card], names: Sequence[str] | None) -> list[Card]:
    """Of one server's stored receipts those that are named, in the order of the names; without names all of them.

    `lint` is the newest version that is stored, which need not be the newest there is.
    """
    if not names:
        return list(cards)
    found: dict[tuple[str, int], Card] = {}
    for name in names:
        rubric, exact = named(name), "@" in name
        of_rubric = [card for card in cards if card.rubric == rubric.id]
        kept = [card for card in of_rubric if card.version == rubric.version] if exact else newest_only(of_rubric)
        found |= {(card.rubric, card.version): card for card in kept}
    return list(found.values())
