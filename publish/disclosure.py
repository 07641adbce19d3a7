"""What may be shown now: the one gate between the evidence store and everything that is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evidence.canonical import NotJson
from evidence.kinds import listing, registration
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, Observed, Record

PUBLIC_KINDS: Final = frozenset({registration.KIND, listing.KIND})
UNSANDBOXED: Final = "none"


@dataclass(frozen=True, slots=True)
class Shown:
    """The records of one server that may be published."""

    records: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Nothing of this server may be published, not even its scores; `why` is for its owner."""

    why: str


def disclose(dossier: Dossier) -> Shown | Withheld:
    """Decide what of a dossier may be published: kinds that are public, and only from contained servers.

    A kind that is not named here is not shown, so a new kind stays private until someone decides otherwise.
    """
    if why := _why_withheld(dossier.read(listing.KIND)):
        return Withheld(why)
    return Shown({kind: record for kind, record in sorted(dossier.records.items()) if kind in PUBLIC_KINDS})


def _why_withheld(content: Observed | Absent) -> str:
    if isinstance(content, Absent):
        return ""
    try:
        sandbox = Listing.parse(content.body).sandbox
    except NotJson:
        return "its listing cannot be read back, so nothing says whether it was sandboxed"
    return "it ran without a sandbox, at its user's own request" if sandbox == UNSANDBOXED else ""
