"""Builders for the examples of rules about trials, read through the same view as evidence."""

from __future__ import annotations

import json
from typing import Any

from scoring.scopes.trials import Trial, build_trials


def build_trial(outcome: str = "result", kind: str = "call", *, sandbox: str = "", **members: Any) -> Trial:
    """One call of `get_note`; keywords are members of its row (evidence/kinds/trials.py)."""
    row = {"tool": "get_note", "index": 0, "class": "read", "kind": kind, "outcome": outcome, **members}
    return build_trials(json.dumps({"policy": "read", "trials": [row]}).encode(), sandbox=sandbox)[0]


def build_trial_with_mistake(outcome: str, kind: str, **members: Any) -> Trial:
    """A call with a mistake at the parameter `note`."""
    return build_trial(outcome, kind, parameter="note", **members)
