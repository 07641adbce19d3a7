"""Undoes spellings that evade filters: digits for letters, spaced letters, and joined words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import re2

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.text_folding import replace_surrogates

_FIGURES: Final = str.maketrans("013457@$!|", "oieastasil")
_MIXED: Final = compile_on_use(r"(?<![\w@$!|-])(?=[a-z]*[013457@$!|])[a-z013457@$!|]{2,16}(?![\w@$|-])")
_APART: Final = compile_on_use(r"(?<!\w)(?:[a-z][ ._*-]{1,2}){4,60}[a-z](?!\w)")
_JOINED: Final = compile_on_use(r"(?<![\w/])[a-z]{2,16}(?:[-_.][a-z]{1,16}){2,12}(?![\w/])")
_PARTS: Final = compile_on_use(r"[ ._*-]")
_STEMS: Final = ("ignor", "disregard", "overrid", "forget", "previous", "instruct", "do_not_tell", "do-not-tell")
_PLAIN: Final = (
    *("ignor", "disregard", "overrid", "forget", "tell", "mention", "reveal", "previous", "prior", "instruct"),
)
"""Beginnings of words of an instruction; none is a prefix of another."""
_VOCABULARY: Final = compile_on_use(
    r"ignore|disregard|forget|override|all|any|the|your|previous|prior|instructions?|rules|system|prompt|donot|user|tell|this"
)


def find_obfuscation_candidates(whole: str, words: str) -> bool:
    """Whether any text may be obfuscated. A cheap test. `words`: all words of the texts, separated by spaces; `whole`:
    all texts
    joined.
    """
    return _ODD.search(replace_surrogates(words)) is not None or _SPELT.search(replace_surrogates(whole)) is not None


def deobfuscate_text(folded: str) -> Iterator[str]:
    """One plain reading of the text for each kind of obfuscation that it contains."""
    plain = replace_surrogates(folded)
    if _MIXED_ANYWHERE.search(plain):
        yield _MIXED.sub(lambda found: found[0].translate(_FIGURES), folded)
    if _APART_ANYWHERE.search(plain) and _APART.search(folded):
        yield _APART.sub(lambda found: _spaced(found[0]), folded)
    if _JOINED_ANYWHERE.search(plain):
        yield _JOINED.sub(lambda found: _PARTS.sub(" ", found[0]), folded)


def _spaced(run: str) -> str:
    """The words that spaced letters spell."""
    return _VOCABULARY.sub(lambda found: f" {found[0]} ", _PARTS.sub("", run)).strip().replace("  ", " ")


def _with_figures(word: str) -> str:
    """The word with digits in place of some letters."""
    letters = [rf"[{letter}{_FIGURES_FOR[letter]}]" if letter in _FIGURES_FOR else letter for letter in word]
    return "|".join(
        f"{word[:at]}[{_FIGURES_FOR[word[at]]}]{''.join(letters[at + 1 :])}"
        for at in range(len(word))
        if word[at] in _FIGURES_FOR
    )


_FIGURES_FOR: Final = {"o": "0", "i": "1!", "e": "3", "a": "4@", "s": "5$", "t": "7", "l": "|"}
# Words of an instruction with digits for letters, and joined words; in the syntax of RE2.
_MIXED_WORD: Final = rf"(?:^|\ )(?:[.,:;]+(?:{'|'.join(_PLAIN)})|[.,:;]*(?:{'|'.join(map(_with_figures, _PLAIN))}))"
_PURE: Final = "|".join(stem for stem in _STEMS if stem.isalpha())
_JOINED_WORD: Final = rf"[._-][^\ ]*(?:{_PURE})|(?:{_PURE})[^\ ]*[._-]|do_not_tell|do-not-tell"
_ODD: Final = re2.compile(rf"{_MIXED_WORD}|{_JOINED_WORD}|(?:^|\ )[^\ ][._*-][^\ ][._*-][^\ ]{{5}}")
_SPELT: Final = re2.compile(r"[^a-z\ ](?:[a-z][\ ._*-]{1,2}){4}|(?:\ [a-z]){5}\ ")
_LETTERS_APART: Final = r"(?:[a-z][\ ._*-]{1,2}){4}[a-z]"
_MIXED_ANYWHERE: Final = re2.compile(_MIXED_WORD)
_JOINED_ANYWHERE: Final = re2.compile(_JOINED_WORD)
_APART_ANYWHERE: Final = re2.compile(_LETTERS_APART)
OBFUSCATION_EXPRESSIONS: Final = (_MIXED_WORD, _JOINED_WORD, _LETTERS_APART)
"""Verbose expressions; a text with obfuscated words matches at least one."""
