"""Decodes base64, hexadecimal, percent encoding, escapes, entities and rot13, also when they are nested."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from typing import Final

import re2

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.text_folding import TextIndex

MAX_LAYERS: Final = 3
MAX_RUNS: Final = 12
MAX_RUN: Final = 8_000
MIN_RUN: Final = 24

_BASE64: Final = compile_on_use(rf"(?<![\w+/-])[A-Za-z0-9+/_-]{{{MIN_RUN},{MAX_RUN}}}+={{0,2}}")
_HEX: Final = compile_on_use(rf"(?<![\w])(?:0x)?(?:[0-9a-fA-F]{{2}}[\s:]?){{12,{MAX_RUN // 3}}}+")
_PERCENT: Final = compile_on_use(
    rf"(?<![\w.~-])[\w.~-]{{0,40}}(?:%[0-9a-fA-F]{{2}}[\w.~!*'()/-]{{0,30}}){{2,{MAX_RUN // 6}}}+"
)
_ESCAPED: Final = compile_on_use(rf"(?:\\x[0-9a-fA-F]{{2}}|\\u00[0-9a-fA-F]{{2}}){{8,{MAX_RUN // 6}}}")
_ENTITIES: Final = compile_on_use(rf"(?:&#(?:x[0-9a-fA-F]{{2,4}}|\d{{2,4}});){{8,{MAX_RUN // 8}}}")
_UNIT: Final = compile_on_use(r"x?([0-9a-fA-F]{2,4})")
_ROT13: Final = (
    *("vtaber ", "qvfertneq ", "birevqr ", "cerivbhf ", "vafgehpgvba", "cnffjbeq", "perqragvny", "frpergyl "),
    *("rksvygengr ", "hfre'f ", ".ffu/"),
)
"""Words of an instruction in rot13."""
_SIGN: Final = compile_on_use(
    rf"[A-Za-z0-9+/_-]{{{MIN_RUN}}}|(?:[0-9a-fA-F]{{2}}[ :]){{11}}|%[0-9a-fA-F]{{2}}[^%]{{0,30}}%[0-9a-fA-F]{{2}}"
    r"|\\[xu][0-9a-fA-F]{2}|&#[x0-9]"
)
_SIGN_ANYWHERE: Final = re2.compile(
    rf"[A-Za-z0-9+/_-]{{{MIN_RUN}}}|(?:[0-9a-fA-F]{{2}}[ :]){{11}}|%[0-9a-fA-F]{{2}}[^%]*%[0-9a-fA-F]{{2}}"
    r"|\\[xu][0-9a-fA-F]{2}|&#[x0-9]"
)
"""The same for RE2, without a count between percent signs."""
_READABLE: Final = compile_on_use(r"[\x09\x0a\x0d\x20-\x7e\u00a0-\u024f]")
_WORD: Final = compile_on_use(r"[A-Za-z]{2,}")


def decode_texts(text: str) -> Iterator[str]:
    """Decoded texts of several words, layer by layer; at most MAX_RUNS for each layer."""
    layer = [text]
    for _ in range(MAX_LAYERS):
        layer = list(dict.fromkeys(inner for outer in layer for inner in _inside(outer)))[:MAX_RUNS]
        yield from filter(_is_prose, layer)


def find_encoded(texts: TextIndex) -> Iterator[int]:
    """The indexes of texts that may contain encoded text, in rising order. A cheap test."""
    signed = {at for at in texts.find_texts_of_matches(_SIGN_ANYWHERE) if _SIGN.search(texts.texts[at])}
    if _is_rotated(texts.whole):
        signed.update(at for at, text in enumerate(texts.texts) if _is_rotated(text))
    return iter(sorted(signed))


def _is_rotated(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _ROT13)


def _inside(text: str) -> Iterator[str]:
    for mark, expression, read in _READERS:
        if mark not in text:
            continue
        for count, found in enumerate(expression.finditer(text)):
            if count == MAX_RUNS:
                break
            plain = read(found[0])
            if plain and _is_readable(plain):
                yield plain
    if _is_rotated(text):
        yield codecs.decode(text, "rot13")


def _is_prose(text: str) -> bool:
    """Whether a text contains several words."""
    return len(_WORD.findall(text[:400])) >= 3


def _is_readable(text: str) -> bool:
    part = text[:400]
    return len(_READABLE.findall(part)) >= 0.95 * len(part)


def _base64(run: str) -> str:
    if not _ENCODED.search(run):
        return ""
    plain = run.rstrip("=").translate(_URL_SAFE)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _hex(run: str) -> str:
    digits = "".join(_HEX_DIGITS.findall(run.removeprefix("0x")))
    return _utf8(digits[: len(digits) // 2 * 2])


def _percent(run: str) -> str:
    return _PERCENT_UNIT.sub(lambda found: chr(int(found[1], 16)), run)


def _escaped(run: str) -> str:
    return "".join(chr(int(unit[-2:], 16)) for unit in _ESCAPED_UNIT.findall(run))


def _entities(run: str) -> str:
    units = (unit.strip("&#;") for unit in run.split(";") if unit)
    return "".join(chr(int(unit[1:], 16) if unit[0] == "x" else int(unit)) for unit in units)


def _utf8(digits: str) -> str:
    try:
        return bytes.fromhex(digits).decode("utf-8")
    except (ValueError, UnicodeDecodeError):
        return ""


_ENCODED: Final = compile_on_use(r"[A-Z][^/_-]{0,40}[a-z0-9]|[a-z0-9][^/_-]{0,40}[A-Z]")
"""Upper and lower case within one part, as in encoded text; most paths and names have only one of them."""
_URL_SAFE: Final = str.maketrans("-_", "+/")
_HEX_DIGITS: Final = compile_on_use(r"[0-9a-fA-F]{2}")
_PERCENT_UNIT: Final = compile_on_use(r"%([0-9a-fA-F]{2})")
_ESCAPED_UNIT: Final = compile_on_use(r"\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}")
_READERS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...]] = (
    ("", _BASE64, _base64),
    ("", _HEX, _hex),
    ("%", _PERCENT, _percent),
    ("\\", _ESCAPED, _escaped),
    ("&#", _ENTITIES, _entities),
)
"""What each match contains, the expression, and how a match is read."""
