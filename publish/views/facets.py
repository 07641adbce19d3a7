"""The properties of a server that lists show and filter by: categories, transport, access, effect and advisories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evidence.json_members import object_or_empty, objects_in
from evidence.kinds import access, advisories, dependencies, listing
from evidence.kinds.access import Access
from evidence.kinds.advisories import Advisories
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.listing import Item, Listing
from evidence.model import Absent, Dossier, Reason, Server
from evidence.store.listing.values import ServerFacets
from publish.views.categories import find_categories
from publish.views.server_summary import count_listed

STDIO: Final = "stdio"
OPEN: Final = "open"
CREDENTIALS: Final = "credentials"
YES: Final = "yes"
NO: Final = "no"

_HOSTS: Final = ("io.github.", "io.gitlab.", "com.github.", "com.gitlab.")
_SECRET: Final = "secret"  # noqa: S105  a kind of placeholder
_ASKS: Final = frozenset({Reason.CREDENTIALS_REQUIRED, Reason.OAUTH_REQUIRED, Reason.PAYMENT_REQUIRED})


def find_facets(dossier: Dossier, purpose: str, tool_texts: tuple[str, ...]) -> ServerFacets:
    """The facets of a server by its public records; `purpose` and `tool_texts` are those of its listing row."""
    server = dossier.server
    return ServerFacets(
        categories=find_categories(list_own_names(server), purpose, tool_texts),
        transport=_find_transport(dossier),
        access=_find_access(dossier),
        read_only=_find_effect(dossier),
        advisories=_find_advisories(dossier),
    )


def list_own_names(server: Server) -> tuple[str, str]:
    """The name without a namespace of a code host, and the reference without its kind: neither says what it is for."""
    name = server.name.rpartition("/")[2] if server.name.startswith(_HOSTS) else server.name
    return name, server.ref.partition(":")[2]


def _find_transport(dossier: Dossier) -> str:
    """The transport that was used; without a listing, that of the first target."""
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if seen and seen.transport:
        return seen.transport
    if not dossier.server.targets:
        return ""
    kind = dossier.server.targets[0].type
    return kind.value if kind.is_remote else STDIO


def _find_access(dossier: Dossier) -> str:
    """`credentials` if a registry entry, an answer or a start asked for a secret; `open` if it listed without one."""
    targets = dossier.server.targets
    found = dossier.read(listing.KIND)
    if isinstance(found, Absent):
        return CREDENTIALS if found.reason in _ASKS else ""
    declared = targets[0].inputs if targets else ()
    if any(one.required and one.secret for one in declared) or _was_given_secrets(dossier):
        return CREDENTIALS
    seen = dossier.parsed(access.KIND, Access.parse)
    return CREDENTIALS if seen and seen.asks_for_access else OPEN


def _was_given_secrets(dossier: Dossier) -> bool:
    """Whether the listing was collected with placeholders for secrets."""
    given = object_or_empty(dossier.records[listing.KIND].observation.get(listing.PLACEHOLDERS))
    kinds = [*object_or_empty(given.get("environment")).values()]
    kinds += [one.get("kind") for one in objects_in(given.get("arguments"))]
    return _SECRET in kinds


def _find_effect(dossier: Dossier) -> str:
    """Whether every tool states that it does not change its environment; unknown for a server without tools."""
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if seen is None or not count_listed(dossier, "tools"):
        return ""
    return YES if all(map(_reads_only, seen.tools.items)) else NO


def _reads_only(tool: Item) -> bool:
    annotations = tool.get("annotations")
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True


def _find_advisories(dossier: Dossier) -> str:
    """`no` only when all dependencies are known and every version was compared with complete, recent advisories."""
    found = dossier.parsed(advisories.KIND, Advisories.parse)
    if found is None:
        return ""
    if found.groups_total:
        return YES
    listed = dossier.parsed(dependencies.KIND, Dependencies.parse)
    looked = dossier.records[advisories.KIND].observation
    is_complete = listed is not None and listed.complete and not (looked.get("stale") or looked.get("partial"))
    return NO if found.checked and not found.unknown_total and is_complete else ""
