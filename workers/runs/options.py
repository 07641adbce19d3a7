"""The options of a run: which registries, which servers, how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from evidence.canonical import Json
from evidence.model import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options that are stored with the run, so that a resumed run and all workers cover the same servers.

    `registries` are names or addresses as in the settings, never headers. `only` are server ids, references or names,
    `*` allowed; `limit` keeps the first servers by id. `fresh` is not stored: it asks for a new run.
    """

    registries: tuple[str, ...]
    only: tuple[str, ...] = ()
    limit: int | None = None
    fresh: bool = False

    def to_json(self) -> dict[str, Json]:
        return {"registries": list(self.registries), "only": list(self.only), "limit": self.limit}

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> RunOptions:
        limit = stored.get("limit")
        return cls(
            registries=_texts(stored.get("registries")),
            only=_texts(stored.get("only")),
            limit=limit if isinstance(limit, int) else None,
        )


def select_servers(servers: Sequence[Server], options: RunOptions) -> list[Server]:
    """The servers to plan, sorted by id: the same servers and options always give the same plan."""
    wanted = [server for server in servers if not options.only or _is_wanted(server, options.only)]
    return sorted(wanted, key=lambda server: server.id)[: options.limit]


def _is_wanted(server: Server, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns for text in (server.id, server.ref, server.name))


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
