"""The stages in which a fleet collects: which stages a server passes, and which collectors run in each.

Stages follow scarce resources: the network (`probe`), processors that run foreign packages (`sandbox`), GitHub's
quota (`github`), and processors that read source (`scan`). A server without repository and package skips the last two,
and all its collectors run in its first stage. Embedded runs and re-tests have one stage, `collect`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from crawler.collector import Collector, Deriver, Follower, Scarce, Source
from crawler.sandbox.box_slots import count_box_slots
from evidence.model import Dossier, Server
from evidence.store import Stage
from evidence.store.servers.hosts import find_host
from workers.settings.environment import Settings

FIRST_STAGES: Final = frozenset({Stage.PROBE, Stage.SANDBOX})
"""The first stage of a server: PROBE when it has only remotes, else SANDBOX."""

_ORDER: Final = {Stage.PROBE: 0, Stage.SANDBOX: 0, Stage.GITHUB: 1, Stage.SCAN: 2, Stage.COLLECT: 2}
_SCANS: Final = 16  # archives fetched at the same time; reading them is bounded by its own processes
_INSTALLS: Final = 4  # servers in flight for each slot of the sandbox, whose remotes are probed meanwhile


class StageCollectors(Struct, frozen=True):
    """The collectors, followers and derivers, each in the order in which they run."""

    collectors: Sequence[Collector]
    followers: Sequence[Follower]
    derivers: Sequence[Deriver]

    @property
    def all(self) -> Sequence[Source]:
        return (*self.collectors, *self.followers, *self.derivers)

    def next_stage(self, server: Server, stage: Stage) -> Stage | None:
        """The stage after `stage` for a server; None after the last one."""
        if stage is Stage.COLLECT:
            return None
        return next((part for part in self._later(server) if _ORDER[part] > _ORDER[stage]), None)

    def select(self, server: Server, stage: Stage, found: Dossier) -> StageCollectors:
        """The sources that run in a stage; in the last one all that have not recorded yet."""
        last = self.next_stage(server, stage) is None
        recorded = found.records.keys()
        return StageCollectors(
            [one for one in self.collectors if not recorded & set(one.kinds)],
            [
                one
                for one in self.followers
                if not recorded & set(one.kinds) and (last or _ORDER[_part(one)] <= _ORDER[stage])
            ],
            [one for one in self.derivers if last and not recorded & set(one.kinds)],
        )

    def _later(self, server: Server) -> Sequence[Stage]:
        """The stages after the first one; none for a server without repository and package."""
        if server.repository is None and is_remote(server):
            return ()
        parts = {_part(follower) for follower in self.followers}
        return [part for part in (Stage.GITHUB, Stage.SCAN) if part in parts]


def first_stage(server: Server) -> Stage:
    return Stage.PROBE if is_remote(server) else Stage.SANDBOX


def is_remote(server: Server) -> bool:
    """Whether no target of a server has to be installed here."""
    return all(target.type.is_remote for target in server.targets)


def max_concurrent_servers(settings: Settings, stage: Stage) -> int:
    """How many servers a process collects at the same time."""
    match stage:
        case Stage.SANDBOX:
            return min(settings.in_flight, _INSTALLS * count_box_slots(settings.sandbox_slots, settings.sandbox_memory))
        case Stage.SCAN:
            return min(settings.in_flight, _SCANS)
        case _:
            return settings.in_flight


def find_probed_host(server: Server) -> str | None:
    """The host of a server's first remote; None when there is none."""
    return find_host(server) or None


def _part(follower: Follower) -> Stage:
    return Stage.GITHUB if follower.needs is Scarce.GITHUB else Stage.SCAN
