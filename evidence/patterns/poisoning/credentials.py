"""Credentials in a listing, by the formats of their providers."""

from __future__ import annotations

import re
from typing import Final

from evidence.patterns.poisoning.pattern import Category, declare_pattern

SECRETS: Final = (
    declare_pattern(
        Category.CREDENTIAL,
        "provider-key",
        "Contains a credential",
        r"""\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,60}\b|\bgithub_pat_[A-Za-z0-9_]{60,90}\b|\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,180}\b
            |\bxox[abposr]-[0-9]{8,14}-[A-Za-z0-9-]{20,80}\b|\bAIza[0-9A-Za-z_-]{35}\b|\bglpat-[A-Za-z0-9_-]{20,40}\b|\b[sr]k_live_[0-9A-Za-z]{20,60}\b
            |-----BEGIN\s(?:[A-Z]{2,10}\s){0,2}PRIVATE\sKEY-----(?:\\[nr]|\s){0,4}[A-Za-z0-9+/]{40}|\bnpm_[A-Za-z0-9]{36}\b|\beyJ[A-Za-z0-9_-]{16,200}\.eyJ[A-Za-z0-9_-]{16,800}\.[A-Za-z0-9_-]{20,200}""",
        needs=("AKIA|ASIA|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|sk-|xox|AIza|glpat-|k_live_|-----BEGIN|npm_|eyJ",),
        reach=1_250,
        bad=(
            "AKIA" + "Q7RZ2MWX5KPL9TBN",
            "ghp_" + "a8Kd0Qz3" * 5,
            "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7Vtr8sJq2Pz0XwK3yHdLmNcB5fGu9RiTe",
        ),
        good=("AKIA...", "begins with -----BEGIN PRIVATE KEY-----", "ghp_your_token_here", "sk-xxxx"),
    ),
)
"""Searched in the text as sent, because case matters. `is_placeholder` excludes placeholders."""

_PLACEHOLDER: Final = re.compile(r"(?i)example|xxxx|0000|1234567|abcdef|your|\*\*\*|placeholder|sample|dummy")


def is_placeholder(text: str) -> bool:
    """Whether a match is a documentation placeholder for a credential."""
    return _PLACEHOLDER.search(text) is not None or len(set(text)) < 12
