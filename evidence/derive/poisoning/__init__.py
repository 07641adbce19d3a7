"""Finds texts in a listing that instruct the model in ways a user would not expect. Pure: a listing in, hits out."""

from __future__ import annotations

from evidence.derive.poisoning.hidden_characters import find_hidden_characters
from evidence.derive.poisoning.listing_texts import MAX_DEPTH, MAX_STRINGS
from evidence.derive.poisoning.scanner import MAX_HITS, Hit, list_shown_texts, scan_listing, scan_text
from evidence.derive.poisoning.text_folding import fold_text

__all__ = [
    "MAX_DEPTH",
    "MAX_HITS",
    "MAX_STRINGS",
    "Hit",
    "find_hidden_characters",
    "fold_text",
    "list_shown_texts",
    "scan_listing",
    "scan_text",
]
