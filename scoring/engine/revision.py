"""Under which revision of the protocol a listing was read, and whether a question about it arises there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evidence.kinds.exchanges import MODERN, REVISIONS
from evidence.kinds.listing import Listing
from scoring.engine.rule import ParamValue, Rule

_LETTER: Final = {version: letter for letter, version in REVISIONS.items()}


def revision_letter(known: Listing) -> str:
    """Letter of the revision; empty for a version that was not published."""
    return "E" if known.era == MODERN else _LETTER.get(known.protocol_version or "", "")


def is_other_revision(declared: Rule, params: Mapping[str, ParamValue], known: Listing) -> bool:
    """Whether a question about a listing is a check of other revisions only than the one it was read under.

    Conversations are narrowed to the revisions of a check by the rule itself.
    """
    here = revision_letter(known)
    if here and all(here in check.revisions for check in declared.checks):
        return False
    asked = declared.with_defaults(params)
    revisions = [check.revisions for check in declared.checks if declared.with_defaults(check.params) == asked]
    return bool(revisions) and not set(here) & set("".join(revisions))
