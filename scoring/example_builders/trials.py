"""Builders for the examples of rules about trials, read through the same view as evidence."""

from __future__ import annotations

import json
from typing import Any

from evidence.kinds.exchanges import LEGACY, MODERN, REVISIONS
from evidence.kinds.listing import Listing
from scoring.scopes.trials import Trial, build_trials


def build_trial(
    outcome: str = "result",
    kind: str = "call",
    *,
    sandbox: str = "",
    revision: str = "D",
    transport: str = "streamable-http",
    **members: Any,
) -> Trial:
    """One call of `get_note`; keywords are members of its row (evidence/kinds/trials.py)."""
    row = {"tool": "get_note", "index": 0, "class": "read", "kind": kind, "outcome": outcome, **members}
    era = MODERN if revision == "E" else LEGACY
    version = REVISIONS.get(revision)
    known = Listing({"sandbox": sandbox, "transport": transport, "era": era, "protocolVersion": version})
    return build_trials(json.dumps({"policy": "read", "trials": [row]}).encode(), known)[0]


def build_answered_trial(result: Any, outcome: str = "result", **members: Any) -> Trial:
    """A call with the form of its result."""
    return build_trial(outcome, form=[result], **members)


def build_trial_with_mistake(outcome: str, kind: str, **members: Any) -> Trial:
    """A call with a mistake at the parameter `note`."""
    return build_trial(outcome, kind, parameter="note", **members)
