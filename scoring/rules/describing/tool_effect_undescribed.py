"""Rule `tool-effect-undescribed`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import compile_pattern
from scoring.vocabularies import effects
from scoring.vocabularies.verbs import leading_verb

_EDGES: Final = tuple(sorted(effects.IN_NAMES))
_EFFECT: Final = compile_pattern(
    r"\b(?:(?:creat|generat|produc|updat|chang|mutat|delet|remov|purg|writ|sav|stor|execut|invok|fir|caus|terminat)es?"
    r"|(?:add|insert|edit|alter|destroy|clear|send|emit|broadcast|persist|commit|log|record|trigger|start|stop|affect"
    r"|impact|contact|request)s?|(?:publish|dispatch|push|launch)(?:es)?|(?:modif|notif)(?:y|ies)|permanent(?:ly)?"
    r"|irreversible|side\s+effects?|results?\s+in|connects?\s+to|state\s+change|makes?\s+(?:a\s+)?(?:api\s+)?call)\b"
    r"|\b(?:note|warning|caution|important)\s*:"
)
_DESTROYS_LITERALLY: Final = compile_pattern(
    r"\b(?:destruct|delet|remov|destroy|permanent|irreversible|cannot be undone)\b"
)
_DESTROYS: Final = compile_pattern(
    r"\b(?:destr(?:oy|uct)|delet|remov|eras|drop|discard|overwrit|purg|wip|clear|reset|replac|los|permanent|irrevers"
    r"|cannot be undone|can't be undone|terminat|kill|stop|cancel|revok|uninstall)"
)


@rule(
    "tool-effect-undescribed",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool description does not mention what the tool changes",
    remedy="State in the `description` what the tool changes or destroys, for example `Deletes a user. This cannot "
    "be undone`. Set `destructiveHint` to `false` if the tool destroys nothing.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "delete-user",
            description="For a user.",
            inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        ),
        build_tool(
            "delete-user",
            description="Deletes a user. This cannot be undone.",
            inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        ),
    ),
    good=[
        build_tool(name="delete-user", description="Permanently deletes a user."),
        build_tool(name="asset-list"),
        build_tool(name="newsletter"),
    ],
    bad=[
        build_tool(name="delete-user", description="For a user."),
        build_tool(name="x", annotations={"destructiveHint": True}),
    ],
)
def tool_effect_undescribed(tool: Tool, literal: bool = False) -> Iterator[str]:
    """Users read the description before they approve a call, so it must state what the tool changes.

    `literal` reads as the published reference does: an effect word at the start or end of the name counts inside a
    longer word, so that `newsletter` begins with new and `asset` ends with set; and a destructive tool has to use
    destruct, delet, remov, destroy, permanent or irreversible as whole words.
    """
    if not tool.description:
        return
    if _announces(tool.name, literal) and not _EFFECT.search(tool.item.description):
        yield "the name has a verb of change, and the description mentions no change"
    destroys = _DESTROYS_LITERALLY if literal else _DESTROYS
    if tool.annotations.get("destructiveHint") is True and not destroys.search(tool.item.description):
        yield "destructiveHint is true, and the description does not state what is destroyed"


def _announces(name: str, literal: bool) -> bool:
    if not literal:
        return leading_verb(name) in effects.IN_NAMES
    lowered = name.lower()
    if lowered.startswith(_EDGES) or lowered.endswith(_EDGES):
        return True
    return not effects.IN_NAMES.isdisjoint(lowered.replace("-", "_").split("_"))
