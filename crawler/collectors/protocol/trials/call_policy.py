"""Which tools may be called: the class of every tool before the first call, and doubts about it.

The class trusts `readOnlyHint: true` unless the name clearly states an action. Before a call a claim is doubted
further: for any action in the name, also a disguised spelling, for titles and descriptions that contradict the hint,
for actions among the parameters' values, and for two tools with the same name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from crawler.collectors.protocol.trials.change_words import mentions_destruction
from evidence import authority
from evidence.authority import UNAMBIGUOUS_ACTION_VERBS, Authority, Basis, Classification
from evidence.canonical import Json
from evidence.json_members import object_or_empty, text_or_empty
from evidence.kinds.listing import CONTAINING

# SEP-986: the characters of a tool's name.
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_LOOKALIKES: Final = str.maketrans("01345678@$!|", "oleasbtbasil")
_FIRST_WORD: Final = re.compile(r"\W*(?:\w{2,40}ly\W+)?(\w{2,40})")  # after an adverb, as in "Permanently deletes"
_MAX_SEARCHED: Final = 400


class CallPolicy(StrEnum):
    """Which tools may be called. Only the last policy allows tools of class write, destructive, admin or unknown."""

    OFF = "off"
    ANNOTATED = "annotated"  # those that read and declare it: readOnlyHint is true
    READ = "read"  # all of class read
    SANDBOXED_ALL = "sandboxed_all"  # every tool of a process without a network and with a temporary file system


class ClassifiedTool(Struct, frozen=True):
    """One listed tool: its place, name, what was sent, its class, and whether it declares that it only reads."""

    index: int
    name: str
    raw: Mapping[str, Json]
    classification: Classification
    annotated: bool


def choose_call_policy(chosen: CallPolicy, runtime: str) -> CallPolicy:
    """The policy for a server in this runtime, which is a sandbox or anything else.

    A sandbox has no network and a file system that is deleted, so by default every tool may be called in it. Elsewhere
    no mutating tool may be called. An operator's choice other than the default also applies in a sandbox.
    """
    if runtime in CONTAINING:
        return CallPolicy.SANDBOXED_ALL if chosen is CallPolicy.ANNOTATED else chosen
    return CallPolicy.ANNOTATED if chosen is CallPolicy.SANDBOXED_ALL else chosen


def classify_tools(tools: Sequence[Json]) -> tuple[ClassifiedTool, ...]:
    """Every tool with its class, in the order of the listing; a doubted tool is unknown."""
    names = [text_or_empty(object_or_empty(tool).get("name")) for tool in tools]
    counts, prefix = Counter(names), authority.find_shared_prefix(names)
    return tuple(
        ClassifiedTool(
            index=index,
            name=names[index],
            raw=object_or_empty(tool),
            classification=_with_doubts(tool, classification, prefix, alone=counts[names[index]] == 1),
            annotated=_annotations(tool).get("readOnlyHint") is True,
        )
        for index, (tool, classification) in enumerate(zip(tools, authority.classify_tools(tools), strict=True))
    )


def explain_refusal(tool: ClassifiedTool, policy: CallPolicy) -> str:
    """Why a policy forbids calling a tool; empty when it allows it."""
    if policy is CallPolicy.OFF:
        return "policy_off"
    if policy is CallPolicy.SANDBOXED_ALL:
        return "" if tool.name else "not_read"
    if tool.classification.authority is not Authority.READ:
        return "not_read"
    return "not_annotated" if policy is CallPolicy.ANNOTATED and not tool.annotated else ""


def _with_doubts(tool: Json, classification: Classification, prefix: str, *, alone: bool) -> Classification:
    if classification.authority is not Authority.READ:
        return classification
    doubt = _find_doubt(tool, prefix, alone=alone)
    return Classification(Authority.UNKNOWN, doubt[0], doubt[1]) if doubt else classification


def _find_doubt(tool: Json, prefix: str, *, alone: bool) -> tuple[Basis, str] | None:
    members = object_or_empty(tool)
    if doubt_about_name := _find_doubt_about_name(text_or_empty(members.get("name")), prefix, alone=alone):
        return Basis.NAME, doubt_about_name
    titles = (text_or_empty(members.get("title")), text_or_empty(_annotations(tool).get("title")))
    if any(mentions_destruction(title[:_MAX_SEARCHED]) for title in titles):
        return Basis.NAME, "the title holds a word for destroying"
    first = _FIRST_WORD.match(text_or_empty(members.get("description"))[:_MAX_SEARCHED])
    if first and _is_action(first[1].lower()):
        return Basis.DESCRIPTION, "the description begins with a deed"
    if any(each.changes_state for each in authority.classify_actions(tool)):
        return Basis.PARAMETERS, "it offers deeds to choose from"
    return None


def _find_doubt_about_name(name: str, prefix: str, *, alone: bool) -> str:
    if not _NAME.fullmatch(name):
        return "the name is outside the protocol's grammar"
    if not alone:
        return "another tool has the same name"
    if any(mentions_destruction(spelled) for spelled in (name, name.lower().translate(_LOOKALIKES))):
        return "the name holds a word for destroying"
    if authority.classify_tool({"name": name}, prefix=prefix).authority.changes_state:
        return "the name is that of a deed"
    return ""


def _is_action(word: str) -> bool:
    """True for the forms of an action verb: sends, deletes, moving, overwritten."""
    stems = {word, *(word.removesuffix(ending) for ending in ("s", "es", "d", "ed", "ing", "n"))}
    return mentions_destruction(word) or not UNAMBIGUOUS_ACTION_VERBS.isdisjoint(stems | {f"{stem}e" for stem in stems})


def _annotations(tool: Json) -> Mapping[str, Json]:
    return object_or_empty(object_or_empty(tool).get("annotations"))
