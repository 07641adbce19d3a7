"""Finds the packages that a project needs at run time, only for development, or only with an optional feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field

from evidence.lockfiles.lockfile import MAX_VIA, Relation, Scope


class Edges(Struct, frozen=True):
    """The required and the optional dependencies of one package; nodes are the keys of the file's format."""

    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Roots(Struct, frozen=True, kw_only=True):
    """The direct dependencies of a project."""

    needs: set[str] = field(default_factory=set)
    options: set[str] = field(default_factory=set)
    dev: set[str] = field(default_factory=set)

    @property
    def all(self) -> set[str]:
        return self.needs | self.options | self.dev


class Reach:
    """The relation and the scopes of all nodes, computed from roots and edges."""

    __slots__ = ("_dev", "_needed", "_optional", "_roots", "_via")

    def __init__(self, roots: Roots, edges: Mapping[str, Edges]) -> None:
        self._roots = roots.all
        self._needed = _closure(roots.needs, lambda node: edges[node].needs if node in edges else ())
        self._optional = _closure(roots.needs | roots.options, lambda node: _both(edges, node))
        self._dev = _closure(roots.dev, lambda node: _both(edges, node))
        self._via = find_origins(self._roots, lambda node: _both(edges, node))

    def via(self, node: str) -> list[str]:
        """The first roots from which a node is reached; empty for a root."""
        return [] if node in self._roots else self._via.get(node, [])

    def relation(self, node: str) -> Relation:
        """Direct for a root, transitive when reachable from one, else unstated."""
        if node in self._roots:
            return Relation.DIRECT
        return Relation.TRANSITIVE if node in self._optional or node in self._dev else Relation.UNSTATED

    def scopes(self, node: str) -> frozenset[Scope]:
        """Empty when needed at run time."""
        if node in self._needed:
            return frozenset()
        found = ((Scope.OPTIONAL, self._optional), (Scope.DEV, self._dev))
        return frozenset(scope for scope, reached in found if node in reached)


def find_origins(roots: Iterable[str], follow: Callable[[str], Iterable[str]]) -> dict[str, list[str]]:
    """The first roots by name, at most MAX_VIA, from which each node is reached.

    A node that has all its roots passes none on, since what follows it has them too: no edge is followed more often.
    """
    found: dict[str, list[str]] = {}
    for root in sorted(roots):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            known = found.setdefault(node, [])
            if len(known) < MAX_VIA and known[-1:] != [root]:
                known.append(root)
                waiting.extend(follow(node))
    return found


def infer_relation(name: str, required: Iterable[str]) -> Relation:
    """The relation in formats that do not list direct dependencies: a package that no other requires must be direct."""
    return Relation.UNSTATED if name in required else Relation.DIRECT


def _both(edges: Mapping[str, Edges], node: str) -> tuple[str, ...]:
    found = edges.get(node)
    return () if found is None else (*found.needs, *found.options)


def _closure(roots: Iterable[str], follow: Callable[[str], Iterable[str]]) -> set[str]:
    reached = set(roots)
    waiting = list(reached)
    while waiting:
        for node in follow(waiting.pop()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached
