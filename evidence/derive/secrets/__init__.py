"""Finds secrets in text and reports where they are, never their values. Pure: text and salt in, findings out."""

from __future__ import annotations

from evidence.derive.secrets.file_scan import scan_files
from evidence.derive.secrets.finding import Finding
from evidence.derive.secrets.gitleaks_rules import RulesInvalid, load_rules
from evidence.derive.secrets.rules import RuleSet, build_own_rules
from evidence.derive.secrets.scanner import Scanner

__all__ = ["Finding", "RuleSet", "RulesInvalid", "Scanner", "build_own_rules", "load_rules", "scan_files"]
