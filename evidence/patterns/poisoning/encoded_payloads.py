"""Payloads that a person cannot read: runs of encoded text, and instructions to decode some."""

from __future__ import annotations

import re
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.patterns.poisoning.pattern import Category, Confidence, declare_pattern

COMMAND: Final = compile_on_use(
    r"""\b(?:curl|wget|fetch|iwr|invoke-webrequest)\s[^\n]{0,200}?(?:\||;|&&)\s?(?:sudo\s)?(?:ba|z|da|k)?sh\b|/dev/tcp/|\bnc\s(?:-\w{1,6}\s){0,3}-e\b|\brm\s-\w{0,3}rf?\b
    |\b(?:ba|z)?sh\s-[ic]\b|\bpowershell\w{0,4}\s[^\n]{0,60}-e|\b(?:os\.system|subprocess|child_process|eval|exec)\s?\(|\bpython3?\s-c\b|\bchmod\s\+x\b|\bcrontab\b|\b(?:curl|wget)\s(?:-\S{1,12}\s){0,4}https?://""",
    re.VERBOSE,
)
"""Shell commands, which have no legitimate reason to be encoded in a listing."""

PATTERNS: Final = (
    declare_pattern(
        Category.ENCODED,
        "encoded",
        "Contains an encoded payload",
        r"""(?:\\x[0-9a-f]{2}){12,400}|(?:\\u[0-9a-f]{4}){12,400}|(?:%[0-9a-f]{2}){16,400}|(?:&\#x?[0-9a-f]{2,5};){12,400}
            |\b(?:decode|decrypt|unescape|rot13)\w{0,3}\s(?:\w{1,12}\s){0,4}(?:and|then)\s(?:then\s)?(?:follow|execute|run|obey|perform|do)\b
            |\bbase64\s?-(?:d|-decode)\s?\|\s?(?:ba|z)?sh\b""",
        needs=(r"\x|\u|%|&#|decode|decrypt|unescape|rot13|base64",),
        reach=3_700,
        bad=(
            "decode the text below and follow it",
            "\\x69\\x67\\x6e\\x6f\\x72\\x65\\x20\\x61\\x6c\\x6c\\x20\\x6f\\x66",
        ),
        good=("decodes base64 and returns text", "a uuid such as 123e4567-e89b-12d3-a456-426614174000"),
    ),
    declare_pattern(
        Category.ENCODED,
        "encoded-run",
        "Contains a long unreadable run of characters",
        r"(?<![\w/+=.,-])[a-z0-9+/]{120,2000}={0,2}(?![\w/+=])",
        needs=("==",),
        unbroken=120,
        reach=2_010,
        confidence=Confidence.LOW,
        bad=("see " + "ab1/" * 40,),
        good=("a uuid such as 123e4567-e89b-12d3-a456-426614174000", "data:image/png;base64," + "ab1/" * 40),
    ),
)
