"""The options of a run: which registries, which servers, how many."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

from evidence.canonical import Json
from evidence.model import Server


class RunOptions(Struct, frozen=True, kw_only=True):
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

    def is_wanted(self, server: Server) -> bool:
        """Whether `only` names a server; True for all servers without it."""
        texts = (server.id, server.ref, server.name)
        return not self.only or any(fnmatchcase(text, pattern) for pattern in self.only for text in texts)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
