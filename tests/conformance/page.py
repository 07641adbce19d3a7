"""The generated parts of docs/conformance.md, each between two comments that name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = "conformance.md"


def write(docs: Path, part: str, text: str) -> None:
    """Replace one part of the page."""
    page = docs / PAGE
    pattern = re.compile(rf"(<!-- {part} -->\n).*?(\n<!-- end of {part} -->)", re.DOTALL)
    old = page.read_text()
    if not pattern.search(old):
        raise SystemExit(f"{page} has no part {part}")
    page.write_text(pattern.sub(lambda match: match[1] + text.strip() + match[2], old))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def block(text: str) -> str:
    """A block of text as it is."""
    return f"```http\n{text}\n```"
