"""Groups advisories of the same flaw: the transitive closure of aliases, with a preferred order of ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_KNOWN_FIRST: Final = ("MAL-", "CVE-", "GHSA-")


def group_aliases(ids: Iterable[str], named: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """The ids grouped by aliases, in either direction and over any number of steps; the preferred id first.

    `named` are the aliases that each record names. Records outside of `ids` join groups but form none. Ids that are
    only
    named belong to a group too.
    """
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := parents.setdefault(name, name)) != name:
            parents[name] = name = parents[above]
        return name

    for name, others in named.items():
        for other in others:
            parents[root(other)] = root(name)
    wanted = {root(name) for name in ids}
    groups: dict[str, list[str]] = {}
    for name in list(parents):
        if (top := root(name)) in wanted:
            groups.setdefault(top, []).append(name)
    return sorted(sort_advisory_ids(group) for group in groups.values())


def sort_advisory_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Malware first, then CVE, then GitHub's ids, then those of ecosystems, each by name."""
    return tuple(sorted(ids, key=lambda name: (_place(name), name)))


def _place(name: str) -> int:
    return next((place for place, prefix in enumerate(_KNOWN_FIRST) if name.startswith(prefix)), len(_KNOWN_FIRST))
