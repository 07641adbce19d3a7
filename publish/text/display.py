"""Makes untrusted text safe to show: cut, with invisible and bidirectional characters spelled out."""

from __future__ import annotations

import unicodedata

from markupsafe import Markup, escape

from evidence.compiled_on_use import compile_on_use
from evidence.derive.secret_scrubbing import scrub_text

TEXT_LIMIT = 2_000

_CODE = compile_on_use(r"`([^`]+)`")

_AHEAD = 4_000  # characters after the limit in which a secret may end

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Invisible, although their category says letter, symbol or mark: fillers, the Braille blank, variation selectors.
_BLANKS = compile_on_use("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0d\U000e0100-\U000e01ef]")
# Joiners shape words of several scripts and join emoji; between ASCII or repeated they only hide something.
_SHAPING_JOINER = compile_on_use("(?<=[^\x00-\x7f\u200c\u200d])[\u200c\u200d](?=[^\x00-\x7f\u200c\u200d])")


def make_visible(text: str, *, limit: int = TEXT_LIMIT, multiline: bool = False, clean: bool = False) -> str:
    """The text with control, format and bidirectional characters as `⟨U+202E⟩`, at most `limit` characters of it.

    What looks like a secret is masked, since listings are kept as they were received (docs/decisions/0020). The
    result cannot move a cursor, reorder a line or hide a word. Tabs and line ends become spaces, unless
    `multiline` keeps line feeds. A note at the end counts the cut characters. `clean` states that no beginning
    of the text needs scrubbing: a caller with many texts checks them together.
    """
    kept = (text if clean else scrub_text(text[: limit + _AHEAD]))[:limit]
    shown = kept if kept.isascii() and kept.isprintable() else _spelled_out(kept.replace("\r\n", "\n"), multiline)
    cut = len(text) - limit
    return f"{shown}… ({cut:,} more characters)" if cut > 0 else shown


def _spelled_out(text: str, multiline: bool) -> str:
    shown = []
    for position, character in enumerate(text):
        if character in "\t\n\r":
            shown.append("\n" if multiline and character == "\n" else " ")
        else:
            shown.append(f"⟨U+{ord(character):04X}⟩" if _is_hidden(text, position) else character)
    return "".join(shown)


def _is_hidden(text: str, position: int) -> bool:
    character = text[position]
    if " " <= character <= "~" or character in "\t\n\r":
        return False
    if _SHAPING_JOINER.match(text, position):
        return False
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or _BLANKS.match(character) is not None


def render_inline_code(text: str) -> Markup:
    """Text of ours, escaped, with what stands between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  escaped before
