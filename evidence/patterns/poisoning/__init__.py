"""Patterns of texts by which a listing manipulates the model, each with texts that it must and must not match.

Categories describe how a text works on a model, threats are the classes that mcptest publishes (SEC-001 and so on). The
expressions are ours. They combine the addressee, the ordered act and its object, and fit no particular corpus.
"""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning import encoded_payloads
from evidence.patterns.poisoning.certainty import UNCERTAIN
from evidence.patterns.poisoning.concealment import hidden_from_user, hidden_steps, withheld_information
from evidence.patterns.poisoning.credentials import SECRETS, is_placeholder
from evidence.patterns.poisoning.cross_tool import chaining, interference, shadowing, takeover
from evidence.patterns.poisoning.exfiltration import call_arguments, data_transfer, private_files, sensitive_data
from evidence.patterns.poisoning.injection import (
    authority_claims,
    command_execution,
    consent_bypass,
    foreign_languages,
    instruction_override,
    message_markup,
    plain_instructions,
    system_tags,
)
from evidence.patterns.poisoning.pattern import (
    MAX_TEXT,
    SENTENCE,
    WINDOW,
    Category,
    Confidence,
    MentionedTool,
    Pattern,
    PatternMatch,
    Threat,
)
from evidence.patterns.poisoning.preference import self_promotion, tool_choice

__all__ = [
    "MAX_TEXT",
    "PATTERNS",
    "PATTERNS_BY_ID",
    "SECRETS",
    "SENTENCE",
    "UNCERTAIN",
    "VERSION",
    "WINDOW",
    "Category",
    "Confidence",
    "MentionedTool",
    "Pattern",
    "PatternMatch",
    "Threat",
    "is_placeholder",
]

VERSION: Final = 8

PATTERNS: Final[tuple[Pattern, ...]] = (
    *instruction_override.PATTERNS,
    *system_tags.PATTERNS,
    *hidden_from_user.PATTERNS,
    *sensitive_data.PATTERNS,
    *shadowing.PATTERNS,
    *chaining.PATTERNS,
    *self_promotion.PATTERNS,
    *encoded_payloads.PATTERNS,
    *consent_bypass.PATTERNS,
    *hidden_steps.PATTERNS,
    *call_arguments.PATTERNS,
    *takeover.PATTERNS,
    *command_execution.PATTERNS,
    *plain_instructions.PATTERNS,
    *foreign_languages.PATTERNS,
    *data_transfer.PATTERNS,
    *private_files.PATTERNS,
    *withheld_information.PATTERNS,
    *authority_claims.PATTERNS,
    *interference.PATTERNS,
    *tool_choice.PATTERNS,
    *message_markup.PATTERNS,
)
"""In the order in which the hits of one text are reported."""

PATTERNS_BY_ID: Final = {pattern.id: pattern for pattern in PATTERNS}
