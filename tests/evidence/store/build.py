"""Small servers, refs, records and cards, all derived from a number."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from evidence.canonical import Json
from evidence.launch_options import LaunchOptions
from evidence.model import (
    Absent,
    Observed,
    Record,
    Run,
    Server,
    ServerId,
    ServerRef,
    Status,
    Target,
    TargetType,
    Trigger,
)
from evidence.store import Stage, Store, StoredScorecard

AS_OF = datetime(2026, 11, 21, 3, 0, 0, 123456, tzinfo=UTC)
LATER = AS_OF + timedelta(hours=1)


def run(run_id: str = "20261121-1", trigger: Trigger = Trigger.NIGHTLY) -> Run:
    return Run(id=run_id, trigger=trigger, as_of=AS_OF, pins={"lint": "1", "protocol": "1"})


def server(number: int) -> Server:
    return Server(
        ref=f"npm:weather-{number}",
        name=f"io.example/weather-{number}",
        targets=(
            Target(type=TargetType.STREAMABLE_HTTP, identifier=f"https://{number}.example/mcp", headers=(("A", "b"),)),
            Target(
                type=TargetType.NPM,
                identifier=f"weather-{number}",
                version="1.0.0",
                arguments=("--stdio", ""),
                environment=(("KEY", "value"),),
                launch=LaunchOptions(
                    command="weather", python="3.12", requirements=("a<2",), url="http://localhost:1/mcp"
                ),
            ),
        ),
        repository=f"https://code.example/weather-{number}",
        seen_in=("official", "starter"),
    )


def ref(of: Server, registry: str = "starter", status: Status = Status.ACTIVE, entry: bytes | None = None) -> ServerRef:
    return ServerRef(
        registry=registry,
        name=of.name,
        version="1.0.0",
        status=status,
        entry=b'{"name":"%s"}' % of.name.encode("utf-8", "replace") if entry is None else entry,
        targets=of.targets,
        repository=of.repository,
        updated_at=AS_OF,
        error="no name" if status is Status.INVALID else None,
    )


def record(
    of: ServerId,
    content: Observed | Absent,
    kind: str = "listing",
    observation: Mapping[str, Json] | None = None,
    observed_at: datetime = AS_OF,
) -> Record:
    return Record(
        server=of,
        kind=kind,
        schema=1,
        collector="protocol",
        collector_version=3,
        observed_at=observed_at,
        content=content,
        observation=observation or {},
    )


def body(number: int, size: int = 300) -> Observed:
    return Observed((b'{"number":%d,"tools":[' % number + b'"tool",' * (size // 7))[:-1] + b"]}")


def card(of: ServerId, rubric: str = "lint", version: int = 1, score: str | None = "87.50") -> StoredScorecard:
    return StoredScorecard(
        server=of,
        rubric=rubric,
        version=version,
        score=None if score is None else Decimal(score),
        grade=None if score is None else "B",
        body=b'{"lines":[],"rubric":"%s"}' % rubric.encode(),
    )


def planned(
    store: Store,
    count: int,
    run_id: str = "20261121-1",
    first: Stage | None = None,
    options: Mapping[str, Json] | None = None,
) -> list[Server]:
    """A planned run of so many servers, sorted by id; `first` is the part of collecting that all begin with."""
    servers = sorted((server(number) for number in range(count)), key=lambda one: one.id)
    store.add_run(run(run_id), options=options or {})
    store.put_registry_page(run_id, "starter", [(one, ref(one)) for one in servers], cursor=None, done=True, at=AS_OF)
    begin = {} if first is None else {one.id: first for one in servers}
    store.plan_run(run_id, [one.id for one in servers], AS_OF, first=begin)
    return servers
