"""Tells instructions from quotations of instructions, as in the descriptions of tools that detect attacks."""

from __future__ import annotations

import re
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.patterns.poisoning.pattern import CONDITION

_BEFORE: Final = 200
_AFTER: Final = 80
_LEAD: Final = 40

_QUOTATION: Final = compile_on_use(
    r"(?<!\w)\"[^\"]*\"|[“„][^“”„]{4,400}[”“]"
    r"|<(\w{3,20})>[^<]{8,400}</\1>"
    r"|«[^«»]{4,400}»|[「『][^「」『』]{3,400}[」』]|‘[^‘']{8,400}'"
    r"|(?<![\w'])'[^'\s]{1,30}\s[^'\s]{1,30}\s[^']{3,200}'(?!\w)|`[^`\s]{1,30}\s[^`\s]{1,30}\s[^`]{3,200}`"
)
"""Straight quotation marks open and close alike, so that all of them are paired, also around what is too short or long
to be an attack.
"""
_LENGTHS: Final = range(10, 403)
"""Characters of a quotation of an attack, with its marks."""
ATTACK: Final = compile_on_use(
    r"\b(?:attack|injection|injected|jailbreak|phishing|malicious|payload|poisoning|exfiltration|firewall|red[\s-]?team|scam|spam|vulnerab"
    r"|adversarial|untrusted|suspicious|linter|rule\sset|risk\sscore|trust\sscore"
    r"|angriff|schadhaft|verdächtig|attaque|suspect|ataque|sospech|suspeit|attacc|sospett|atak|wstrzyk|podejrzan|útok|saldırı"
    r"|şüpheli|aanval|verdacht|angrepp|misstänkt|serangan|mencurigakan|tấn\scông|lừa\sđảo|đáng\sngờ|атак|підозр|подозр)"
    r"|可疑|疑わし|의심|مشبوه|संदिग्ध|攻击|攻擊|注入|インジェクション|攻撃|공격|هجوم|هجمات|हमल"
)
_FINDS: Final = compile_on_use(
    r"\b(?:audit|block|classif|detect|flag|lesson|phrase|refus|reject|reports?|sanitiz|sanitis|test\scase|trick"
    r"|erkenn|funde\b|sätze\swie|détect|repère|phrases\s|señala|frases\scomo|rilev|riconosc|wykry|detek|tespit|upptäck|mendeteksi|menandai"
    r"|phát\shiện|обнаруж|выявля|виявля|фраз)|检测|檢測|検出|検知|탐지|감지|كشف|पता\sलग"
)
"""Alone such words occur in any text, so they explain only a quotation in their own sentence."""
_ALSO_MARKUP: Final = "<'`"
"""Quotation marks that have other uses, so an attack must be named in the same sentence before them."""
_SHOWN: Final = compile_on_use(
    r"\b(?:quot|exhibit|for\sexample|e\.g|such\sas|like|typical|zum\sbeispiel|z\.\s?b|etwa|par\sexemple|por\sejemplo)"
)
"""Also precedes a block in tags, which is how attacks are written more often than how they are quoted."""
_SENTENCE_END: Final = compile_on_use(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bz\.b)(?<!\bnp)[.!?;]\s")
_ORDERED: Final = compile_on_use(
    r"\b(?:must|always|important|you\sshould|please|execute|obey|follow|do\sthis|immer|unbedingt|bitte|wichtig|toujours"
    r"|siempre|sempre|всегда|обязательно)\b|必须|务必|必ず|반드시"
)


def hide_quotations(text: str) -> str:
    """The text without the quotations that words about attacks around them explain."""
    if not _QUOTATION.search(text):
        return text
    outside = _QUOTATION.sub(lambda found: " " * len(found[0]), text)
    return _QUOTATION.sub(lambda found: '" "' if _is_explained(outside, found) else found[0], text)


def _is_explained(outside: str, quotation: re.Match[str]) -> bool:
    start, end = quotation.span()
    if quotation[0].startswith('"') and end - start not in _LENGTHS:
        return False
    before = outside[max(0, start - _BEFORE) : start]
    if _ORDERED.search(before, max(0, len(before) - _LEAD)):
        return False
    same_sentence = _SENTENCE_END.split(before)[-1]
    if (condition := CONDITION.search(same_sentence)) and not _SHOWN.search(same_sentence, condition.end()):
        return False
    if quotation[0][0] in _ALSO_MARKUP:
        shown = not quotation[0].startswith("<") or _SHOWN.search(same_sentence)
        return bool(shown and not quotation[0].startswith("<script") and ATTACK.search(same_sentence))
    rest_of_sentence = _SENTENCE_END.split(outside[end : end + _AFTER])[0]
    is_named = any(map(ATTACK.search, (before, rest_of_sentence)))
    return is_named or any(map(_FINDS.search, (same_sentence, rest_of_sentence)))
