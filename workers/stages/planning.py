"""Planning a run part after part: its servers and, for a nightly run, their order and pace per host.

A part is one transaction, which stores how far the plan is. It is refused when another process stored the part first,
so any process may continue a plan at any time. Servers are read in the order of their hosts, because the order and pace
of a server depend on the others of its host. Of a host with more servers than a part, those that are due are one part;
the others keep their last evidence and are the parts after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.opt_outs import OptOutList
from evidence.model import Run, Server, ServerId, Trigger
from evidence.store import PlanPosition, RunState, Stage
from evidence.store.servers.hosts import find_host
from workers.context import Context
from workers.opt_outs import load_opt_outs
from workers.runs.options import RunOptions
from workers.settings.environment import Settings
from workers.stages import routing
from workers.stages.host_schedule import HostPace, HostSchedule, schedule_host, schedule_servers

SERVERS_PER_PART: Final = 1_000
"""About a second of work; carried servers cost the most."""

_WHOLE_HOST: Final = 2**31 - 1
"""Above every key: the position after the last server of a host."""

_AT_ONCE: Final = HostSchedule(frozenset(), {})

_Place: TypeAlias = tuple[str, int]


class _Part(Struct, frozen=True):
    """Servers with their first stages and schedule, and the place after them; None after the last servers."""

    servers: Mapping[ServerId, Stage]
    after: _Place | None
    schedule: HostSchedule = field(default=_AT_ONCE)


class Planner:
    """Plans the active servers of registries that the options of a run select."""

    def __init__(self, ctx: Context, run: Run, options: RunOptions, registries: Sequence[str]) -> None:
        self._ctx, self._run, self._options, self._registries = ctx, run, options, registries
        self._by_host = run.trigger is Trigger.NIGHTLY
        self._stored: PlanPosition | None = None
        self._position = PlanPosition(began=self._read_time())
        self._read_position()

    def plan_part(self) -> bool:
        """Plan the next part; False when there is none: the run is planned or stopped, or no server was found."""
        part, before = self._next_part(), self._position
        host, server = part.after or (before.host, before.server)
        planned, carried = before.planned + len(part.servers), before.carried + len(part.schedule.carried)
        after = replace(before, host=host, server=server, planned=planned, carried=carried)
        if part.after is None and not after.planned:
            return False
        if part.after is not None and not part.servers:
            self._position = after  # not stored: the next process looks at these servers again
            return True
        if not self._store_part(part, after):
            return self._read_position()
        self._stored = self._position = after
        if part.after is None:
            self._ctx.log.info("run_planned", run=self._run.id, servers=after.planned, carried=after.carried)
        return part.after is not None

    def _store_part(self, part: _Part, after: PlanPosition) -> bool:
        """False when another process planned this part, or the run was stopped."""
        return self._ctx.store.plan_run(
            self._run.id,
            list(part.servers),
            self._read_time(),
            first=part.servers if self._by_host else {},
            starts={server: after.began + offset for server, offset in part.schedule.offsets.items()},
            carried=part.schedule.carried,
            before=self._stored,
            after=after,
            last=part.after is None,
        )

    def _read_position(self) -> bool:
        """Continue where the stored plan ends; False when there is nothing to plan."""
        row = self._ctx.store.find_run(self._run.id)
        self._stored = None if row is None else row.plan_position
        self._position = self._stored or PlanPosition(began=self._position.began)
        return row is not None and row.state is RunState.DISCOVERING

    def _next_part(self) -> _Part:
        if self._options.limit is not None:
            return self._schedule(list(self._first_by_id(self._options.limit)), None)
        host, server = self._position.host, self._position.server
        if self._by_host and host and server < _WHOLE_HOST:
            return self._rest_of_host(host, server)
        found = self._ctx.store.list_servers_by_host(self._registries, host, server, limit=SERVERS_PER_PART + 1)
        if len(found) <= SERVERS_PER_PART:
            return self._schedule([one for _, one in found], None)
        cut = find_host(found[-1][1]) if self._by_host else ""
        whole = [(key, one) for key, one in found[:SERVERS_PER_PART] if not cut or find_host(one) != cut]
        if not whole:
            return self._due_of_host(cut)
        key, host = whole[-1][0], find_host(whole[-1][1])
        place = (host, _WHOLE_HOST if self._by_host and host else key)
        return self._schedule([one for _, one in whole], place)

    def _first_by_id(self, limit: int) -> Iterator[Server]:
        after: ServerId = ""
        while limit:
            found = self._ctx.store.list_active_servers(self._registries, after=after, limit=SERVERS_PER_PART)
            if not found:
                return
            wanted = [one for one in found if self._options.is_wanted(one)][:limit]
            yield from wanted
            limit, after = limit - len(wanted), found[-1].id

    def _schedule(self, servers: Sequence[Server], after: _Place | None) -> _Part:
        """A part of hosts with all their servers."""
        wanted = [one for one in servers if self._options.is_wanted(one)]
        stages = {one.id: routing.first_stage(one) for one in wanted}
        if not self._by_host:
            return _Part(stages, after)
        contacted = [one for one in wanted if self._is_contacted(one)]
        return _Part(stages, after, schedule_servers(self._run.id, contacted, self._read_last, self._pace))

    def _due_of_host(self, host: str) -> _Part:
        """The due servers of a host with more servers than a part."""
        stages = {
            one.id: routing.first_stage(one)
            for one in self._servers_of(host)
            if self._options.is_wanted(one) and self._is_contacted(one)
        }
        schedule = schedule_host(self._run.id, host, list(stages), self._read_last, self._pace)
        due = {server: stages[server] for server in schedule.offsets}
        return _Part(due, (host, 0), replace(schedule, carried=frozenset()))

    def _rest_of_host(self, host: str, after: int) -> _Part:
        """Some of the servers of such a host that are not due."""
        found = self._list_of_host(host, after)
        due = set(self._ctx.store.list_pending_servers(self._run.id, Stage.COLLECT, [one.id for _, one in found]))
        rest = [one for _, one in found if self._options.is_wanted(one) and one.id not in due]
        carried = frozenset(one.id for one in rest if self._is_contacted(one))
        place = found[-1][0] if len(found) == SERVERS_PER_PART else _WHOLE_HOST
        stages = {one.id: routing.first_stage(one) for one in rest}
        return _Part(stages, (host, place), HostSchedule(carried, {}))

    def _servers_of(self, host: str) -> Iterator[Server]:
        after = 0
        while found := self._list_of_host(host, after):
            yield from (one for _, one in found)
            after = found[-1][0]

    def _list_of_host(self, host: str, after: int) -> list[tuple[int, Server]]:
        return self._ctx.store.list_servers_by_host(self._registries, host, after, limit=SERVERS_PER_PART, alone=True)

    def _is_contacted(self, server: Server) -> bool:
        """A server that opted out is not contacted, so it needs no place in its host's schedule."""
        return self._opt_outs.why(server) is None

    @cached_property
    def _opt_outs(self) -> OptOutList:
        return load_opt_outs(self._ctx.settings, self._ctx.store)

    @cached_property
    def _pace(self) -> HostPace:
        return read_host_pace(self._ctx.settings)

    def _read_last(self, queue: Collection[ServerId]) -> Mapping[ServerId, datetime]:
        return self._ctx.store.read_last_collection_times(self._run.id, list(queue))

    def _read_time(self) -> datetime:
        return self._ctx.store.read_database_time(self._ctx.clock.wall())


def read_host_pace(settings: Settings) -> HostPace:
    """The load allowed per host by the settings."""
    return HostPace(
        gap=settings.host_gap,
        requests=settings.visit_requests,
        window=settings.host_window,
        spread=settings.night_spread,
        no_gap=settings.allow_private,
    )
