"""Builders for the examples of rules about trials, read through the same view as evidence."""

from __future__ import annotations

import json
from typing import Any

from scoring.trials_scope import Trial, trials_in


def trial(outcome: str = "result", kind: str = "call", **members: Any) -> Trial:
    """One call of `get_note`; keywords are members of its row (evidence/kinds/trials.py)."""
    row = {"tool": "get_note", "index": 0, "class": "read", "kind": kind, "outcome": outcome, **members}
    return trials_in(json.dumps({"policy": "read", "trials": [row]}).encode())[0]


def mistake(outcome: str, kind: str, **members: Any) -> Trial:
    """A call with a mistake at the parameter `note`."""
    return trial(outcome, kind, parameter="note", **members)
