"""Compares a server's public evidence in two runs: tools, resources, prompts and facts.

The kind `drift` is no source here: it holds findings of our own, and its baseline is not the run before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, NotJson
from evidence.derive.listing_outline import Outline, outline_listing
from evidence.kinds import listing
from evidence.kinds.drift import ChangeType
from evidence.kinds.listing import LISTS, Listing
from evidence.model import Absent, Dossier
from publish.views.evidence.behaviour import view_behaviour
from publish.views.evidence.observations import EvidenceSection, view_access, view_interop
from publish.views.evidence.project import view_dependencies, view_package, view_repository, view_source
from publish.views.evidence.server import LIST_NAMES, MultilineText

MAX_ITEMS: Final = 100
MAX_MEMBERS: Final = 20
TEXT_LIMIT: Final = 600
MAX_FACTS: Final = 60

SERVER: Final = "server"
_NAMES: Final = {SERVER: "The server itself", **LIST_NAMES}
_SECTIONS: Final[Mapping[str, Callable[[Dossier], EvidenceSection | None]]] = {
    "Access": lambda dossier: seen.part if (seen := view_access(dossier)) else None,
    "Official client": view_interop,
    "Behaviour": view_behaviour,
    "Package": view_package,
    "Repository": view_repository,
    "Source": view_source,
    "Dependencies": view_dependencies,
}


class MemberChange(Struct, frozen=True):
    """One member of an item before and after; a side is empty where the item did not have the member."""

    name: str
    what: ChangeType
    before: MultilineText
    after: MultilineText


class ItemChange(Struct, frozen=True):
    """One tool, resource or prompt that was added, removed or changed; `more` is the number of members not shown."""

    name: str
    what: ChangeType
    members: tuple[MemberChange, ...] = ()
    more: int = 0


class ListChange(Struct, frozen=True):
    """The changes of one list; `counts` has the number of items for each type of change."""

    key: str
    name: str
    counts: tuple[tuple[int, str], ...]
    items: tuple[ItemChange, ...]
    more: int


class FactChange(Struct, frozen=True):
    """One fact about the server or its project that differs; a side is empty where it was not known."""

    section: str
    label: str
    before: str
    after: str


class Changes(Struct, frozen=True, kw_only=True):
    """All differences. `unread` says why listings could not be compared; empty if they were."""

    unread: str = ""
    lists: tuple[ListChange, ...] = ()
    facts: tuple[FactChange, ...] = ()
    more_facts: int = 0
    partly: bool = False


def compare_evidence(before: Dossier, after: Dossier) -> Changes:
    """Compare two public dossiers of one server. No item counts as removed if its list was not read to the end."""
    old, new = _listed(before), _listed(after)
    facts = list(_facts(before, after))
    shown, more = tuple(facts[:MAX_FACTS]), max(0, len(facts) - MAX_FACTS)
    if isinstance(old, str) or isinstance(new, str):
        why = " ".join(text for text in (_then("before", old), _then("after", new)) if text)
        return Changes(unread=why, facts=shown, more_facts=more)
    whole = len(old.whole) == len(new.whole) == len(LISTS) + 1 and not old.cut and not new.cut
    return Changes(lists=tuple(_lists(old, new)), facts=shown, more_facts=more, partly=not whole)


def _then(when: str, found: Outline | str) -> str:
    return f"There is no listing {when}: {found}." if isinstance(found, str) else ""


def _listed(dossier: Dossier) -> Outline | str:
    """The outline of the listing, or why there is none."""
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent):
        return content.reason.value.replace("_", " ")
    try:
        return outline_listing(Listing.parse(content.body))
    except NotJson:
        return "it cannot be read back"


def _lists(old: Outline, new: Outline) -> Iterator[ListChange]:
    found: dict[str, dict[str, dict[str, ChangeType]]] = {}
    for at, what in _differences(old, new):
        name, _, rest = at.partition("/")
        item, _, member = (SERVER, "", rest) if name == SERVER else rest.partition("/")
        found.setdefault(name, {}).setdefault(item, {})[member] = what
    for name in (SERVER, *LISTS):
        if items := found.get(name):
            changed = [_item(name, item, members, old, new) for item, members in sorted(items.items())]
            counts = ((sum(one.what is what for one in changed), what.value) for what in ChangeType)
            yield ListChange(
                name,
                _NAMES[name],
                tuple((count, word) for count, word in counts if count),
                tuple(changed[:MAX_ITEMS]),
                max(0, len(changed) - MAX_ITEMS),
            )


def _differences(old: Outline, new: Outline) -> Iterator[tuple[str, ChangeType]]:
    for at in sorted({*old.digests, *new.digests}):
        if old.digests.get(at) == new.digests.get(at):
            continue
        if at not in old.digests:
            if _was_read(at, old):
                yield at, ChangeType.ADDED
        elif at not in new.digests:
            if _was_read(at, new):
                yield at, ChangeType.REMOVED
        else:
            yield at, ChangeType.CHANGED


def _was_read(at: str, seen: Outline) -> bool:
    """Whether absence is certain: the list was read to its end, or the item itself was listed."""
    name, _, rest = at.partition("/")
    met = f"{name}/{rest.partition('/')[0]}" in seen.digests
    return not seen.cut and (name in seen.whole or met)


def _item(name: str, item: str, members: Mapping[str, ChangeType], old: Outline, new: Outline) -> ItemChange:
    around = name if name == SERVER else f"{name}/{item}"
    shown = unescape_segment(item) if name != SERVER else _NAMES[SERVER]
    if "" in members:  # the item itself came or went, and everything in it
        return ItemChange(shown, members[""])
    changes = tuple(
        MemberChange(
            unescape_segment(member.replace("/properties/", ": ")),
            what,
            _text(old.values.get(f"{around}/{member}")),
            _text(new.values.get(f"{around}/{member}")),
        )
        for member, what in list(members.items())[:MAX_MEMBERS]
    )
    return ItemChange(shown, ChangeType.CHANGED, changes, max(0, len(members) - MAX_MEMBERS))


def unescape_segment(segment: str) -> str:
    """Reverse the escaping of a path segment."""
    return segment.replace("~2", "@").replace("~1", "/").replace("~0", "~")


def _text(value: Json) -> MultilineText:
    if value is None:
        return MultilineText("")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    cut = len(text) - TEXT_LIMIT
    return MultilineText(f"{text[:TEXT_LIMIT]}… ({cut:,} more characters)" if cut > 0 else text)


def _facts(before: Dossier, after: Dossier) -> Iterator[FactChange]:
    for section, view in _SECTIONS.items():
        old, new = _pairs(view(before)), _pairs(view(after))
        for label in dict.fromkeys((*old, *new)):
            if old.get(label, "") != new.get(label, ""):
                yield FactChange(section, label, old.get(label, ""), new.get(label, ""))


def _pairs(part: EvidenceSection | None) -> dict[str, str]:
    """Facts by label, values of one label joined; the reason for absent evidence is a fact as well."""
    if part is None:
        return {}
    if part.absent is not None:
        return {"Not known": part.absent.detail or part.absent.reason.value.replace("_", " ")}
    found: dict[str, list[str]] = {}
    for label, value in part.facts:
        found.setdefault(label, []).append(value)
    return {label: "; ".join(values) for label, values in found.items()}
