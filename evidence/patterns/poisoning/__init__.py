"""Wordings by which a listing speaks to the model behind the user's back, each with texts it must and must not match.

Categories follow how a text works on a model, their threats the split that mcptest publishes (SEC-001 and so on). The
expressions are ours, and are about who is addressed, which act is ordered and on which object, not about one corpus.
"""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning import (
    authority,
    chaining,
    commands,
    concealment,
    consent,
    encoding,
    exfiltration,
    favour,
    foreign,
    handing,
    instructions,
    interference,
    markup,
    outflow,
    plain_orders,
    preference,
    private_files,
    secrecy,
    shadowing,
    steering,
    tags,
    withheld,
)
from evidence.patterns.poisoning.credentials import SECRETS, is_placeholder
from evidence.patterns.poisoning.pattern import (
    MAX_TEXT,
    SENTENCE,
    WINDOW,
    Category,
    Confidence,
    Found,
    Named,
    Pattern,
    Threat,
)

__all__ = [
    "MAX_TEXT",
    "PATTERNS",
    "SECRETS",
    "SENTENCE",
    "VERSION",
    "WINDOW",
    "Category",
    "Confidence",
    "Found",
    "Named",
    "Pattern",
    "Threat",
    "is_placeholder",
]

VERSION: Final = 4

PATTERNS: Final[tuple[Pattern, ...]] = (
    *instructions.PATTERNS,
    *tags.PATTERNS,
    *concealment.PATTERNS,
    *exfiltration.PATTERNS,
    *shadowing.PATTERNS,
    *chaining.PATTERNS,
    *preference.PATTERNS,
    *encoding.PATTERNS,
    *consent.PATTERNS,
    *secrecy.PATTERNS,
    *handing.PATTERNS,
    *steering.PATTERNS,
    *commands.PATTERNS,
    *plain_orders.PATTERNS,
    *foreign.PATTERNS,
    *outflow.PATTERNS,
    *private_files.PATTERNS,
    *withheld.PATTERNS,
    *authority.PATTERNS,
    *interference.PATTERNS,
    *favour.PATTERNS,
    *markup.PATTERNS,
)
"""In the order in which hits of one text are told."""
