"""A linear model of how an order to an agent is worded: published weights of words, pairs of words and concepts.

`resembling_words.tsv` is written by `python -m bench.poisoning_training` from texts of this repository, whose digest it
names. A weight is in hundredths. Words longer than seven letters are cut to six, scripts without spaces are read in
pairs of characters; `#` precedes a concept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

PATTERN: Final = "resembles-order"
"""The name of a hit."""

TABLE: Final = Path(__file__).with_name("resembling_words.tsv")

USUAL_WORDS: Final = 40
"""Distinct words up to which a sum of weights counts in full; that of a longer text is divided by the root of the
ratio.
"""

ADDRESS: Final = "@"
"""Stands for an address of any kind among the words of a text."""


class WordingModel(Struct, frozen=True):
    """The published model. A text resembles an order when `bias` and its scaled weights exceed `threshold`.

    `promising`: what `bias` and the weights of its single words alone must exceed, which spares most texts the rest.
    `unlike`: below it, a text differs from orders.
    """

    version: int
    corpus: str
    bias: int
    threshold: int
    promising: int
    unlike: int
    weights: Mapping[str, int]


@cache
def load_wording_model() -> WordingModel:
    """The model of this release."""
    head, _, body = TABLE.read_text(encoding="utf-8").partition("\n\n")
    facts = dict(line.split("\t") for line in head.splitlines())
    cells = body.rstrip("\n").replace("\n", "\t").split("\t")
    return WordingModel(
        int(facts["version"]),
        facts["corpus"],
        int(facts["bias"]),
        int(facts["threshold"]),
        int(facts["promising"]),
        int(facts["unlike"]),
        dict(zip(cells[::2], map(int, cells[1::2]), strict=True)),
    )
