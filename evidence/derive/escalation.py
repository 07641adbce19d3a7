"""Classifies changes of a listing that give a server more power or ask a user for more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from evidence.authority import Authority
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.derive.listing_outline import Outline
from evidence.kinds.drift import ApprovedTool, ChangeType, Escalation

_RANK: Final = tuple(each.value for each in (Authority.READ, Authority.WRITE, Authority.DESTRUCTIVE, Authority.ADMIN))
_CREDENTIAL: Final = compile_on_use(
    r"(?:^|[_.-]|(?<=[a-z]))(?:api[_-]?key|(?:access|private|secret|auth|signing)[_-]?key|passwd|password|passphrase|credentials?"
    r"|secret|(?:access|auth|bearer|session|refresh|id)[_-]?token|token|seed[_-]?phrase|cookies?)s?$",
    re.IGNORECASE,
)
_NO_CREDENTIAL: Final = compile_on_use(
    r"(?:page|next|sync|max|min|continuation|cursor|num|count)[_-]?tokens?$", re.IGNORECASE
)
_FILE: Final = compile_on_use(
    r"(?:^|[_.-]|(?<=[a-z]))(?:file|files|path|paths|filename|filepath|dir|directory|folder|command|cmd|shell|script)$",
    re.IGNORECASE,
)
_BOUNDS: Final = ("enum", "const", "pattern", "format", "maxLength", "maximum", "maxItems")
_PARAMETER: Final = "/inputSchema/properties/"


def find_escalations(
    at: str, what: ChangeType, before: Mapping[str, ApprovedTool], now: Outline, value: Json
) -> tuple[Escalation, ...]:
    """The escalations at a changed place. `before`: approved tools; `value`: approved value, None when unknown."""
    return tuple(dict.fromkeys(_escalations(at, what, before, now, value)))


def _escalations(
    at: str, what: ChangeType, before: Mapping[str, ApprovedTool], now: Outline, value: Json
) -> Iterator[Escalation]:
    if what is ChangeType.REMOVED and not at.endswith("/annotations"):
        return
    if at == "server/instructions":
        yield Escalation.INSTRUCTIONS_CHANGED
    elif at == "server/name" and what is ChangeType.CHANGED:
        yield Escalation.IDENTITY_CHANGED
    elif at.startswith("tools/"):
        tool = "/".join(at.split("/")[:2])
        old, new = before.get(tool), now.tools.get(tool)
        if old is not None and new is not None:
            yield from _of_authority(at, old, new)
            yield from _of_parameters(at, what, now.values.get(at), value)


def _of_authority(at: str, old: ApprovedTool, new: ApprovedTool) -> Iterator[Escalation]:
    was, may = old.authority, new.authority
    if was in _RANK and may in _RANK and _RANK.index(may) > _RANK.index(was):
        yield Escalation.AUTHORITY_RAISED
    if not at.endswith("/annotations"):
        return
    hints = (("readOnlyHint", True), ("destructiveHint", False))
    if any(old.hints.get(hint) is harmless and new.hints.get(hint) is not harmless for hint, harmless in hints):
        yield Escalation.HINT_WITHDRAWN
    if was in _RANK[1:] and new.hints.get("readOnlyHint") is True and old.hints.get("readOnlyHint") is not True:
        yield Escalation.DEED_CALLED_READING


def _of_parameters(at: str, what: ChangeType, after: Json, value: Json) -> Iterator[Escalation]:
    _, parameter, name = at.partition(_PARAMETER)
    if parameter and what is ChangeType.ADDED:
        if _CREDENTIAL.search(name) and not _NO_CREDENTIAL.search(name):
            yield Escalation.ASKS_FOR_CREDENTIAL
        elif _FILE.search(name):
            yield Escalation.ASKS_FOR_FILE
    elif not isinstance(value, Mapping) or not isinstance(after, Mapping):
        return
    elif (parameter or at.endswith("/inputSchema")) and _is_wider(value, after):
        yield Escalation.SCHEMA_WIDENED


def _is_wider(value: Mapping[str, Json], after: Mapping[str, Json]) -> bool:
    """Whether a schema accepts more than before: more types, values or members, or one bound fewer."""
    if _types(value) and not _types(after) <= _types(value):
        return True
    if _types(value) and not _types(after):
        return True
    if value.get("additionalProperties") is False and after.get("additionalProperties") is not False:
        return True
    old, new = value.get("enum"), after.get("enum")
    if isinstance(old, list) and isinstance(new, list):
        return any(each not in old for each in new[:1000])
    return any(bound in value and bound not in after for bound in _BOUNDS)


def _types(schema: Mapping[str, Json]) -> frozenset[str]:
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return frozenset({kinds})
    return frozenset(kind for kind in kinds if isinstance(kind, str)) if isinstance(kinds, list) else frozenset()
