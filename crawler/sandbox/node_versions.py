"""Whether the `engines.node` of a package excludes a version of Node; only what is certain counts."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Version: TypeAlias = tuple[int, ...]

_LONGEST: Final = 200
_COMPARATOR: Final = re.compile(r"(>=|<=|>|<|\^|~|=)?v?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(?:\.[x*])*")


def excludes_node(engines: str, node: str) -> bool:
    """Whether no alternative of a range such as `>=18 <23 || ^24.1` admits the version `node`."""
    version = tuple(int(part) for part in re.findall(r"\d{1,6}", node)[:3])
    if not engines.strip() or len(engines) > _LONGEST or len(version) < 3:
        return False
    return not any(_admits(alternative, version) for alternative in engines.split("||"))


def _admits(alternative: str, version: Version) -> bool:
    """True also for what is not understood."""
    words = re.sub(r"([<>=~^])\s+", r"\1", alternative.replace(" - ", " <=").strip()).split()
    if " - " in alternative and words:
        words[0] = f">={words[0]}"
    found = [_COMPARATOR.fullmatch(word) for word in words]
    return all(match is None or _holds(match, version) for match in found)


def _holds(match: re.Match[str], version: Version) -> bool:
    stated = tuple(int(part) for part in match.groups()[1:] if part is not None)
    same = version[: len(stated)]
    caret = version[0] == stated[0] and same >= stated
    outcomes = {
        ">=": same >= stated,
        ">": same > stated,
        "<": same < stated,
        "<=": same <= stated,
        "^": caret,
        "~": caret and same[1:2] == stated[1:2],
    }
    return outcomes.get(match[1], same == stated)
