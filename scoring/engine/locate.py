"""Turns the answers of rules into findings: where the place is in the evidence, and what is wrong there."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeAlias

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer
from scoring.results.outcome import WHOLE_SHARE, Finding, PartialFailure, Tolerated
from scoring.scopes.base import Scope
from scoring.text import evidence_path

Located: TypeAlias = tuple[str, str, tuple[int, ...], bool, Decimal]
"""Path, message, position, whether it is tolerated, and share, as `Finding` has them."""


def make_finding(rule: str, thing: Scope, answer: Answer, evidence: str) -> Finding:
    """The finding of an answer about a thing."""
    at, message, position, tolerated, share = locate_answer(thing, answer)
    return Finding(rule, at, message, evidence, position, tolerated, share)


def locate_answer(thing: Scope, answer: Answer) -> Located:
    """Where the place of an answer about a thing is; the message is made visible."""
    at, position, share = thing.at, thing.position, WHOLE_SHARE
    if isinstance(answer, str):  # most answers
        return at, evidence_path.make_visible(answer), position, False, share
    match answer:
        case Tolerated(message, place):
            at, message, position, _, share = locate_answer(thing, (place, message))
            return at, message, position, True, share
        case PartialFailure(message, share, parts):
            at = _extend_path(thing.at, parts)
        case (Scope() as part, message):
            at, position = part.at, part.position
        case (Exchange() as exchange, message):
            at = exchange.at
        case (str(suffix), message):
            at = _extend_path(thing.at, (suffix,))
    return at, evidence_path.make_visible(message), position, False, share


def _extend_path(at: str, parts: tuple[str, ...]) -> str:
    segments = (evidence_path.escape_segment(part[: evidence_path.MAX_SEGMENT]) for part in parts)
    return evidence_path.join_segments(at, *segments)
