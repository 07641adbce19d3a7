"""Finds instructions that a text gives about another tool of its server, by name. Texts and names are folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

_ANY_TOOL: Final = "\ua842"
"""A letter that no text contains, in place of a tool's name."""

_ORDERS: Final = (
    # An instruction about a tool whenever another tool is used.
    r"\b(?:before|after|when(?:ever)?|prior\sto|each\stime|every\stime|any\stime|once|if)\s(?:\S{{1,20}}\s){{0,4}}?\S{{0,3}}{name}\b[^.\n]{{0,160}}?\b(?:must|always|mandatory|required|have\sto|shall|never)\b",
    # A step before or after a call of another tool.
    r"\b(?:before|when(?:ever)?|prior\sto|while)\s(?:using|calling|invoking|running|executing)\s(?:the\s)?\S{{0,2}}{name}\S{{0,2}}(?:\stool|\sfunction)?,\s(?:you\s)?(?:should\s|first\s|please\s){{0,2}}(?:append|replace|override|call|execute|run|invoke|send|read|write|copy|export|change|set|add|skip)\b",
    # An instruction to the other tool itself.
    r"\b{name}\S{{0,3}}\s(?:tool\s|function\s)?(?:must|shall|should|has\sto|is\srequired\sto|needs\sto)\s(?:\w{{1,10}}\s){{0,2}}(?:send|use|pass|route|redirect|include|forward|go|bcc|add|set|copy|append|change|be)\b",
    # Another tool is disparaged or forbidden.
    r"\b(?:do\snot|don'?t|never|stop|avoid|instead\sof)\s(?:ever\s)?(?:us|call|invok|run|trust)\w{{0,4}}\s(?:the\s)?\S{{0,2}}{name}\b[^.\n]{{0,120}}?\b(?:always|must|only|never|instead)\b",
    r"\b{name}\S{{0,3}}\s(?:tool\s|function\s)?(?:is|has\sbeen)\s(?:\w{{1,8}}\s)?(?:deprecated|disabled|broken|unsafe|insecure|compromised|obsolete|unavailable|replaced)\b",
)
_NEEDS: Final = (
    (
        ("must", "always", "mandatory", "required", "have to", "shall", "never"),
        ("before", "after", "when", "prior to", " time", "once", "if"),
    ),
    ((", ",), ("using", "calling", "invoking", "running", "executing"), ("before", "when", "prior to", "while")),
    (
        ("must ", "shall ", "should ", "has to ", "is required to ", "needs to "),
        (
            "send",
            "use",
            "pass",
            "route",
            "redirect",
            "include",
            "forward",
            "go",
            "bcc",
            "add",
            "set",
            "copy",
            "append",
            "change",
            "be",
        ),
    ),
    (
        ("do not ", "don't ", "dont ", "never ", "stop ", "avoid ", "instead of "),
        ("always", "must", "only", "never", "instead"),
        ("us", "call", "invok", "run", "trust"),
    ),
    (
        (
            "deprecated",
            "disabled",
            "broken",
            "unsafe",
            "insecure",
            "compromised",
            "obsolete",
            "unavailable",
            "replaced",
        ),
        ("is ", "has been "),
    ),
)
"""For each expression, groups of words; a match contains one word of each group."""

_REACHES: Final = (270, 70, 65, 165, 50)
"""For each expression, the maximum distance that it reaches beside the name."""

_WORDS: Final = frozenset(re.findall(r"(?<!\\)[a-z]{2,}", " ".join(_ORDERS).replace("{name}", "").replace("'?", "")))
_STEMS: Final = ("us", "call", "invok", "run", "trust")
"""Words of an instruction, and whether more letters may follow."""

_FEW: Final = 8

_NO_WORD: Final = re.compile(r"\W+")
_QUOTES: Final = "`'\""


def list_instruction_expressions() -> tuple[str, ...]:
    """Expressions of which each text with an instruction about any tool matches at least one."""
    return tuple(order.format(name=".*") for order in _ORDERS)


def instructs_tool(name: str, folded: str) -> bool:
    """Whether a text gives instructions about a tool. Expressions for any tool are tried before those for this name."""
    around = [
        (index, groups, part)
        for index, (reach, groups) in enumerate(zip(_REACHES, _NEEDS, strict=True))
        for part in _around(name, folded, reach)
    ]
    possible = [(index, part) for index, groups, part in around if holds_word_of_each_group(part, groups)]
    if possible and _ANY_TOOL not in folded and _stands_apart(name) and not _overlaps(name, folded):
        orders = _orders(_ANY_TOOL)
        possible = [(index, part) for index, part in possible if orders[index].search(part.replace(name, _ANY_TOOL))]
    return any(_orders(name)[index].search(folded) for index in {index for index, _ in possible})


def holds_word_of_each_group(text: str, groups: Iterable[Iterable[str]]) -> bool:
    for group in groups:
        for word in group:
            if word in text:
                break
        else:
            return False
    return True


def find_word_positions(word: str, text: str) -> Iterator[int]:
    """The positions of a word in a text, overlapping ones included."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _around(name: str, folded: str, reach: int) -> list[str]:
    """The parts of a text around a name; the whole text when the name is frequent."""
    found = list(islice(find_word_positions(name, folded), _FEW + 1))
    if len(found) > _FEW:
        return [folded]
    return [folded[max(0, at - reach) : at + len(name) + reach] for at in found]


@lru_cache(maxsize=4096)
def _stands_apart(name: str) -> bool:
    """Whether a letter can replace this name without loss of a word of an instruction: it shares no word with one."""
    parts = _NO_WORD.split(name)
    if " " in name or not parts[0] or not parts[-1] or any(name in word for word in _WORDS):
        return False
    if any(part.startswith(_STEMS) or part in _WORDS for part in parts):
        return False
    return len(parts) == 1 or not any(word.endswith(parts[0]) or word.startswith(parts[-1]) for word in _WORDS)


def _overlaps(name: str, folded: str) -> bool:
    """Whether two occurrences of a name share characters."""
    return any(following < at + len(name) for at, following in pairwise(find_word_positions(name, folded)))


@lru_cache(maxsize=4096)
def _orders(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(order.format(name=re.escape(name))) for order in _ORDERS)


def _is_quoted(name: str, folded: str) -> bool:
    return any(f"{first}{name}{last}" in folded for first in _QUOTES for last in _QUOTES)


def _is_followed(name: str, word: str, folded: str) -> bool:
    """Whether a name occurs as a whole word before another word."""
    for at in find_word_positions(name + word, folded):
        before, after = folded[max(0, at - 1) : at], folded[at + len(name + word) :][:1]
        if _is_edge(before, name[0]) and _is_edge(word[-1], after):
            return True
    return False


def _is_edge(before: str, after: str) -> bool:
    """Whether there is a word boundary between two characters, either of which may be missing."""
    return _is_of_a_word(before) != _is_of_a_word(after)


def _is_of_a_word(mark: str) -> bool:
    return mark == "_" or mark.isalnum()


def mentions_tool_name(name: str, folded: str) -> bool:
    """Whether the text refers to the tool. A name of one common word counts only in quotes or before "tool"."""
    if any(mark in name for mark in "_-./") or any(mark.isdigit() for mark in name):
        return True
    return _is_quoted(name, folded) or any(_is_followed(name, word, folded) for word in (" tool", " function"))
