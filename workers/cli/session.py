"""Helpers of commands: logging, the store, a run by name, a server by any of its names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evidence.model import Server, Trigger
from evidence.store import RunRow, RunState
from workers.cli.display.console import ExitCode, exit_with_error, print_note
from workers.cli.error_boundary import explain_failures
from workers.log import configure_logging
from workers.runs.rescore_origin import is_rescored
from workers.settings.environment import Settings, is_set, read_settings

if TYPE_CHECKING:
    from evidence.store import Store

LATEST = "latest"
_LOOK_BACK = 100
_WHOLE = (Trigger.NIGHTLY, Trigger.LOCAL)  # a re-test covers one server


def configure_command_logging(settings: Settings, level: str = "warning") -> None:
    """Log events of `level` and above, which keeps the output readable, unless the settings have a level."""
    chosen = settings.log_level if is_set("log_level") else level
    configure_logging(chosen, settings.log_format)


@contextmanager
def open_read_store(*, make: bool = False) -> Iterator[Store]:
    """The store of the settings, for commands that measure nothing; exits with advice when there is no database.

    With `make` a missing database is created, for commands that are useful before the first run.
    """
    from evidence.store import open_store  # noqa: PLC0415  with the tables, which a scan does not need

    with explain_failures():
        settings = read_settings()
        if settings.database_url is None and make:
            settings.home.mkdir(parents=True, exist_ok=True)
        elif settings.database_url is None and not (settings.home / "hallmark.db").exists():
            exit_with_error(
                f"no run yet: there is no database in {settings.home}. `hallmark run` creates one", ExitCode.NOTHING
            )
        store = open_store(settings.store_url)
        try:
            store.migrate()
            yield store
        finally:
            store.close()


def find_run(store: Store, name: str | None) -> RunRow:
    """A run by id or its beginning; `latest` or None is the newest published run, else the newest run.

    A run that was rescored with all rubrics replaces the run whose evidence it shares.
    """
    if name and name != LATEST and (exact := store.find_run(name)):
        return exact
    if not name or name == LATEST:
        return _latest(store.list_runs(_LOOK_BACK, triggers=_WHOLE))
    beginning = [row for row in store.list_runs(_LOOK_BACK) if row.run.id.startswith(name)]
    matching = [row for row in beginning if not is_rescored(row)] or beginning
    if len(matching) != 1:
        found = "none" if not matching else ", ".join(row.run.id for row in matching[:5])
        exit_with_error(
            f"expected the id of one run or `latest`, found {found} for {name!r}. `hallmark runs` lists them",
            ExitCode.USAGE,
        )
    return matching[0]


def find_server(store: Store, text: str, *, otherwise: str = "") -> Server:
    """The server with this id, reference or name, or the only one that contains the text.

    `otherwise` is added to the message when no server matches.
    """
    found = store.search_servers(text)
    if not found:
        hint = "`hallmark list` shows them; give an id, reference, name or part of one"
        exit_with_error(f"no server matches {text!r}. {hint}{otherwise}", ExitCode.NOTHING)
    if len(found) > 1:
        names = "\n".join(f"  {server.id}  {server.ref}" for server in found[:10])
        exit_with_error(f"{text!r} matches {len(found)} servers, expected one:\n{names}", ExitCode.USAGE)
    return found[0]


def _latest(runs: list[RunRow]) -> RunRow:
    if not runs:
        exit_with_error("no run yet. `hallmark run` starts one", ExitCode.NOTHING)
    published = [row for row in runs if row.state is RunState.PUBLISHED and not row.is_partial]
    if not published:
        print_note(f"no run is published yet; showing the unfinished run {runs[0].run.id}")
        return runs[0]
    return max(published, key=lambda row: (row.run.as_of, row.published_at or row.run.as_of))
