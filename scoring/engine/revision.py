"""The protocol revision under which a listing was read, and the questions that apply to that revision."""

from __future__ import annotations

from collections.abc import Mapping

from evidence.kinds.exchanges import revision_letter
from evidence.kinds.listing import Listing
from scoring.engine.rule import ParamValue, Rule


def is_other_revision(declared: Rule, params: Mapping[str, ParamValue], known: Listing) -> bool:
    """Whether a question about a listing belongs only to checks of other revisions than the listing's revision.

    Conversations are narrowed to the revisions of a check by the rule itself.
    """
    letter = revision_letter(known)
    if letter and all(letter in check.revisions for check in declared.checks):
        return False
    params_asked = declared.with_defaults(params)
    revisions = [check.revisions for check in declared.checks if declared.with_defaults(check.params) == params_asked]
    return bool(revisions) and not set(letter) & set("".join(revisions))
