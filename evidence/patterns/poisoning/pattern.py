"""The type of poisoning patterns: category, confidence, and how a pattern is searched.

Every quantifier over more than one character is bounded and texts are cut to MAX_TEXT, so a hostile text costs linear
time. Patterns are searched after folding (`evidence.derive.poisoning`): lower case, compatibility forms, single spaces,
no hidden characters. Most texts do not contain the fixed words that a pattern `needs`, so hardly any expression is
tried. A test derives from each expression that no match lacks these words, and that none is longer than its `reach`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, StrEnum
from functools import cache
from itertools import islice
from typing import Final

from msgspec import Struct

from evidence.compiled_on_use import compile_on_use

MAX_TEXT: Final = 20_000
"""Characters of one text that are scanned; a longer description is a finding of its own elsewhere."""

WINDOW: Final = 240
MAX_PLACES: Final = 50
REACH: Final = 340
"""Length of the longest match of most patterns, with the examined text around it."""

SENTENCE: Final = compile_on_use(r"(?:[^.!?]++|[.!?](?!\s)|(?<=\be\.g)\.|(?<=\bi\.e)\.)+[.!?]?")
"""One sentence of a folded text, with its end. The points of "e.g." and "i.e." do not end it."""
_SENTENCE_END: Final = compile_on_use(r"(?<!\be\.g)(?<!\bi\.e)[.!?]\s")
_NAMED: Final = "(?P<"
_BEFORE: Final = 48
_MENTIONED: Final = 90


class Threat(StrEnum):
    """The purpose of a pattern, by the id that mcptest publishes."""

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
    """The confidence of a hit. Only `high` costs a server points; the others inform."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Mention(Enum):
    """What a match is an example of."""

    ATTACK = "attack"
    MARKUP = "markup"


class MentionedTool(Struct, frozen=True):
    """A thing that a match is about. `called`: the text itself calls it a tool."""

    name: str
    called: bool = False


class PatternMatch(Struct, frozen=True):
    """A match in a text. `others`: the things that it is about, for each place; None when it names none.

    `disputed`: the confidence if nothing gives a reason to quote attacks; None for a match outside of quotations.
    """

    confidence: Confidence
    others: tuple[tuple[MentionedTool, ...], ...] | None = None
    disputed: Confidence | None = None


class Expression(Struct, frozen=True):
    """A verbose regular expression, compiled on first use: most processes use only a few."""

    pattern: str

    @property
    def regex(self) -> re.Pattern[str]:
        return _compiled(self.pattern)

    @property
    def is_naming(self) -> bool:
        """Whether it has groups; each of them names a thing that the match is about."""
        return _NAMED in self.pattern


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.VERBOSE)


