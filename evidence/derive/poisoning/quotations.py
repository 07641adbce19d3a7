"""Tells instructions from quotations of instructions, as in the descriptions of tools that detect attacks."""

from __future__ import annotations

import re
from typing import Final

_BEFORE: Final = 200
_AFTER: Final = 80
_LEAD: Final = 40

_QUOTATION: Final = re.compile(
    r"\"[^\"]{8,400}\"|[“„][^“”„]{4,400}[”“]"
    r"|<(\w{3,20})>[^<]{8,400}</\1>"
    r"|«[^«»]{4,400}»|[「『][^「」『』]{3,400}[」』]|‘[^‘']{8,400}'"
)
_ABOUT_ATTACKS: Final = re.compile(
    r"\b(?:attack|inject|jailbreak|phish|malicious|payload|poison|detect|flag|block|firewall|red[\s-]?team|scam|spam"
    r"|audit|refus|reject|risk|trust\sscore|lesson|trick|test\scase|suspicious|hidden\sorder|classif|sanitiz|sanitis"
    r"|exfiltrat|overrid|linter|rule\sset|vulnerab|threat|red\sflag"
    r"|sospech|frases\scomo|mencurigakan|menandai|фраз|verdächtig|suspect|repère|phrases\s|podejrzan|riconosc|sospett"
    r"|suspeit|şüpheli|đáng\sngờ|verdacht|misstänkt|підозр|подозр"
    r"|angriff|erkenn|schadhaft|attaque|détect|ataque|attacc|rilev|atak|wykry|útok|detek|saldırı|tespit|aanval|angrepp"
    r"|upptäck|serangan|mendeteksi|tấn\scông|phát\shiện|атак|обнаруж|выявля|виявля)"
    r"|可疑|疑わし|의심|مشبوه|संदिग्ध|攻击|攻擊|检测|檢測|注入|攻撃|検出|検知|공격|탐지|감지|هجوم|هجمات|كشف|हमल|पता\sलग"
)
_ORDERED: Final = re.compile(
    r"\b(?:must|always|important|you\sshould|please|execute|obey|follow|do\sthis|immer|unbedingt|bitte|wichtig|toujours"
    r"|siempre|sempre|всегда|обязательно)\b|必须|务必|必ず|반드시"
)


def hide_quotations(text: str) -> str:
    """The text without the quotations that words about attacks around them explain."""
    if not _QUOTATION.search(text) or not _ABOUT_ATTACKS.search(text):
        return text
    outside = _QUOTATION.sub(lambda found: " " * len(found[0]), text)
    return _QUOTATION.sub(lambda found: '" "' if _is_explained(outside, found.start(), found.end()) else found[0], text)


def _is_explained(outside: str, start: int, end: int) -> bool:
    if _ORDERED.search(outside, max(0, start - _LEAD), start):
        return False
    around = (outside[max(0, start - _BEFORE) : start], outside[end : end + _AFTER])
    return any(_ABOUT_ATTACKS.search(part) for part in around)
