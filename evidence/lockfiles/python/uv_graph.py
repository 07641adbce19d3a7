"""The dependency graph of uv.lock. A dependency with several candidates stays one edge, so the graph is as small as the
file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from evidence.lockfiles.lockfile import Ecosystem
from evidence.lockfiles.parsing.bounded import Table, read_strings, string_or_empty
from evidence.lockfiles.reachability import Edges, Reach, Roots
from evidence.lockfiles.versions import normalize_package_name


class Graph(Struct):
    """The nodes of a lock: each entry by its number, each extra of it, and each name or name and version in it.

    `wanted` contains the required names that are missing.
    """

    entries: list[Table]
    wanted: set[str] = field(default_factory=set)
    _groups: dict[tuple[str, str], str] = field(default_factory=dict)
    _members: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, entry in enumerate(self.entries):
            name, version = string_or_empty(entry.get("name")), string_or_empty(entry.get("version"))
            for key in {(name, ""), (name, version)}:
                group = self._groups.setdefault(key, f"g{len(self._groups)}")
                self._members.setdefault(group, []).append(str(number))
                for extra in _table(entry, "optional-dependencies"):
                    self._members.setdefault(f"{group}[{extra}]", []).append(f"{number}[{extra}]")

    def reach(self, own: Iterable[Table]) -> Reach:
        """The reachability of all entries from these, by entry number."""
        roots = Roots()
        for entry in own:
            roots.needs.update(self._named(entry.get("dependencies")))
            roots.options.update(self._grouped(entry, "optional-dependencies"))
            roots.dev.update(self._grouped(entry, "dev-dependencies"))
        for nodes in (roots.needs, roots.options, roots.dev):
            nodes.update([member for node in nodes for member in self._members.get(node, ())])
        edges = {group: Edges(tuple(members)) for group, members in self._members.items()}
        for number, entry in enumerate(self.entries):
            edges[str(number)] = Edges(tuple(self._named(entry.get("dependencies"))))
            for extra, needs in _table(entry, "optional-dependencies").items():
                edges[f"{number}[{extra}]"] = Edges(tuple(self._named(needs)))
        return Reach(roots, edges)

    def via(self, node: str, reach: Reach) -> tuple[str, ...]:
        """The names of the direct dependencies that bring an entry; groups and extras are no packages."""
        roots = [self.entries[int(root)] for root in reach.via(node) if root.isdecimal()]
        names = (string_or_empty(entry.get("name")) for entry in roots)
        return tuple(sorted({normalize_package_name(Ecosystem.PYPI, name) for name in names if name}))

    def _grouped(self, entry: Table, part: str) -> Iterator[str]:
        for needs in _table(entry, part).values():
            yield from self._named(needs)

    def _named(self, needs: Any) -> Iterator[str]:
        """The nodes of a list of `{name, version, extra}`; the version is only given when there are several."""
        for need in needs if isinstance(needs, list) else ():
            if not isinstance(need, Mapping):
                continue
            name, version = string_or_empty(need.get("name")), string_or_empty(need.get("version"))
            group = self._groups.get((name, version)) or self._groups.get((name, ""))
            if group is None:
                self.wanted.add(name)
                continue
            yield group
            yield from (f"{group}[{extra}]" for extra in read_strings(need, "extra"))


def _table(entry: Table, part: str) -> Mapping[str, Any]:
    value = entry.get(part)
    return value if isinstance(value, Mapping) else {}
