"""The fixture fleet as a registry knows it: scripted servers, packages that may not start, and broken entries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.servers import registry, scripted
from tests.servers.registry_entries import Row, generate

REMOTES = 44
OTHERS = 130
SEED = 7


@dataclass(frozen=True)
class Fleet:
    """Where the registry is, and its own state, to give it its faults again."""

    registry: str
    api: registry.RegistryApi

    def break_again(self) -> None:
        """The next walk meets every fault again."""
        self.api.pending.clear()


@contextmanager
def running_fleet() -> Iterator[Fleet]:
    """Scripted servers and the registry that lists them, in threads of this process."""
    with scripted.running(REMOTES, SEED, latency=0.01) as base:
        api = registry.RegistryApi(_rows(base), faulty=True)
        with registry.running(api) as url:
            yield Fleet(url, api)


def _rows(base: str) -> list[Row]:
    remotes = generate(REMOTES, SEED, remote_base=base)
    names = {row.name for row in remotes}
    others = generate(OTHERS, SEED + 1)
    return remotes + [row for row in others if row.name not in names and not _is_contacted(row)]


def _is_contacted(row: Row) -> bool:
    """True for an entry whose server is outside of this machine."""
    try:
        document = json.loads(row.document)
    except ValueError:
        return False
    return not isinstance(document, dict) or "remotes" in document
