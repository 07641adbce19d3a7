"""The names of a server's tools that lists and programs show."""

from __future__ import annotations

from typing import Final

from evidence.kinds import listing
from evidence.kinds.listing import Listing
from publish.views.public_servers import PublicServer
from publish.views.purpose import list_tool_texts

MAX_NAME: Final = 120
"""Characters of a name that are shown."""


def list_tool_names(public: PublicServer) -> list[str] | None:
    """The distinct names in the order of the list, cut; None without a public list.

    They are those that the search reads, so none is that of a tool with a finding in its texts, or has a secret in it.
    """
    seen = public.dossier.parsed(listing.KIND, Listing.parse)
    if seen is None:
        return None
    read = frozenset(list_tool_texts(public.dossier, public.suspect_places))
    names = dict.fromkeys(tool.name for tool in seen.tools.items if tool.name)
    return [name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…" for name in names if name in read]
