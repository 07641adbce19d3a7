"""Counts what a visitor spends on a page: clicks, and the visible words of the parts that have to be read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from playwright.sync_api import Locator

_GUIDE: Final = Path(__file__).resolve().parents[2] / "docs/guide/site.md"
_ROW: Final = re.compile(r"^\| (?P<story>[^|]+) \| (?P<clicks>\d+) \| (?P<words>\d+) \|", re.MULTILINE)


@dataclass
class ReadingCost:
    """Clicks on links and buttons, and words read. Typing into a field is no click."""

    clicks: int = 0
    words: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def read(self, *parts: Locator) -> None:
        for part in parts:
            self.words += sum(len(text.split()) for text in part.all_inner_texts())


@cache
def published_limits() -> dict[str, tuple[int, int]]:
    """The clicks and the most words of each story, as the table of the guide states them."""
    rows = _ROW.finditer(_GUIDE.read_text("utf-8"))
    return {row["story"].strip(): (int(row["clicks"]), int(row["words"])) for row in rows}


@contextlib.contextmanager
def story(name: str) -> Iterator[ReadingCost]:
    """Count a story, which fails if it costs other clicks or more words than the guide states."""
    spent = ReadingCost()
    yield spent
    clicks, words = published_limits()[name]
    assert spent.clicks == clicks, f"{name}: {spent.clicks} clicks, {clicks} in the guide"
    assert 0 < spent.words <= words, f"{name}: {spent.words} words, at most {words} in the guide"
    assert spent.words > words * 0.7, f"{name}: {spent.words} words, so the guide's {words} are out of date"
