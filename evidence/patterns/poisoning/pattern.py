"""What a wording of poisoning is: its category, how sure it is, and how it is looked for.

Every quantifier over more than one character is bounded and texts are cut to MAX_TEXT, so a hostile text costs linear
time. Wordings are looked for after folding (`evidence.derive.poisoning`): lower case, compatibility forms, single
spaces, no hidden characters. Most texts do not hold the fixed words that a wording `needs`, so hardly any expression is
ever tried; a test derives from each expression that no match can do without them, and that none is longer than its
`reach`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Final

MAX_TEXT: Final = 20_000
"""Characters of one text that are looked at; a description that long is a finding of its own elsewhere."""

WINDOW: Final = 240
MAX_PLACES: Final = 50
REACH: Final = 340
"""Longest match of most wordings, with what they look at around it."""

SENTENCE: Final = re.compile(r"(?:[^.!?]|[.!?](?!\s))+[.!?]?")
"""One sentence of a folded text, with its end."""
_SENTENCE_END: Final = re.compile(r"[.!?]\s")
_NAMED: Final = "(?P<"
_BEFORE: Final = 48
_MENTIONED: Final = 90


class Threat(StrEnum):
    """What a wording is up to, under the id that mcptest publishes."""

    INJECTION = "SEC-001"
    CROSS_TOOL = "SEC-002"
    EXFILTRATION = "SEC-003"
    ENCODED = "SEC-004"
    HIDDEN = "SEC-005"
    PREFERENCE = "SEC-006"
    SECRET = "SEC-008"  # noqa: S105 - the name of a threat


class Category(StrEnum):
    """How a text works on a model: finer than the published ids."""

    OVERRIDE = "instruction-override"
    CONCEALMENT = "concealment"
    SYSTEM_TAG = "system-tag"
    EXFILTRATION = "exfiltration"
    SENSITIVE_PATH = "sensitive-path"
    SHADOWING = "shadowing"
    PREFERENCE = "preference"
    ENCODED = "encoded"
    HIDDEN = "hidden-text"
    CREDENTIAL = "credential"
    COMBINED = "combined"

    @property
    def threat(self) -> Threat:
        """The published id that it belongs to."""
        return _THREATS[self]


_THREATS: Final = {
    Category.OVERRIDE: Threat.INJECTION,
    Category.CONCEALMENT: Threat.INJECTION,
    Category.SYSTEM_TAG: Threat.INJECTION,
    Category.EXFILTRATION: Threat.EXFILTRATION,
    Category.SENSITIVE_PATH: Threat.EXFILTRATION,
    Category.SHADOWING: Threat.CROSS_TOOL,
    Category.PREFERENCE: Threat.PREFERENCE,
    Category.ENCODED: Threat.ENCODED,
    Category.HIDDEN: Threat.HIDDEN,
    Category.CREDENTIAL: Threat.SECRET,
    Category.COMBINED: Threat.INJECTION,
}


class Confidence(StrEnum):
    """How sure a hit is. Only `high` costs a server points; the others inform."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class MentionedTool:
    """A thing that a wording is about. `called`: the text itself says that it is a tool."""

    name: str
    called: bool = False


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A wording in a text. `others`: for each place the things that it is about; None when it is about none by name."""

    confidence: Confidence
    others: tuple[tuple[MentionedTool, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A verbose regular expression, compiled when it is first tried: most processes never try most of them."""

    pattern: str

    @property
    def regex(self) -> re.Pattern[str]:
        """It, compiled."""
        return _compiled(self.pattern)

    @property
    def is_naming(self) -> bool:
        """Whether its groups name what it is about; it has no other groups."""
        return _NAMED in self.pattern


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One wording: `expression`, with each of `beside` within WINDOW characters of it, and when it is told by
    `sentence` in the same sentence, where `unless` may then stand anywhere. The samples are its tests.

    A match, with what is beside it, holds one word of each group of `needs` within `reach` characters of a word of the
    first group; or so many characters as `unbroken` without a space. `unless` explains a match: it stands in it or just
    before. Named groups `other`, `second` and so on are tools that it is about. `mentionable`: texts about security
    quote such wordings, and then it only informs.
    """

    id: str
    category: Category
    title: str
    expression: Expression
    bad: tuple[str, ...]
    good: tuple[str, ...]
    beside: tuple[Expression, ...] = ()
    unless: Expression | None = None
    needs: tuple[tuple[str, ...], ...] = ()
    unbroken: int = 0
    reach: int = REACH
    confidence: Confidence = Confidence.HIGH
    mentionable: bool = False
    sentence: bool = False

    def matches(self, text: str) -> bool:
        """Whether the text holds the wording, however sure."""
        return self.find(text) is not None

    def find(self, text: str) -> PatternMatch | None:
        """The wording in a text, as sure as its surest place."""
        places = list(islice(self._places(text), MAX_PLACES if self._is_told_apart else 1))
        if not places:
            return None
        others = tuple(dict.fromkeys(_names(place) for place in places)) if self.expression.is_naming else None
        quoted = self.mentionable and all(_is_mentioned(text, place) for place in places)
        return PatternMatch(Confidence.LOW if quoted else self.confidence, others)

    @property
    def _is_told_apart(self) -> bool:
        return self.mentionable or self.expression.is_naming

    def _places(self, text: str) -> Iterator[re.Match[str]]:
        for place in islice(self.expression.regex.finditer(text), MAX_PLACES):
            span = self._span(text, place)
            if all(part.regex.search(span) for part in self.beside) and not self._is_explained(text, place, span):
                yield place

    def _span(self, text: str, place: re.Match[str]) -> str:
        """What is looked at beside a place."""
        if not self.beside and not self.sentence:
            return ""
        before, after = text[max(0, place.start() - WINDOW) : place.start()], text[place.end() : place.end() + WINDOW]
        if not self.sentence:
            return before + place[0] + after
        end = _SENTENCE_END.search(after)
        return _SENTENCE_END.split(before)[-1] + place[0] + (after[: end.start()] if end else after)

    def _is_explained(self, text: str, place: re.Match[str], span: str) -> bool:
        if self.unless is None:
            return False
        where = span if self.sentence else text[max(0, place.start() - _BEFORE) : place.end()]
        return bool(self.unless.regex.search(where))


def declare_pattern(
    category: Category,
    ident: str,
    title: str,
    expression: str,
    *,
    bad: tuple[str, ...],
    good: tuple[str, ...],
    needs: tuple[str, ...],
    unbroken: int = 0,
    reach: int = REACH,
    beside: tuple[str, ...] = (),
    unless: str = "",
    confidence: Confidence = Confidence.HIGH,
    mentionable: bool = False,
    sentence: bool = False,
) -> Pattern:
    """Declare a wording. Expressions are verbose ones; a group of `needs` is words between bars."""
    return Pattern(
        ident,
        category,
        title,
        Expression(expression),
        bad,
        good,
        tuple(map(Expression, beside)),
        Expression(unless) if unless else None,
        tuple(tuple(group.split("|")) for group in needs),
        unbroken,
        reach,
        confidence,
        mentionable,
        sentence,
    )


_MENTION: Final = re.compile(
    r"""(?<![.@\w-])(?:\be\.?g\.|(?:\bsuch\sas|\beg|\bfor\s(?:example|instance)|\b(?:phrase|string|wording|pattern|attempt|payload|example|sample|attack|injection)s?
        |\b(?:detect|flag|block|catch|analy[sz]|identif|explain|refus|sanitiz|classif|recogni[sz]|neutrali[sz]|scan|reject)\w{0,5}
        |\btraining\s(?:text|data)|\breturns?\s(?:\w{1,12}\s){0,3}(?:text|string|prompt)s?|\bprompts?\sthat)\b)(?:[^.!?;\n]|\.(?=\S)){0,60}$""",
    re.VERBOSE,
)


_TAG_MENTION: Final = re.compile(
    r"""\b(?:check|format|pars|strip|wrap|render|convert|escap|count|support|tokeni[sz]|remov|insert|log|token|tag|level|delimiter|placeholder|markup|chatml|template|xml|html)\w{0,5}
        \b(?:[^.!?;\n]|\.(?=\S)|\.\.\.){0,60}$""",
    re.VERBOSE,
)
_TAG: Final = "<[{"
_ENDS: Final = ".!?;:"

_MENTIONED_AFTER: Final = re.compile(
    r"""[`'"”)]{0,2}(?:[/,]?\s(?:(?:and|or)\s)?[`'"]?[<\[][^>\]]{1,30}[>\]][`'"]?){0,3}\s(?:blocks?|tags?|tokens?|elements?|markers?|sections?|delimiters?)\b
        |[`'"]{0,2}\s\S{1,20}\s[`'"]{0,2}[<\[]/|[`'"]{0,2}\sas\s\w{2,14}\sneeds""",
    re.VERBOSE,
)
"""What follows a tag that is only spoken of."""


def _is_mentioned(text: str, place: re.Match[str]) -> bool:
    """Whether the words before a place, in its sentence, or just after it, make it an example of what others write."""
    before = text[max(0, place.start() - _MENTIONED) : place.start()]
    if place[0][0] not in _ENDS and _MENTION.search(before):
        return True
    if place[0][0] not in _TAG:
        return False
    after = text[place.end() : place.end() + _MENTIONED]
    return bool(_TAG_MENTION.search(before) or _MENTIONED_AFTER.match(after))


def _names(place: re.Match[str]) -> tuple[MentionedTool, ...]:
    groups = place.groupdict().items()
    return tuple(MentionedTool(name.rstrip(".-"), group.endswith("__")) for group, name in groups if name)
