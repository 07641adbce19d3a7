"""A whole installation for the browser: a store after two nights, the real app over it, and one server that answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Dossier, Observed, Run, Server, Target, TargetType, Trigger
from evidence.store import RetestState, Store, open_store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.publication.manifest import FORMAT
from scoring.engine import catalogue
from tests.dossiers import captures, recorded
from tests.publish import projects, samples
from tests.publish.judged import whole
from tests.publish.published_stores import show
from tests.servers import scripted
from tests.servers.loopback_app import on_loopback
from workers.context import open_context
from workers.event_loop import run_coroutine
from workers.retests import execution
from workers.settings.environment import Settings, read_settings
from workers.web.app import create_app

LIVE = 5
"""Which of the scripted servers answers; its recorded probe is what the site shows first."""

HUGE = 1_000_000


@dataclass(frozen=True)
class Shop:
    """The address of the site, its store and settings, and servers by what they are."""

    address: str
    store: Store
    settings: Settings
    servers: Mapping[str, Server]

    def url(self, path: str) -> str:
        """An address below the site's, with `{name}` for the id of a server."""
        return self.address + path.format(**{name: server.id for name, server in self.servers.items()})

    def retest_what_is_asked_for(self) -> None:
        """Do what a fleet does with requests, here and now."""
        failed: list[BaseException] = []

        def work() -> None:
            try:
                run_coroutine(_retest(self.settings))
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=work)  # the browser's own loop runs in this one
        thread.start()
        thread.join(60)
        if failed:
            raise failed[0]


async def _retest(settings: Settings) -> None:
    async with open_context(settings) as ctx:
        for retest in ctx.store.retests.list_retests(20):
            if retest.state is RetestState.WAITING:
                await execution.admit_retest(ctx, retest)
                await execution.run_retest(ctx, retest.id)


@contextlib.contextmanager
def open_shop(home: Path) -> Iterator[Shop]:
    """Open the site on a free port of loopback."""
    with scripted.running(LIVE + 1, seed=1) as fleet, contextlib.ExitStack() as stack:
        dossiers = stocked(f"{fleet}/s/{LIVE}/mcp")
        store = open_store(f"sqlite:///{home}/hallmark.db")
        stack.callback(store.close)
        store.migrate()
        now = datetime.now(UTC).replace(microsecond=0)
        show(store, [dated(one, now - timedelta(days=1)) for one in earlier(dossiers)], night(now - timedelta(days=1)))
        show(
            store, [dated(one, now - timedelta(hours=3)) for one in dossiers.values()], night(now - timedelta(hours=3))
        )
        newest = night(now - timedelta(hours=3))
        export_snapshot(store, ExportOrder(run=newest.id), home / "datasets" / newest.id)
        settings: list[Settings] = []

        def app(address: str) -> Any:
            settings.append(
                read_settings(
                    home=home,
                    web_url=address,
                    web_rate=0,
                    allow_private=True,
                    sandbox="off",
                    interop="off",
                    retest_cooldown=timedelta(0),
                    datasets=str(home / "datasets"),
                )
            )
            return create_app(settings[0])

        address = stack.enter_context(on_loopback(app))
        yield Shop(address, store, settings[0], {name: one.server for name, one in dossiers.items()})


def stocked(live: str) -> dict[str, Dossier]:
    """Servers of every kind that there is, by a name of ours."""
    probes, packages = recorded(), captures()
    hostile = projects.with_project(samples.hostile_dossier(), samples.HOSTILE)
    return {
        "live": moved(probes[f"scripted-{LIVE}"], live, "com.example/live"),
        "good": named(whole("https://mcp.notes.example/mcp"), "com.example/notes"),
        "package": named(whole(), "io.github.example/notes"),
        "locked": moved(probes["scripted-6"], "https://locked.example/mcp", "com.example/locked"),
        "control": moved(probes["control-modern"], "https://control.example/mcp", "com.example/control"),
        "many": packages["playwright__mcp"],
        "poor": packages["blender-mcp"],
        "hostile": hostile,
        "huge": huge(),
        **{f"plain{number}": one for number, one in enumerate(samples.dossiers(8))},
    }


def earlier(dossiers: Mapping[str, Dossier]) -> Sequence[Dossier]:
    """The night before: the good server was worse, and one was not there yet."""
    then = {name: one for name, one in dossiers.items() if name != "package"}
    poor = {kind: record for kind, record in then["good"].records.items() if kind not in {"source", "repository"}}
    return [*(one for name, one in then.items() if name != "good"), replace(then["good"], records=poor)]


def huge() -> Dossier:
    """A server whose texts are a megabyte each, without a place to break a line."""
    made = samples.dossiers(2, seed=7)[1]
    content = made.read(listing.KIND)
    assert isinstance(content, Observed)
    long = "W" * HUGE
    body = content.body.replace(b'"description":"', b'"description":"' + long.encode(), 1)
    record = replace(made.records[listing.KIND], content=Observed(body))
    return replace(made, server=replace(made.server, name=long), records={**made.records, listing.KIND: record})


def moved(evidence: Dossier, ref: str, name: str) -> Dossier:
    """The same evidence of another server."""
    target = Target(type=TargetType.STREAMABLE_HTTP, identifier=ref)
    server = Server(ref=ref, name=name, targets=(target,), seen_in=("official",))
    records = {kind: replace(record, server=server.id) for kind, record in evidence.records.items()}
    return replace(evidence, server=server, records=records)


def named(evidence: Dossier, name: str) -> Dossier:
    """The same server under another name."""
    return replace(evidence, server=replace(evidence.server, name=name, seen_in=("official",)))


def dated(evidence: Dossier, at: datetime) -> Dossier:
    """The same evidence, collected at another moment."""
    records = {kind: replace(record, observed_at=at) for kind, record in evidence.records.items()}
    return replace(evidence, as_of=at, records=records)


def night(at: datetime) -> Run:
    """A nightly run of that moment."""
    pins = {"code": "0.1.0", "dataset": str(FORMAT), **catalogue.pinned_versions()}
    return Run(id=f"{at:%Y%m%dT%H%M%SZ}-nightly", trigger=Trigger.NIGHTLY, as_of=at, pins=pins)
