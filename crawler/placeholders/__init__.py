"""Placeholders for values that a package requires at its start, for servers that only check their presence."""

from crawler.placeholders.configuration import (
    Configured,
    configure_target,
    find_refused_inputs,
    find_still_missing_inputs,
    with_inputs,
)
from crawler.placeholders.missing_inputs import find_named_inputs
from crawler.placeholders.values import PlaceholderKind

__all__ = [
    "Configured",
    "PlaceholderKind",
    "configure_target",
    "find_named_inputs",
    "find_refused_inputs",
    "find_still_missing_inputs",
    "with_inputs",
]
