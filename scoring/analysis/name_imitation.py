"""Compares a name with well-known ones: look-alike characters, another separator, a copied scope, one typing error.

Forks keep the name of their original below an account or scope of their own, and servers of other products share words
with it. So only what a reader takes for the very same name is an imitation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from evidence.kinds.package import NPM, PYPI
from scoring.vocabularies import well_known_packages

_SHORTEST_WORD: Final = 5
"""Letters of a word in which a typing error counts: shorter words are near too many others."""

_SHORTEST_ACCOUNT: Final = 7

_CONVENTIONAL: Final = frozenset({"mcp", "mcp-server"})
"""With one of these names below its scope, a package without separators is what anybody would call such a server."""

_SEPARATORS: Final = re.compile(r"[-_./@]+")
_PEP_503: Final = re.compile(r"[-_.]+")
_LOOKALIKES: Final = str.maketrans(
    {
        "0": "o", "1": "l", "i": "l", "|": "l", "3": "e", "5": "s",
        "а": "a", "е": "e", "о": "o", "р": "p", "с": "c", "х": "x", "у": "y", "і": "l", "ѕ": "s", "ԁ": "d", "м": "m",
        "т": "t", "к": "k", "α": "a", "ο": "o", "ρ": "p", "ν": "v", "ı": "l", "ɡ": "g", "ʀ": "r",
    }
)  # fmt: skip
"""Digits, and Cyrillic, Greek and Latin letters that fonts draw like a letter of ASCII."""

_PAIRS: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"))
_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


class Imitation(Struct, frozen=True):
    """A well-known name that a reader may take this one for, and why."""

    original: str
    how: str


def find_imitated_package(ecosystem: str, name: str) -> Imitation | None:
    """The well-known package of the same index that a name imitates; None for a well-known name and its own scope."""
    known = {NPM: well_known_packages.NPM, PYPI: well_known_packages.PYPI}.get(ecosystem)
    plain = name.lower() if ecosystem == NPM else _PEP_503.sub("-", name.lower())
    if known is None or plain in known or _scope(plain) in _scopes(known):
        return None
    found = next(_imitated(plain, _Index.of(known)), None)
    return found or _imitated_scope(plain, known)


def find_imitated_account(name: str) -> Imitation | None:
    """The well-known account, or word of a domain, that this one imitates."""
    plain = name.lower()
    if plain in _honest_accounts():
        return None
    for found in _imitated(plain, _Index.of(well_known_packages.ACCOUNTS)):
        if len(found.original) >= _SHORTEST_ACCOUNT or not found.how.startswith("one"):
            return found
    return None


@cache
def _honest_accounts() -> frozenset[str]:
    """Accounts that are never accused; a publisher may have another account with its packages."""
    scopes = {scope.removeprefix("@") for scope in _scopes(well_known_packages.NPM)}
    return well_known_packages.ACCOUNTS | well_known_packages.HONEST_ACCOUNTS | scopes


def is_known_namespace(name: str) -> bool:
    """Whether the namespace of a registered name, which registries verify, is that of a well-known account."""
    return not well_known_packages.ACCOUNTS.isdisjoint(
        name.lower().partition("/")[0].removeprefix("io.github.").split(".")
    )


class _Index(Struct, frozen=True):
    """Known names by their look, by their letters without separators, and by themselves without one character."""

    looks: Mapping[str, str]
    letters: Mapping[str, str]
    shortened: Mapping[str, tuple[str, ...]]

    @staticmethod
    @cache
    def of(known: Collection[str]) -> _Index:
        shortened: dict[str, tuple[str, ...]] = {}
        for name in sorted(known):
            for part in {name, *_without_one(name)}:
                shortened[part] = (*shortened.get(part, ()), name)
        return _Index({_look(name): name for name in known}, {_letters(name): name for name in known}, shortened)


def _imitated(name: str, index: _Index) -> Iterator[Imitation]:
    if original := index.looks.get(_look(name)):
        yield Imitation(original, "characters that look alike")
    original = index.letters.get(_letters(name))
    if original and original.partition("/")[2] not in _CONVENTIONAL:
        yield Imitation(original, "the same letters with other separators")
    candidates = {one for part in (name, *_without_one(name)) for one in index.shortened.get(part, ())}
    for original in sorted(candidates):
        if how := _typing_error(name, original):
            yield Imitation(original, how)


def _imitated_scope(name: str, known: Collection[str]) -> Imitation | None:
    """A scope that imitates a known one, before the same package."""
    scope, base = _scope(name), name.partition("/")[2]
    for original in sorted(known) if scope else ():
        if base == original.partition("/")[2] and len(_scope(original)) >= _SHORTEST_ACCOUNT:
            same_look = _look(scope) == _look(_scope(original)) or _letters(scope) == _letters(_scope(original))
            if same_look or _typing_error(scope, _scope(original)):
                return Imitation(original, "a scope that looks alike")
    return None


def _typing_error(name: str, original: str) -> str:
    """The single typing error between two names, inside a long enough word; empty when there is none or more."""
    words, others = _SEPARATORS.split(name), _SEPARATORS.split(original)
    if len(words) != len(others) or _SEPARATORS.findall(name) != _SEPARATORS.findall(original):
        return ""
    changed = [(one, other) for one, other in zip(words, others, strict=True) if one != other]
    if len(changed) != 1 or min(len(word) for word in changed[0]) < _SHORTEST_WORD:
        return ""
    return _word_error(*changed[0])


def _word_error(word: str, original: str) -> str:
    start = next((at for at, (one, other) in enumerate(zip(word, original, strict=False)) if one != other), -1)
    start = min(len(word), len(original)) if start < 0 else start
    rest, other = word[start:], original[start:]
    if rest[1:] == other[1:] and rest and other:
        return "one letter is a neighbour on the keyboard" if _are_neighbours(rest[0], other[0]) else ""
    if rest[:2] == other[1::-1] and rest[2:] == other[2:]:
        return "two letters are exchanged"
    if rest == other[1:] and other[0].isalpha():
        return "" if other == "s" else "one letter is missing"
    if rest[1:] == other and start and rest[0] == word[start - 1]:
        return "" if rest == "s" else "one letter is doubled"
    return ""


def _are_neighbours(one: str, other: str) -> bool:
    return any(pair in row for row in _ROWS for pair in (one + other, other + one))


def _scopes(known: Collection[str]) -> frozenset[str]:
    return frozenset(scope for name in known if (scope := _scope(name)))


def _scope(name: str) -> str:
    return name.partition("/")[0] if name.startswith("@") and "/" in name else ""


def _look(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).lower().translate(_LOOKALIKES)
    for pair, one in _PAIRS:
        text = text.replace(pair, one)
    return text


def _letters(name: str) -> str:
    return _SEPARATORS.sub("", name)


def _without_one(name: str) -> Iterator[str]:
    return (name[:at] + name[at + 1 :] for at in range(len(name)))
