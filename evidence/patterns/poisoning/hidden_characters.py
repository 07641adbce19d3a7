"""Characters that a reader does not see, or mistakes for others."""

from __future__ import annotations

from typing import Final

import re2

from evidence.compiled_on_use import compile_on_use

_TAGS = "\U000e0001-\U000e007f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u00ad\u034f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

_UNSEEN = f"{_TAGS}{_BIDI}{_ZERO_WIDTH}{_SELECTORS}\u200e\u200f\u061c\u3164\uffa0\u115f\u1160"
HIDDEN: Final = compile_on_use(f"[{_UNSEEN}]")
"""Characters that a reader does not see; `evidence.derive` decides which of them are harmless."""

FLAG: Final = compile_on_use("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f")
"""A subdivision flag, the only legitimate use of tag characters."""

TAG: Final = compile_on_use(f"[{_TAGS}]")
OVERRIDE: Final = compile_on_use("[\u202d\u202e]")
"""Shows text in another order than it is read; no script needs it."""
EMBEDDING: Final = compile_on_use("[\u202a-\u202c\u2066-\u2069]")
"""Isolates and embeddings, which only texts with words of a right-to-left script need."""
RIGHT_TO_LEFT: Final = compile_on_use(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

ZERO_WIDTH_RUN: Final = compile_on_use(f"[{_ZERO_WIDTH}]{{3,}}")
ZERO_WIDTH: Final = compile_on_use("[\u200b\u200c\u200d\u2060-\u2064\u180e\u034f]")
JOINER: Final = compile_on_use("[\u200c\u200d\u2060-\u2064]")
"""Never typed after a Latin letter, unlike the zero-width space that copying leaves."""

BREAKING_SCRIPT: Final = compile_on_use(
    "[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\u1900-\u1aff\ua8e0-\ua8ff\ua980-\uaadf\ufb50-\ufeff]"
)
"""Scripts that join or separate words with zero-width characters: Arabic, Indic, Thai, Khmer, Mongolian, ..."""
PICTURE: Final = compile_on_use(
    "[\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\ufe0f\u20e3\U0001f000-\U0001faff]"
)
"""Emoji and characters that can become one."""

PRIVATE: Final = compile_on_use("[\ue000-\ue09f\U000f0000-\U000ffffd\U00100000-\U0010fffd]|[\ue0a0-\uf8ff]{4,}")
"""Private-use characters: an encoding, except for one or two icons of a common icon font."""

ANY_PRIVATE: Final = compile_on_use("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
"""In every match of `PRIVATE`; found much sooner."""

SELECTOR: Final = compile_on_use(f"[{_SELECTORS}]")
SELECTABLE: Final = compile_on_use("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Ideographs, whose variants a selector chooses."""

CONTROL: Final = compile_on_use("[\x01-\x06\x08\x0e-\x1b\x9b]")
"""Characters that change a terminal's cursor or colour, and those without a glyph."""

EMPTINESS: Final = compile_on_use(r"(?<!\s)[\s\u2800]{30,}+(?=\S)")
"""A long blank stretch before more text."""
MAX_EMPTY_LINES: Final = 25
MAX_INDENT: Final = 240
"""White space that moves the following text out of the window in which a text is reviewed."""

MARKDOWN_COMMENT: Final = compile_on_use(r"(?m)^\s{0,3}\[[^\]\n]{0,40}\]:\s{0,3}(?:#|<>)\s{0,3}[\"'(](?=[^\n]{12})")
"""A link definition without a reference: its content is never shown."""

CONFUSABLE: Final = str.maketrans(
    {
        **dict(zip("асеорхуіѕјһкмтвпԁӏԛԝɡո", "aceopxyisjhkmtbndlqwgn", strict=True)),
        **dict(zip("АВСЕНІКМОРТХЅЈУ", "ABCEHIKMOPTXSJY", strict=True)),
        **dict(zip("αεικνορτυχγ", "aeiknoptuxy", strict=True)),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
    }
)
"""Cyrillic, Greek and Armenian letters that resemble Latin ones."""
_FOREIGN = "".join(sorted({chr(code) for code in CONFUSABLE}))
IMITATING: Final = compile_on_use(f"[{_FOREIGN}]")
LOOK_ALIKE: Final = compile_on_use(
    rf"(?<![^\W_])(?=[^\W\d_]{{0,40}}[{_FOREIGN}])(?=[^\W\d_]{{0,40}}[A-Za-z])[A-Za-z{_FOREIGN}]{{2,80}}(?![^\W_])"
)
"""A word of Latin letters and letters that imitate them, and of nothing else."""

_WHITE = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u2800"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
MAY_HIDE: Final = re2.compile(f"[\x01-\x06\x08\x0e-\x1b\x9b{_UNSEEN}{_PRIVATE}{_FOREIGN}]+|[{_WHITE}]{{29}}")
"""An RE2 prefilter: a text with one of the above matches it. It contains some of their characters and long blank
stretches.
"""
