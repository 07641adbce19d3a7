"""Words of the expressions of patterns: each match contains one of its expression, so that others are not tried.

`required_words.json` is written by `python -m bench.poisoning_words` from the expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import orjson

TABLE: Final = Path(__file__).with_name("required_words.json")


@cache
def load_required_words() -> Mapping[str, Sequence[str]]:
    """The words by the name of an expression, in ASCII form; none where matches have no words in common."""
    words: dict[str, list[str]] = orjson.loads(TABLE.read_bytes())
    return words
