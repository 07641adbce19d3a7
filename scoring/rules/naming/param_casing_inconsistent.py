"""Rule `param-casing-inconsistent`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text import javascript

_OTHER: Final = "other"
_CAMEL: Final = "camelCase"
_WORD: Final = re.compile("[a-z][a-z0-9]*")
_CAPITAL: Final = re.compile("[A-Z]")
_SCREAMING: Final = re.compile("[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_FORMS: Final = (
    ("snake_case", re.compile("[a-z][a-z0-9]*(?:_[a-z0-9]+)+")),
    ("kebab-case", re.compile("[a-z][a-z0-9]*(?:-[a-z0-9]+)+")),
    ("PascalCase", re.compile("[A-Z](?=[A-Z0-9]*[a-z])[a-zA-Z0-9]*")),
    (_CAMEL, re.compile("[a-z][a-zA-Z0-9]*")),
)


@rule(
    "param-casing-inconsistent",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameters of one tool use different case styles",
    remedy="Rename the parameters of the tool so that all of them use one case style, for example camelCase: "
    "`userId` and `pageSize`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "list-notes",
            description="Lists the notes of a user.",
            inputSchema={
                "type": "object",
                "properties": {"userId": {"type": "string"}, "page_size": {"type": "integer"}},
            },
        ),
        build_tool(
            "list-notes",
            description="Lists the notes of a user.",
            inputSchema={
                "type": "object",
                "properties": {"userId": {"type": "string"}, "pageSize": {"type": "integer"}},
            },
        ),
    ),
    good=[
        build_tool_with_params(userId={}, limit={}),
        build_tool_with_params(user_id={}, page_size={}, limit={}),
        build_tool_with_params(_a={}, a__b={}),
    ],
    bad=[build_tool_with_params(userId={}, page_size={}), build_tool_with_params(MaxResults={}, user_id={})],
)
def param_casing_inconsistent(tool: Tool, literal: bool = False) -> Iterator[str]:
    """Use one case style for all parameters, because a model copies the style of the first one it reads.

    After `userId` it writes `pageSize`, and the call fails if the name is `page_size`. Any one style is accepted, and a
    single lower-case word fits every style. `literal` reads as the published reference does: the most common style is
    expected, a single word is camelCase, and any other style than that is a finding.
    """
    names = javascript.object_keys(tool.schema.get("properties"))
    counts = Counter(_casing(name) for name in names if literal or not _WORD.fullmatch(name))
    common = max(counts, key=counts.__getitem__, default=_OTHER)
    named = [casing for casing in counts if casing != _OTHER]
    if any(casing != common for casing in named):
        yield f"{', '.join(named)}; one case style expected"
    if literal and common != _CAMEL and any(casing != _CAMEL for casing in named):
        yield "camelCase expected"


def _casing(name: str) -> str:
    if _SCREAMING.fullmatch(name) and ("_" in name or len(_CAPITAL.findall(name)) > 1):
        return "SCREAMING_CASE"
    return next((casing for casing, form in _FORMS if form.fullmatch(name)), _OTHER)
