"""Which patterns are certain enough to cap a grade: those that accused no honest text of any corpus.

The others are shown and cap nothing. Counted are 3,000 honest rows of the sets below `tests/evidence/poisoning` and
1,491 tools of real servers; a test holds the list to the first.
"""

from __future__ import annotations

from typing import Final

UNCERTAIN: Final = frozenset(
    {
        "concealment",
        "conversation-in-field",
        "data-for-us",
        "deceives",
        "goes-between",
        "keeps-quiet",
        "opens-private-file",
        "override-foreign",
        "parameter-of-conversation",
        "prompt-asked",
        "prompt-leaves",
        "rules-others-out",
        "secrets-in-field",
        "secrets-wanted",
        "voids-instructions",
    }
)
"""Patterns and signals with at least one false alarm."""
