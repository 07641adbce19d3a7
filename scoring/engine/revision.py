"""The protocol revision under which a listing was read, and the questions that apply to that revision."""

from __future__ import annotations

from collections.abc import Mapping

from evidence.kinds import listing
from scoring.engine.rule import ParamValue, Rule


def is_other_revision(declared: Rule, params: Mapping[str, ParamValue], letter: str) -> bool:
    """Whether a question about a listing belongs only to checks of other revisions than that with this letter.

    Conversations are narrowed to the revisions of a check by the rule itself.
    """
    if not declared.checks or declared.reads != listing.KIND:
        return False
    if letter and all(letter in check.revisions for check in declared.checks):
        return False
    params_asked = declared.with_defaults(params)
    revisions = [check.revisions for check in declared.checks if declared.with_defaults(check.params) == params_asked]
    return bool(revisions) and not set(letter) & set("".join(revisions))
