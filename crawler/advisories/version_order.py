"""Orders versions by the `osv` package, of which nothing else is loaded.

Its other dependencies, 80 to 100 MB, are installed and never imported: the package is archived, and writing the orders
of all ecosystems again would be worse.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any, Final

from evidence.advisories.osv_record import MAX_VERSION
from evidence.advisories.version_matching import SEMVER_ORDER, Comparable, Unorderable
from evidence.compiled_on_use import compile_on_use

_PACKAGE: Final = "osv"
_KEYS: Final = 200_000

# Texts that some orders of `osv` put below or above everything instead of rejecting them.
_NUMBERS: Final = r"[vV]?\d+(?:\.\d+){0,%d}(?:[-+].*)?"
_SEMVER = compile_on_use(_NUMBERS % 2)
_NUGET = compile_on_use(_NUMBERS % 3)
_ANY = compile_on_use(r"(?=[^\d]*\d)[0-9A-Za-z_][0-9A-Za-z_.+!~:-]*")
_SHAPES: Final = {
    **dict.fromkeys((SEMVER_ORDER, "npm", "Go", "crates.io", "Hex", "SwiftURL", "Bitnami"), _SEMVER),
    "NuGet": _NUGET,
}


_PHP_WORDS: Final = {"dev": "dev", "a": "alpha", "b": "beta", "RC": "rc", "rc": "rc", "p": "pl"}
"""Starts of the words that PHP's `version_compare` knows, with one spelling for each."""


def _known_php_word(word: re.Match[str]) -> str:
    return next((known for start, known in _PHP_WORDS.items() if word[0].startswith(start)), "other")


_SPELLINGS: Final[Mapping[str, tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]] = {
    "Maven": (compile_on_use(r"\.(?=sp(?:[.-]?\d|$))", re.IGNORECASE), "-"),
    "Packagist": (compile_on_use(r"(?<!^)[A-Za-z]+"), _known_php_word),
    "RubyGems": (compile_on_use(r"(?<=\d)(?=[A-Za-z])"), "."),
}
"""Equal spellings for versions that `osv` orders otherwise than Maven, PHP and RubyGems do."""


class OsvOrder:
    """A VersionOrder with cached keys. The first key loads part of `osv`, which takes half a second."""

    def key(self, order: str, version: str) -> Comparable:
        return _key(order, version)


@lru_cache(maxsize=_KEYS)
def _key(order: str, version: str) -> Comparable:
    if len(version) > MAX_VERSION or not _SHAPES.get(order, _ANY).fullmatch(version):
        raise Unorderable(f"not a version of {order}")
    orderer = _ecosystems().get("npm" if order == SEMVER_ORDER else order)
    if orderer is None:
        raise Unorderable(f"the order of {order} is not known")
    text = f"v{version[1:]}" if version.startswith("V") else version  # no version contains a capital letter
    if order in _SPELLINGS:
        pattern, spelling = _SPELLINGS[order]
        text = pattern.sub(spelling, text)
    try:
        key: Comparable = orderer.sort_key(text)
    except (ValueError, TypeError, NotImplementedError, AttributeError, IndexError) as error:
        raise Unorderable(f"not a version of {order}: {type(error).__name__}") from error
    return key


@lru_cache(maxsize=1)
def _ecosystems() -> Any:
    """`osv.ecosystems` inside an empty package: `osv` itself loads 900 modules, database clients among them."""
    if _PACKAGE not in sys.modules:
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is None or spec.submodule_search_locations is None:
            raise ModuleNotFoundError("the package `osv` is a dependency and is not installed", name=_PACKAGE)
        bare = ModuleType(_PACKAGE)
        bare.__path__ = list(spec.submodule_search_locations)
        sys.modules[_PACKAGE] = bare
    return importlib.import_module(f"{_PACKAGE}.ecosystems")
