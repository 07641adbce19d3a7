"""Selects rubrics by the option `--rubric lint@1`, which may be repeated."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.engine import catalogue
from scoring.engine.rubric import Rubric
from workers.cli.display.console import ExitCode, exit_with_error
from workers.cli.display.receipts import Card, select_newest


def find_rubric(rubric: str) -> Rubric:
    """The rubric with this name; exits with the known names when there is none."""
    try:
        return catalogue.get_rubric(rubric)
    except LookupError as error:
        exit_with_error(str(error.args[0]), ExitCode.USAGE)


def select_rubrics(names: Sequence[str] | None) -> list[Rubric]:
    """The named rubrics in the given order; without names the newest version of each, the default rubric first."""
    if names:
        return list({rubric.name: rubric for rubric in map(find_rubric, names)}.values())
    newest = {rubric.id: rubric for rubric in catalogue.list_rubrics()}
    return sorted(newest.values(), key=lambda rubric: (not rubric.default, rubric.id))


def select_receipts(cards: Sequence[Card], names: Sequence[str] | None) -> list[Card]:
    """The named receipts of one server, in the given order; without names all of them.

    `lint` is the newest stored version, which may be older than the newest version of the rubric.
    """
    if not names:
        return list(cards)
    found: dict[tuple[str, int], Card] = {}
    for name in names:
        rubric, exact = find_rubric(name), "@" in name
        of_rubric = [card for card in cards if card.rubric == rubric.id]
        kept = [card for card in of_rubric if card.version == rubric.version] if exact else select_newest(of_rubric)
        found |= {(card.rubric, card.version): card for card in kept}
    return list(found.values())