class Pattern(Struct, frozen=True):
    """One pattern. `expression` must match with each of `beside` within WINDOW characters; when `sentence` is set,
    within the
    same sentence, and `unless` is then searched in the whole sentence. The samples are its tests.

    A match, with the text beside it, contains one word of each group of `needs` within `reach` characters of a word of
    the
    first group, or `unbroken` characters without a space. A match of `unless` inside or just before the match discards
    it.
    Groups named `other`, `second` and so on are tools that it is about. `mentionable`: texts about security quote such
    texts; a quoted one only informs.
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
        """Whether the text contains a match of any confidence."""
        return self.find(text) is not None

    def find(self, text: str) -> PatternMatch | None:
        """The match with the highest confidence of all its places; None without a match."""
        places = list(islice(self._places(text), MAX_PLACES if self._places_differ else 1))
        if not places:
            return None
        others = tuple(dict.fromkeys(_names(place) for place in places)) if self.expression.is_naming else None
        if not self.mentionable:
            return PatternMatch(self.confidence, others)
        mentions = [_find_mention(text, place) for place in places]
        if None in mentions:
            return PatternMatch(self.confidence, others)
        disputed = self.confidence if Mention.ATTACK in mentions else None
        return PatternMatch(Confidence.LOW, others, disputed)

    @property
    def _places_differ(self) -> bool:
        return self.mentionable or self.expression.is_naming

    def _places(self, text: str) -> Iterator[re.Match[str]]:
        for place in islice(self.expression.regex.finditer(text), MAX_PLACES):
            span = self._span(text, place)
            if all(part.regex.search(span) for part in self.beside) and not self._is_explained(text, place, span):
                yield place

    def _span(self, text: str, place: re.Match[str]) -> str:
        """The text around a match that is examined."""
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
    """Declare a pattern. Expressions are verbose; a group of `needs` is a list of words separated by bars."""
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


_MENTION: Final = compile_on_use(
    r"""(?<![.@\w-])(?:\be\.?g\.|(?:\bsuch\sas|\beg|\bfor\s(?:example|instance)|\b(?:phrase|string|wording|pattern|attempt|payload|example|sample|attack|injection)s?
        |\b(?:detect|flag|block|catch|analy[sz]|identif|explain|refus|sanitiz|classif|recogni[sz]|neutrali[sz]|scan|reject)\w{0,5}
        |\b(?:content|documents?|e-?mails?|inputs?|messages?|pages?|phrases?|prompts?|texts?)\s(?:that|which)\s(?:ask|attempt|instruct|order|tell|tr(?:y|ie)|want)s?\s(?:[\w-]{1,12}\s){0,2}to|\bhow\s(?:an?\s)?(?:attackers?|malware)|\btraining\s(?:text|data)|\breturns?\s(?:\w{1,12}\s){0,3}(?:text|string|prompt)s?|\bprompts?\sthat)\b)(?:[^.!?;\n]|\.(?=\S)){0,60}$""",
    re.VERBOSE,
)

CONDITION: Final = compile_on_use(
    r"\b(?:unless|until|except\s(?:if|when)|fail(?:s|ed)?\sto|without\s(?:having|first)|skip(?:s|ped|ping)?"
    r"|(?:you|this|the\s(?:model|assistant|agent))\s(?:have|has|had|did|do|does|was|were|is|are)(?:n't|\snot)"
    r"|es\ssei\sdenn|(?:sofern|solange|falls|wenn)\s(?:\w+\s){0,2}nicht|sauf\ssi|à\smoins|tant\sque|a\smenos|salvo\sque"
    r"|(?:hasta|até)\sque|(?:mientras|enquanto)\sn[oã]o?|a\smeno\sche|finché\snon|se\s(?:non|não)|tenzij|zolang|totdat"
    r"|chyba\sże|dopóki|jeśli\snie|pokud\sne|dokud|если\sне|пока\sне|якщо\sне|поки\sне|kecuali|trừ\skhi|om\sinte|olmadıkça)"
    r"|除非|直到|しない限り|するまで|않으면|때까지|إلا\sإذا|ما\sلم|जब\sतक"
)
"""Makes what follows in the sentence what the caller has to do, not what a tool detects or rejects."""

_TAG_MENTION: Final = compile_on_use(
    r"""\b(?:check|format|pars|strip|wrap|render|convert|escap|count|support|tokeni[sz]|remov|insert|log|token|tag|level|delimiter|placeholder|markup|chatml|template|xml|html)\w{0,5}
        \b(?:[^.!?;\n]|\.(?=\S)|\.\.\.){0,60}$""",
    re.VERBOSE,
)
_TAG: Final = "<[{"
_ENDS: Final = ".!?;:"

_MENTIONED_AFTER: Final = compile_on_use(
    r"""[`'"”)]{0,2}(?:[/,]?\s(?:(?:and|or)\s)?[`'"]?[<\[][^>\]]{1,30}[>\]][`'"]?){0,3}\s(?:blocks?|tags?|tokens?|elements?|markers?|sections?|delimiters?)\b
        |[`'"]{0,2}\s\S{1,20}\s[`'"]{0,2}[<\[]/|[`'"]{0,2}\sas\s\w{2,14}\sneeds""",
    re.VERBOSE,
)
"""Text after a tag that is only mentioned."""


def _find_mention(text: str, place: re.Match[str]) -> Mention | None:
    """How the words before a match in its sentence, or just after it, mark it as a quoted example."""
    before = text[max(0, place.start() - _MENTIONED) : place.start()]
    if place[0][0] in _TAG:
        after = text[place.end() : place.end() + _MENTIONED]
        if _TAG_MENTION.search(before) or _MENTIONED_AFTER.match(after):
            return Mention.MARKUP
    condition = CONDITION.search(before)
    if place[0][0] not in _ENDS and _MENTION.search(before, condition.end() if condition else 0):
        return Mention.ATTACK
    return None


def _names(place: re.Match[str]) -> tuple[MentionedTool, ...]:
    groups = place.groupdict().items()
    return tuple(MentionedTool(name.rstrip(".-"), group.endswith("__")) for group, name in groups if name)
