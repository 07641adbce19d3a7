"""Placeholders for what a package wants to be given at its start, so that a server that checks presence starts."""

from crawler.placeholders.configuration import Configured, configure_target, find_still_missing_inputs
from crawler.placeholders.missing_inputs import find_named_inputs
from crawler.placeholders.values import PlaceholderKind

__all__ = ["Configured", "PlaceholderKind", "configure_target", "find_named_inputs", "find_still_missing_inputs"]
