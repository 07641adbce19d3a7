"""The scan takes time that grows with the texts and with the tools, and with neither times the other; CPU time only."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from evidence.derive.poisoning import scan, scan_text
from evidence.kinds.listing import Listing

PLAIN = (
    "the list of items is returned as json with a name an id and a date for each page when no filter is given all rows "
    "must be read before the next call if there are any and the user has to confirm what is written"
)
WORDS = PLAIN.split()
HOSTILE = (
    "a",
    " ",
    "ignore all ",
    "must ",
    "~/.ssh/id_rsa ",
    "before using ",
    "do not ",
    "<",
    "\\x41",
    "send api key ",
    "a-",
    "must call 'a_b' ",
    "%41",
    "&#65;",
    "\u200b",
    "\u4e2d ",
)


def cpu(work: Callable[[], object]) -> float:
    """The least CPU seconds of a few attempts."""
    spent = []
    for _ in range(3):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def listing(tools: int, words: int = 60) -> Listing:
    """Tools whose descriptions are of plain words and, now and then, of the name of another tool."""
    chance = random.Random(tools)
    names = [f"read_{chance.choice(WORDS)}_{index}" for index in range(tools)]
    said = [" ".join([*chance.choices(WORDS, k=words), chance.choice(names)]) for _ in names]
    page = {"tools": [{"name": name, "description": text} for name, text in zip(names, said, strict=True)]}
    return Listing({"lists": {"tools": {"end": "complete", "pages": [page]}}})


def test_ten_times_the_tools_take_ten_times_as_long_and_not_a_hundred_times() -> None:
    few, many = listing(100), listing(1_000)
    scan(few)
    assert cpu(lambda: scan(many)) < 25 * cpu(lambda: scan(few))


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear_in_hostile_texts(unit: str) -> None:
    """Ten times a text of the worst kind cost about ten times as much; quadratic time, a hundred times."""

    def reading(size: int) -> float:
        text = (unit * size)[:size]
        return cpu(lambda: list(scan_text(text, owner="mine", names=["before_using", "must"])))

    reading(2_000)
    assert reading(20_000) < 30 * reading(2_000) + 0.01


def test_names_within_names_take_no_longer_than_their_texts() -> None:
    """A name of each length at each place: looked for in stretches."""
    names = ["a" * length for length in range(4, 130)]

    def reading(size: int) -> float:
        return cpu(lambda: list(scan_text("must " + "a" * size + " must be", owner="mine", names=names)))

    assert reading(10_000) < 30 * reading(1_000) + 0.05
