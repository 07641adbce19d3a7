"""Composed patterns: words of several meanings in one sentence, in any order."""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning.language.grammar import ORDER
from evidence.patterns.poisoning.language.vocabulary import AI, Words, build_raw_words
from evidence.patterns.poisoning.pattern import Category, Confidence, Pattern, declare_pattern

REACH: Final = 900

DUTY: Final = build_raw_words(
    r"""\b(?:must|shall|should|ought\sto|ha(?:s|ve|d)\s(?:got\s)?to|needs?\sto|needs?|needed|is\sto|are\sto|to\sbe|required|requires|obliged|obligated|expected\sto|supposed\sto|instructed|directed|essential|mandatory|compulsory|crucial
    |imperative|make\ssure|be\ssure|makes?\scertain|ensure|see\sto\sit|always|please|kindly|be\sso\skind|remember\sto|do\snot\s(?:forget|leave\sout|omit)|you\s(?:will|would|want\sto|are\sto|also|then|first)|goes|go\sto|belongs?|gets?|let\s(?:us|it)|serves?\sas|acts?\sas|is\sneeded|are\sneeded)\b"""
)
"""Expressions of obligation."""

NEGATED: Final = r"\b(?:never|not|don'?t|without|no\slonger|cannot)\s(?:\w{1,12}\s){0,3}"


_THEN: Final = (
    r"\b(?:purposes|reasons|likewise|beforehand|afterwards?|next|finally|instead|silently|quietly|discreetly|now|simply|"
    r"immediately|directly|so|additionally|too|again|otherwise|day|time|occasion)[,:]?\s"
)
"""Words after which a verb is an instruction although no clause begins there."""


_PURPOSE: Final = r"(?:^|[.!?]\s)(?:for|to|in\sorder\sto|as)\s(?:[\w'-]{1,16}\s){1,6}?"
"""Text that may precede an instruction without a comma."""


def build_imperative(verbs: Words) -> Words:
    """Verbs as instructions: at the beginning of a clause, after a word of obligation, or after the model's name."""
    before = rf"(?:{ORDER}|{_THEN}|{_PURPOSE}|{DUTY.expression}\s(?:\w{{1,12}}\s){{0,3}}?|{AI.expression}\s)"
    return build_raw_words(f"{before}{verbs.expression}", verbs.needs)


def build_obligation(verbs: Words, done: Words) -> Words:
    """Verbs as instructions, or their participles as an obligation."""
    passive = rf"{DUTY.expression}(?:[^.;!?]|[.?!](?=\S)){{0,60}}?{done.expression}"
    return build_raw_words(rf"{build_imperative(verbs).expression}|{passive}")


def declare_sentence_pattern(
    category: Category,
    ident: str,
    title: str,
    *parts: Words,
    bad: tuple[str, ...],
    good: tuple[str, ...],
    unless: str = "",
    confidence: Confidence = Confidence.HIGH,
    mentionable: bool = True,
) -> Pattern:
    """A pattern whose parts occur in one sentence without a match of `unless`. The first part should be the rarest."""
    first, *others = parts
    return declare_pattern(
        category,
        ident,
        title,
        first.expression,
        beside=tuple(each.expression for each in others),
        needs=tuple(each.needs for each in parts if each.needs) if first.needs else (),
        unless=unless,
        reach=REACH,
        bad=bad,
        good=good,
        confidence=confidence,
        mentionable=mentionable,
        sentence=True,
    )
