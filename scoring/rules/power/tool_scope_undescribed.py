"""Rule `tool-scope-undescribed`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.analysis.own_text import list_own_texts
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool, Toolset
from scoring.text.words import parse_word_list, split_tokens

_BOUND: Final = re.compile(
    r"\b(?:only|within|limited to|restricted to|allowed|current|at most|up to|max(?:imum)?|read-?only|inside|belonging"
    r"|specified|by (?:its |their )?(?:id|identifier|name|path))\b",
    re.IGNORECASE,
)
_EVERY_TOOL: Final = parse_word_list("a an and any by for from in it its of on or per the this to tool use used with")
_NEAR: Final = 4
"""Words between what is bounded and its bound."""


@rule(
    "tool-scope-undescribed",
    scope=Toolset,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Most descriptions do not limit the data that a tool can access",
    remedy="Name the tool's data and its limit in one sentence of each description, for example `Lists only notes of "
    "the current user.` Use another sentence for each tool.",
    since="2026.4",
    version=1,
    fix=(
        build_toolset(build_tool("delete_notes", description="Deletes notes.")),
        build_toolset(build_tool("delete_notes", description="Deletes notes of the current user.")),
    ),
    good=[build_toolset(), build_toolset(build_tool("list_notes", description="Lists notes of the current user."))],
    bad=[
        build_toolset(build_tool("delete_notes", description="Deletes notes. Use it only within the current context.")),
        build_toolset(
            build_tool("delete_note", description="Deletes. A note is given only within the current context."),
            build_tool("read_note", description="Reads. A note is given only within the current context."),
        ),
    ],
)
def tool_scope_undescribed(toolset: Toolset) -> Iterator[str]:
    """Users who decide which tools an agent may use need to know which data each tool can access.

    One sentence has to name the object of the tool, by a word of its name or of a parameter, and its limits: whose
    notes, which folder, how many. A passage that several tools share does not count.
    """
    texts = list_own_texts(toolset)
    silent = sum(not _is_bounded(text, _subjects(tool)) for text, tool in zip(texts, toolset.tools, strict=True))
    if silent * 2 > len(toolset.tools):
        verb = "does" if silent == 1 else "do"
        yield f"{silent} of {len(toolset.tools)} descriptions {verb} not state which data the tool can access"


def _subjects(tool: Tool) -> frozenset[str]:
    """Words of the tool's name after its verb and of its parameters, in the singular."""
    named = split_tokens(tool.name)[1:]
    taken = (word for name in tool.properties for word in split_tokens(name))
    return frozenset(_singular(word) for word in (*named, *taken) if len(word) > 2) - _EVERY_TOOL


def _is_bounded(text: str, subjects: frozenset[str]) -> bool:
    """Whether a word for a bound stands a few words from a subject, in one sentence."""
    for sentence in text.splitlines():
        bounds = [sentence.count(" ", 0, found.start()) for found in _BOUND.finditer(sentence)]
        words = [_singular(word) for word in sentence.split()] if bounds else []
        named = [place for place, word in enumerate(words) if word in subjects]
        if any(abs(bound - place) <= _NEAR for bound in bounds for place in named):
            return True
    return False


def _singular(word: str) -> str:
    return word.removesuffix("s")
