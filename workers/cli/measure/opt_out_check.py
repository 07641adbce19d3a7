"""Refuses to scan servers that have opted out."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.opt_outs import OptOutList
from evidence.model import Server
from evidence.store import NotMigrated, StoreUnavailable
from workers.cli.display.console import ExitCode, exit_with_error
from workers.opt_outs import load_opt_out_file, load_opt_outs
from workers.settings.environment import Settings

ANYWAY_HINT = "--anyway contacts it: for its maintainers, or when they asked you to."


def refuse_opted_out(settings: Settings, server: Server) -> None:
    """Exit when a server is in the operator's file or in the table of opt-outs, or when the table cannot be read."""
    try:
        found = next((why for one, entries in _known(settings, server) if (why := entries.why(one))), None)
    except StoreUnavailable as error:
        exit_with_error(f"expected to read the opt-outs; {error}. --anyway scans without this check.", ExitCode.FAILURE)
    if found is not None:
        exit_with_error(f"{server.ref} is not contacted: {found.detail}. {ANYWAY_HINT}", ExitCode.NOTHING)


def _known(settings: Settings, server: Server) -> Iterator[tuple[Server, OptOutList]]:
    """Pairs to check: the given server with the file, then the given and the stored server with both lists."""
    yield server, load_opt_out_file(settings)
    if settings.database_url is None and not (settings.home / "hallmark.db").exists():
        return  # a scan needs no database and creates none
    from evidence.store import open_store  # noqa: PLC0415  with the tables, which most scans do not need

    store = open_store(settings.store_url)
    try:
        entries = load_opt_outs(settings, store)
        yield server, entries
        if (stored := store.find_server(server.id)) is not None:
            yield stored, entries
    except NotMigrated:
        return
    finally:
        store.close()
