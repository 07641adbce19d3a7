"""The table of docs/guide/stdio.md, as the tests read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_PAGE = Path(__file__).resolve().parents[2] / "docs/guide/stdio.md"


def over_stdio() -> Mapping[str, str]:
    """What the page says of each check about packages: `yes`, `no` and the like, by id; raise for one named twice."""
    text = _PAGE.read_text("utf-8").partition("<!-- checks -->\n")[2].partition("<!-- end of checks -->")[0]
    found: dict[str, str] = {}
    for line in text.splitlines():
        names, _, package = (cell.strip() for cell in line.split("|")[1:4])
        for name in names.split(", "):
            if name in found:
                raise ValueError(f"{name} stands in two rows")
            found[name] = package
    return found
