"""Recognises concrete versions of each ecosystem and normalises package names.

A range, a tag or a URL must never reach a version order: some orders put it below every version, so that every
advisory would match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from packaging.version import InvalidVersion, Version

from evidence.compiled_on_use import compile_on_use
from evidence.lockfiles.lockfile import MAX_TEXT, Ecosystem, UnknownVersion

_SEMVER = compile_on_use(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_DOTTED: Final = r"[0-9]+(?:\.[0-9A-Za-z]+)*"

_CONCRETE: Final = {
    Ecosystem.NPM: _SEMVER,
    Ecosystem.CRATES: _SEMVER,
    Ecosystem.GO: compile_on_use(r"[0-9]+(?:\.[0-9]+){1,2}(?:(?:-|rc|beta|alpha)[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"),
    Ecosystem.RUBYGEMS: compile_on_use(_DOTTED),
    Ecosystem.NUGET: compile_on_use(r"[0-9]+(?:\.[0-9]+){0,3}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"),
    Ecosystem.PACKAGIST: compile_on_use(
        r"v?[0-9]+(?:\.[0-9]+){0,3}(?:[-._]?(?:stable|beta|b|rc|alpha|a|patch|pl|p)(?:[-.]?[0-9]+)*)?(?:[-.]?dev)?"
        r"(?:\+[0-9A-Za-z.-]+)?",
        re.IGNORECASE,
    ),
    Ecosystem.MAVEN: compile_on_use(r"(?!(?:LATEST|RELEASE)$)[0-9A-Za-z_][0-9A-Za-z_.+~-]*"),
}
_SEPARATORS = compile_on_use(r"[-_.]+")


def parse_concrete_version(ecosystem: Ecosystem, raw: str) -> str | UnknownVersion:
    """The version when the text is one, else UnknownVersion. Go versions lose their `v`, as in OSV."""
    text = raw.strip()
    if len(text) > MAX_TEXT:
        return UnknownVersion(raw)
    if ecosystem is Ecosystem.PYPI:
        return text if _is_pep440(text) else UnknownVersion(raw)
    if ecosystem is Ecosystem.GO:
        text = text.removeprefix("v")
    return text if _CONCRETE[ecosystem].fullmatch(text) else UnknownVersion(raw)


def normalize_package_name(ecosystem: Ecosystem, name: str) -> str:
    """The name in the form in which its ecosystem compares names: PEP 503 for PyPI, lower case for Packagist, else
    verbatim.
    """
    if ecosystem is Ecosystem.PYPI:
        return _SEPARATORS.sub("-", name.strip()).lower()
    return name.lower() if ecosystem is Ecosystem.PACKAGIST else name


@lru_cache(maxsize=4096)
def _is_pep440(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
