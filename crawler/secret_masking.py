"""Masks secrets in text of a server before it is stored."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.derive.secret_scrubbing import scrub_text

TAIL: Final = 2048
_MASK: Final = "[removed]"

_WHAT: Final = "api[_-]?key|(?<!tik)token(?!ize|izing)|secret|passw(?:or)?d|passphrase|credential|authorization|cookie"
_ERRNO: Final = (
    "E(?:NOENT|ACCES|PERM|ISDIR|NOTDIR|EXIST|INVAL|ROFS|PIPE|MFILE|TIMEDOUT|NOTFOUND|HOSTUNREACH|NETUNREACH"
    "|CONN(?:REFUSED|RESET|ABORTED))"
)
# Words after which a message says something about a secret, and does not show it.
_PROSE: Final = (
    r"not|no|none|null|undefined|unset|set|required|needed|missing|empty|invalid|expired|expected|field|input|value|type"
    r"|your|the|an?|is|was|are|were|must|should|could|cannot|can't|failed|unable|please|environment|env|variable|file"
    rf"|\[Errno|invalid_[a-z]{{3,20}}|(?-i:{_ERRNO})|(?:bearer|basic) (?:auth[a-z]*|token)|(?<=okens[:=] )\d{{1,7}}"
)
_UNSAID: Final = rf"(?!(?:{_PROSE})[,.;:)'\"\]]{{0,3}}(?:\s|$)|<[\w -]{{1,40}}>)"
_SCHEME: Final = r"(?:auth[a-z]*|tokens?|schemes?|challenges?|headers?|credentials?)(?![\w.~+/=-])"
_MASKED: Final = (
    (compile_on_use(r"(?i)([a-z][a-z0-9+.-]{0,20}://)[^\s/@]{1,400}@"), rf"\1{_MASK}@"),
    (compile_on_use(rf"(?i)\b(bearer|basic)\s+(?!{_SCHEME})[\w.~+/=-]{{8,}}"), rf"\1 {_MASK}"),
    # `token=x`, `"api-key": "x"`, `password is x`; not `TOKEN is required`
    (
        compile_on_use(
            rf"(?i)([\w.-]{{0,40}}(?:{_WHAT})[\w.-]{{0,40}}"
            rf"[\"']?(?:=|\s*(?::|=|\bis\b)\s*(?!\s)){_UNSAID})(?:bearer\s+|basic\s+)?"
            r"(\"[^\"]{0,400}\"|'[^']{0,400}'|[^\s,;\"']+)"
        ),
        rf"\1{_MASK}",
    ),
    # Prefixes of issuers, and signed tokens
    (
        compile_on_use(
            r"\b(?:[spr]k[-_]|gh[opsur]_|github_pat_|gl[a-z]{2,6}-|xox[a-z]-|xapp-|hf_|npm_|pypi-|shp[a-z]{2}_|whsec_"
            r"|do[opr]_v1_|lin_api_|ntn_|secret_|dckr_pat_|AKIA|ASIA|AIza|ya29\.|SG\.|eyJ)[\w.~+/=-]{8,}"
        ),
        _MASK,
    ),
    # `invalid token x1`; a variable's name stays
    (
        compile_on_use(
            r"\b((?i:api[ _-]?key|key|token|secret|passw(?:or)?d|passphrase|credentials?)(?:\s+provided)?:?\s+[\"'`(]?)"
            r"(?![A-Z][A-Z0-9]*_[A-Z0-9_]+\b)(?=[^\s\"'`]{0,80}\d)[^\s\"'`),;]{6,}"
        ),
        rf"\1{_MASK}",
    ),
)
# The rest of a key whose beginning was cut off
_KEY_END: Final = "PRIVATE KEY-----"
_END_OF_KEY: Final = compile_on_use(
    r"(?:^|(?<=\n))(?:[ \t]*[A-Za-z0-9+/=]{1,100}[ \t]*\r?\n){1,400}-----END[ A-Z0-9]{0,40}" + _KEY_END
)
_WORD: Final = compile_on_use(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-])")
_RANDOM_FROM: Final = 16  # letters
_LONG: Final = 24
_SYLLABLE: Final = compile_on_use(
    r"(?:[A-Za-z]{1,14}\d{0,2}|[A-Za-z][a-z]{1,13}(?:[A-Z][a-z]{1,13}){0,9}\d{0,2}|\d{1,4}|)"
)
_MIN_RUN_LENGTH: Final = 3.5  # characters of one class in a row, on average: fewer is no language


def mask_tail(text: str, limit: int = TAIL) -> str:
    """The last `limit` characters, with values that look like secrets masked."""
    seen = text[-4 * limit :]
    if len(seen) < len(text):
        seen = (seen.split(maxsplit=1) or [""])[-1]  # half a word may be half a secret
    return mask_secrets(seen)[-limit:]


def mask_secrets(text: str) -> str:
    """The text with values masked that look like secrets by their format, their name, or their randomness."""
    text = scrub_text(text)
    if _KEY_END in text:
        text = _END_OF_KEY.sub(_MASK, text)
    for pattern, instead in _MASKED:
        text = pattern.sub(instead, text)
    return _WORD.sub(lambda word: _MASK if _is_opaque(word[0]) else word[0], text)


def _is_opaque(word: str) -> bool:
    """Whether a word looks random: alternating character classes, or a long word with digits inside."""
    pieces = re.split("[_-]", word)
    longest = max(pieces, key=len)
    if len(longest) >= _RANDOM_FROM and _turns(longest) * _MIN_RUN_LENGTH >= len(longest):
        return True
    digits = any(letter.isdigit() for letter in word)
    return digits and len(word) >= _LONG and not all(_SYLLABLE.fullmatch(piece) for piece in pieces)


def _turns(word: str) -> int:
    """The number of changes of the character class; a capital before lower-case letters begins a word and does not
    count.
    """
    kinds = ["d" if letter.isdigit() else "u" if letter.isupper() else "l" for letter in word]
    return sum(one != other and one + other != "ul" for one, other in pairwise(kinds))
