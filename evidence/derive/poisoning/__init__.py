"""What a listing says to a model that its user would not expect: pure over the stored listing."""

from __future__ import annotations

from evidence.derive.poisoning.folding import fold
from evidence.derive.poisoning.hidden import hidden_in
from evidence.derive.poisoning.said import MAX_DEPTH, MAX_STRINGS
from evidence.derive.poisoning.scan import MAX_HITS, Hit, scan, scan_text, texts

__all__ = ["MAX_DEPTH", "MAX_HITS", "MAX_STRINGS", "Hit", "fold", "hidden_in", "scan", "scan_text", "texts"]
