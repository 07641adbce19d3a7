"""The names of a server's tools for programs."""

from __future__ import annotations

from typing import Final

from evidence.derive.secret_scrubbing import scrub_text
from evidence.kinds import listing
from evidence.kinds.listing import Listing
from publish.views.public_servers import PublicServer

MAX_NAME: Final = 120
"""Characters of a name that are shown."""

_READ: Final = 1_000
"""Characters of a name that are searched for secrets."""


def list_tool_names(public: PublicServer) -> list[str] | None:
    """The distinct names in the order of the list, masked and cut; None without a public list.

    They are those that the page of tools shows, whatever was found in texts: leaving a tool out would tell where an
    undisclosed finding is.
    """
    seen = public.dossier.parsed(listing.KIND, Listing.parse)
    if seen is None:
        return None
    names = dict.fromkeys(scrub_text(tool.name[:_READ]) for tool in seen.tools.items if tool.name)
    return [name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…" for name in names]
