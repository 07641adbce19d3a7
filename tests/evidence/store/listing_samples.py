"""Made-up servers for the lists."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal

from evidence.model import Run, Server, ServerRef, Status, Trigger
from evidence.store import ListedScore, ListedServer, RunState, Store
from evidence.store.listing.values import ServerFacets
from tests.evidence.store.build import AS_OF

RUN = "20261122T030000Z-1"
RUBRICS = (("adaptive", 1), ("lint", 1), ("lint", 2))
WORDS = ("weather", "mail", "Files", "github", "search", "maps", "größe", "天気")


def make_server(ref: str, name: str, registries: tuple[str, ...] = ("official",)) -> Server:
    return Server(ref=ref, name=name, seen_in=registries)


def make_listed(server: Server, chance: random.Random, run: str = RUN) -> ListedServer:
    """A server with verdicts by chance; ties are common, and some verdicts are missing."""
    state = chance.choice(("measured", "partial", "not_testable"))
    return ListedServer(
        server=server,
        run=run,
        as_of=AS_OF - timedelta(hours=chance.randrange(3)),
        state=state,
        reason=chance.choice(("unreachable", "oauth_required")) if state == "not_testable" else None,
        ecosystem=chance.choice(("remote", "npm", "pypi")),
        registries=server.seen_in,
        tools=chance.choice((None, 0, 3)),
        gate=chance.random() < 0.5,
        badges=("lab_tested",) if chance.random() < 0.3 else (),
        scores=tuple(make_score(*name, chance) for name in RUBRICS if chance.random() < 0.9),
        facets=make_facets(random.Random(server.ref)),
    )


def make_facets(chance: random.Random) -> ServerFacets:
    return ServerFacets(
        categories=tuple(chance.sample(("code", "data", "time"), chance.randint(1, 2))),
        transport=chance.choice(("stdio", "sse", "")),
        access=chance.choice(("open", "credentials", "")),
        read_only=chance.choice(("yes", "no", "")),
        advisories=chance.choice(("yes", "no", "")),
    )


def make_score(rubric: str, version: int, chance: random.Random) -> ListedScore:
    if chance.random() < 0.2:
        return ListedScore(
            rubric=rubric,
            version=version,
            score=None,
            grade=None,
            floor=Decimal(0),
            ceiling=Decimal(100),
            coverage=Decimal(0),
            not_measured="not_collected",
        )
    score = Decimal(chance.choice(("0", "12.5", "70", "70.01", "100")))
    return ListedScore(
        rubric=rubric,
        version=version,
        score=score,
        grade="A" if score > 70 else "F",
        floor=min(score, Decimal(chance.choice(("0", "12.5", "70")))),
        ceiling=Decimal(100),
        coverage=Decimal(chance.choice(("0.25", "0.5", "1"))),
        thin=chance.random() < 0.1,
    )


def make_many(count: int, seed: int = 1, run: str = RUN) -> list[ListedServer]:
    """So many servers in the order of their ids."""
    chance = random.Random(seed)
    servers = [
        make_server(
            f"npm:{chance.choice(WORDS)}-{number}",
            f"io.example/{chance.choice(WORDS)}-{chance.choice(WORDS)}",
            chance.choice((("official",), ("starter",), ("official", "starter"))),
        )
        for number in range(count)
    ]
    return [make_listed(server, chance, run) for server in sorted(servers, key=lambda one: one.id)]


def know(store: Store, servers: Iterable[Server], run: str = RUN, state: RunState | None = RunState.PUBLISHED) -> None:
    """A run of these servers, and the servers."""
    store.add_run(Run(id=run, trigger=Trigger.NIGHTLY, as_of=AS_OF, pins={"commit": "abc"}))
    refs = [(server, _ref(server, registry)) for server in servers for registry in server.seen_in]
    for registry in {ref.registry for _, ref in refs}:
        page = [(server, ref) for server, ref in refs if ref.registry == registry]
        store.put_registry_page(run, registry, page, cursor=None, done=True, at=AS_OF)
    if state is not None:
        store.plan_run(run, [server.id for server in servers], AS_OF)
        store.set_run_state(run, state, AS_OF)


def show(store: Store, rows: Sequence[ListedServer], run: str = RUN, front: bytes = b"{}") -> None:
    """Put servers in the lists, with their run."""
    know(store, [one.server for one in rows], run)
    store.listing.write_listing(run, rows, lambda: front)


def _ref(server: Server, registry: str) -> ServerRef:
    return ServerRef(registry=registry, name=server.ref, version="1", status=Status.ACTIVE, entry=b"{}")
