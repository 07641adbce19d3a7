"""The snippet of a rule as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.snippet import Snippet

_FENCE = "````"
"""Longer than the fences inside of a snippet that is Markdown itself."""


def render_snippet(snippet: Snippet) -> str:
    """Two code blocks, before and after; one where the fix adds a text."""
    return "\n\n".join(_blocks(snippet))


def _blocks(snippet: Snippet) -> Iterator[str]:
    if snippet.before is not None:
        yield f"Before, {_place(snippet)}:"
        yield _fence(snippet, snippet.before)
    yield f"After, {_place(snippet)}:"
    yield _fence(snippet, snippet.after)


def _place(snippet: Snippet) -> str:
    """The place as it stands after a comma."""
    return snippet.where[0].lower() + snippet.where[1:]


def _fence(snippet: Snippet, text: str) -> str:
    fence = _FENCE if "```" in text else "```"
    return f"{fence}{snippet.language.value}\n{text}\n{fence}"
