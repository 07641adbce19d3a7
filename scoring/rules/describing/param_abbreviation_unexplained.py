"""Rule `param-abbreviation-unexplained`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_object
from scoring.text.words import parse_word_list, split_segments, split_tokens, split_words
from scoring.vocabularies import abbreviations

_MEANING: Final = abbreviations.MEANING
_KNOWN: Final = parse_word_list(
    """
api auth config cpu csv dir docs email gpu html http https id ip json max min os param params ram regex sql temp
url uri utc xml yaml args async sync init max min sha md5 ascii oauth ssh 2fa
    """
)
"""Abbreviations that are words of their own by now."""

_FILLER: Final = parse_word_list("or of to the and feed")
_WORDS: Final = {
    short: split_words(meaning.partition("(")[2] or meaning) - _FILLER
    for short, meaning in abbreviations.MEANING.items()
}


@rule(
    "param-abbreviation-unexplained",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter name is an unexplained abbreviation",
    remedy="Write the full word in the `description` of the parameter, for example `repository` for `repo` or "
    "`message` for `msg`.",
    since="2026.1",
    version=1,
    fix=(build_param("repo", description="The repo"), build_param("repo", description="Full name of the repository.")),
    good=[
        build_param(name="user_id", description="Identifier of the user."),
        build_param(name="max", description="Maximum number."),
    ],
    bad=[build_param(name="uid", description="The uid"), build_param(name="msg", description="What the user sends")],
)
def param_abbreviation_unexplained(param: Param, literal: bool = False) -> Iterator[str]:
    """A model must guess the meaning of an abbreviation such as `ctx` or `po`, so write the word in the description.

    A common abbreviation (id, url, max, api ...) needs no explanation. `literal` reads as the published reference does:
    the name is one word, every abbreviation counts, and any of 57 words explains any abbreviation.
    """
    if not is_object(param.raw):
        return
    if literal:
        found = set(param.name_words & _MEANING.keys())
        if found and any(map(f"{param.name} {param.description}".lower().__contains__, abbreviations.EXPLAINING)):
            return
    else:
        found = {part for part in _parts(param.name) if part in _MEANING and not _is_explained(part, param)}
    if found:
        verb = "is" if len(found) == 1 else "are"
        yield f"{', '.join(sorted(found))} {verb} not explained"


def _parts(name: str) -> set[str]:
    return {*split_tokens(name), *split_segments(name)} - _KNOWN


def _is_explained(abbreviation: str, param: Param) -> bool:
    """Whether the description has a word of the meaning: of the part in brackets where there is one."""
    meant = _WORDS[abbreviation]
    described = param.words
    return not meant.isdisjoint(described) or not meant.isdisjoint({word.removesuffix("s") for word in described})
