"""Whether a declared range admits a version, for the ranges of npm and PyPI.

Only versions without a pre-release part are judged: npm and pip admit others by further rules.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from typing import Final, TypeAlias

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from evidence.compiled_on_use import compile_on_use
from evidence.lockfiles.lockfile import MAX_TEXT, Ecosystem

_Triple: TypeAlias = tuple[int, int, int]

_PART: Final = r"(?:[0-9]{1,15}|[xX*])"
_PARTIAL: Final = compile_on_use(
    rf"(?P<sign>[<>]=?|=|\^|~>?|)v?(?P<major>{_PART})(?:\.(?P<minor>{_PART})(?:\.(?P<patch>{_PART})"
    r"(?P<pre>-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)?)?"
)
_SPAN: Final = compile_on_use(r"(\S+)\s+-\s+(\S+)")
_AFTER_SIGN: Final = compile_on_use(r"(?<=[<>=^~])\s+")
_RELEASE: Final = compile_on_use(r"v?([0-9]{1,15})\.([0-9]{1,15})\.([0-9]{1,15})(?:\+[0-9A-Za-z.-]+)?")
_TOP: Final[_Triple] = (10**15, 0, 0)


def admits_version(ecosystem: Ecosystem, declared: str, version: str) -> bool | None:
    """Whether the range admits the version; None for a tag, an address, a pre-release, or an unknown notation."""
    if len(declared) > MAX_TEXT or len(version) > MAX_TEXT:
        return None
    if ecosystem is Ecosystem.NPM:
        return _admits_in_npm(declared, version)
    return _admits_in_python(declared, version) if ecosystem is Ecosystem.PYPI else None


def _admits_in_python(declared: str, version: str) -> bool | None:
    try:
        wanted, release = SpecifierSet("" if declared.strip() == "*" else declared), Version(version)
    except (InvalidSpecifier, InvalidVersion):
        return None
    return None if release.is_prerelease else wanted.contains(release)


def _admits_in_npm(declared: str, version: str) -> bool | None:
    release = _RELEASE.fullmatch(version)
    spans = _parse_npm_range(declared)
    if release is None or spans is None:
        return None
    place = int(release[1]), int(release[2]), int(release[3])
    return any(low <= place < high for low, high in spans)


@lru_cache(maxsize=4096)
def _parse_npm_range(declared: str) -> tuple[tuple[_Triple, _Triple], ...] | None:
    """The admitted spans, without their ends; None when a part is not understood."""
    spans: list[tuple[_Triple, _Triple]] = []
    for choice in declared.split("||"):
        low, high = (0, 0, 0), _TOP
        text = _SPAN.sub(r">=\1 <=\2", choice.strip())
        for part in _AFTER_SIGN.sub("", text).split():
            span = _parse_comparator(part)
            if span is None:
                return None
            low, high = max(low, span[0]), min(high, span[1])
        spans.append((low, high))
    return tuple(spans)


def _parse_comparator(text: str) -> tuple[_Triple, _Triple] | None:
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return None
    parts = found.group("major", "minor", "patch")
    numbers = [int(part) for part in takewhile(lambda part: part and part.isdigit(), parts)]
    if not numbers:
        return ((0, 0, 0), (0, 0, 0)) if found["sign"] in {"<", ">"} else ((0, 0, 0), _TOP)
    low = _pad(numbers)
    after = low if found["pre"] else _raise(numbers)
    start = (0, 0, 0)
    return {
        "<": (start, low),
        "<=": (start, after),
        ">": (after, _TOP),
        ">=": (low, _TOP),
        "^": (low, _raise(numbers[: _count_fixed(numbers)])),
        "~": (low, _raise(numbers[:2])),
        "~>": (low, _raise(numbers[:2])),
    }.get(found["sign"], (low, after))


def _count_fixed(numbers: list[int]) -> int:
    """The numbers that `^` keeps: up to the first that is not 0."""
    return next((at for at, number in enumerate(numbers, 1) if number), len(numbers))


def _pad(numbers: list[int]) -> _Triple:
    major, minor, patch = [*numbers, 0, 0][:3]
    return major, minor, patch


def _raise(numbers: list[int]) -> _Triple:
    """The first version after all that begin with these numbers."""
    return _pad([*numbers[:-1], numbers[-1] + 1])
