"""Opening what a command needs: settings, the store for reading, a run by name, a server by any of its names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evidence.model import Server, Trigger
from evidence.store import RunRow, RunState, Store, open_store
from workers.cli.boundary import explained
from workers.cli.console import Exit, fail, note
from workers.lineage import is_rescored
from workers.settings import Settings

LATEST = "latest"
_LOOK_BACK = 100
_WHOLE = (Trigger.NIGHTLY, Trigger.LOCAL)  # a re-test is of one server


@contextmanager
def reading(*, make: bool = False) -> Iterator[Store]:
    """The store of the settings, for commands that measure nothing; fails with what to do when there is none yet.

    `make`: it is made then, for what may be said before the first run.
    """
    with explained():
        settings = Settings()
        if settings.database_url is None and make:
            settings.home.mkdir(parents=True, exist_ok=True)
        elif settings.database_url is None and not (settings.home / "hallmark.db").exists():
            fail(f"no run yet: there is no database in {settings.home}. `hallmark run` makes one", Exit.NOTHING)
        store = open_store(settings.store_url)
        try:
            store.migrate()
            yield store
        finally:
            store.close()


def find_run(store: Store, name: str | None) -> RunRow:
    """A run by id or the beginning of one; `latest` (or nothing) is the newest published run, else the newest.

    A run that was scored again under all rubrics replaces the one whose evidence it shares.
    """
    if name and name != LATEST and (exact := store.run(name)):
        return exact
    if not name or name == LATEST:
        return _latest(store.runs(_LOOK_BACK, triggers=_WHOLE))
    beginning = [row for row in store.runs(_LOOK_BACK) if row.run.id.startswith(name)]
    matching = [row for row in beginning if not is_rescored(row)] or beginning
    if len(matching) != 1:
        found = "none" if not matching else ", ".join(row.run.id for row in matching[:5])
        fail(
            f"expected the id of one run or `latest`, found {found} for {name!r}. `hallmark runs` lists them",
            Exit.USAGE,
        )
    return matching[0]


def find_server(store: Store, text: str, *, otherwise: str = "") -> Server:
    """The one server that is meant by an id, a reference, a name or an unmistakable part of one.

    `otherwise`: what to say beside it when there is none, where the text may name something else.
    """
    found = store.find(text)
    if not found:
        known = "`hallmark list` shows them; give an id, reference, name or part of one"
        fail(f"no server matches {text!r}. {known}{otherwise}", Exit.NOTHING)
    if len(found) > 1:
        names = "\n".join(f"  {server.id}  {server.ref}" for server in found[:10])
        fail(f"{text!r} matches {len(found)} servers, expected one:\n{names}", Exit.USAGE)
    return found[0]


def _latest(runs: list[RunRow]) -> RunRow:
    if not runs:
        fail("no run yet. `hallmark run` makes one", Exit.NOTHING)
    published = [row for row in runs if row.state is RunState.PUBLISHED and not row.is_partial]
    if not published:
        note(f"no run is published yet; this is the unfinished {runs[0].run.id}")
        return runs[0]
    return max(published, key=lambda row: (row.run.as_of, row.published_at or row.run.as_of))
