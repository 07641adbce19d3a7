"""Rule `param-constraint-undescribed`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evidence.canonical import Json
from evidence.kinds.listing import UNDEFINED, Undefined
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import compile_pattern, is_truthy
from scoring.text.words import split_words

_VALUES: Final = 50
"""As many values of an enum are looked for in a description."""

_WORD: Final = re.compile(r"\w+", re.ASCII)
_UNIT: Final = "(?:length|chars?|characters?)"
_COUNT: Final = r"\s+\d+\s*(?:chars?|characters?)\b"
_QUOTED: Final = "['\"][^'\"]+['\"]"
_HINTS: Final = {
    "minimum": compile_pattern(
        r"\b(?:min(?:imum)?|at\s+least|greater\s+than|no\s+less\s+than|lower\s+bound)\b|(?<=\w)>=?\s*\d"
    ),
    "maximum": compile_pattern(
        r"\b(?:max(?:imum)?|(?:at\s+most)|(?:less|no\s+more)\s+than|upper\s+bound|up\s+to)\b|(?<=\w)<=?\s*\d"
    ),
    "minLength": compile_pattern(
        rf"\bmin(?:imum)?\s*{_UNIT}\b|\bat\s+least{_COUNT}|\blength.{{0,20}}(?:at\s+least|min|>=)"
    ),
    "maxLength": compile_pattern(
        rf"\bmax(?:imum)?\s*(?:\d+\s*)?{_UNIT}\b|\b(?:at\s+most|up\s+to|no\s+more\s+than){_COUNT}"
        r"|\blength.{0,20}(?:at\s+most|max|<=|up\s+to)|\btruncated?\b|\blimit(?:ed)?\s+to\b"
    ),
    "pattern": compile_pattern(
        rf"\b(?:pattern|format|regex|valid|(?:must|should)\s+match)\b|\blike\s+{_QUOTED}|\be\.?g\.?\s*[\"':]"
    ),
    "enum": compile_pattern(
        r"\b(?:one\s+of|(?:must|should|can|may)\s+be|(?:allowed|valid|possible)\s+values?)\b|\boptions?\s*(?:are|:)"
        rf"|{_QUOTED}(?:\s*,\s*{_QUOTED}\s*(?:,|or|and))"
    ),
    "format": compile_pattern(
        r"\b(?:format|uuid|uri|url|email|date|time|datetime|hostname|ipv[46]?)\b|\biso|\brfc\s*\d"
    ),
}


@rule(
    "param-constraint-undescribed",
    scope=Param,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Parameter description does not mention a constraint",
    remedy="State each constraint of the schema in words in the `description`, for example `at least 1`, `at most "
    "10 characters`, `one of: a, b` or `format: date`.",
    since="2026.1",
    version=1,
    fix=(
        build_param("page", type="integer", description="Number of the page.", minimum=1),
        build_param("page", type="integer", description="Number of the page, at least 1.", minimum=1),
    ),
    good=[
        build_param(minimum=1, description="Page, at least 1."),
        build_param(description=UNDEFINED, minimum=1),
        build_param(minimum=None),
    ],
    bad=[
        build_param(minimum=1, description="Number of the page."),
        build_param(enum=["a", "b"], description="Kind of the page."),
    ],
)
def param_constraint_undescribed(param: Param, literal: bool = False) -> Iterator[str]:
    """Some clients send a model only the descriptions, so calls often violate a limit that they do not mention.

    The numbers or values themselves are enough, unless `literal` requires words, as the published reference does: it
    does not read "(1-100)" or "<= 9" as a limit.
    """
    description = param.get("description")
    if (
        not isinstance(param.raw, dict)
        or _HINTS.keys().isdisjoint(param.raw)
        or not (literal or is_truthy(description))
    ):
        return
    text = description if isinstance(description, str) else ""
    missing = [keyword for keyword, hint in _HINTS.items() if _is_set(param.get(keyword)) and not hint.search(text)]
    if not literal:
        missing = [keyword for keyword in missing if not _states(text, param.raw[keyword])]
    if missing:
        yield f"the description does not mention {', '.join(missing)}"


def _is_set(value: Json | Undefined) -> bool:
    return value is not UNDEFINED and value is not None and value != []


def _states(text: str, value: Json) -> bool:
    """Whether the text names the value, or every value of a list."""
    if isinstance(value, list):
        return all(isinstance(item, (str, int, float)) and _states(text, item) for item in value[:_VALUES])
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    return str(value).lower() in split_words(text) if _WORD.fullmatch(str(value)) else str(value) in text
