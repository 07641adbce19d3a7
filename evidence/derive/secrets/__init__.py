"""Secrets in text: what was found, never the secret. Pure: text and salt in, findings out."""

from __future__ import annotations

from evidence.derive.secrets.files import scan_files
from evidence.derive.secrets.finding import Discount, Finding
from evidence.derive.secrets.gitleaks import RulesInvalid, load
from evidence.derive.secrets.rules import RuleSet, own_rules
from evidence.derive.secrets.scan import Scanner

__all__ = ["Discount", "Finding", "RuleSet", "RulesInvalid", "Scanner", "load", "own_rules", "scan_files"]
