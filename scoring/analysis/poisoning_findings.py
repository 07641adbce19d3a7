"""The message of a finding about a poisoned text, by which a gate recognises the hit behind it."""

from __future__ import annotations

from evidence.derive.poisoning import Hit


def describe_hit(hit: Hit) -> str:
    """Place and category; the text itself is never repeated."""
    return f"{hit.at}: {hit.title.lower()}"
