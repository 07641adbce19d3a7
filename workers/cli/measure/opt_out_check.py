"""Checks opt-outs before a server is scanned by hand."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.opt_outs import OptOutList
from evidence.model import Server
from evidence.store import NotMigrated, StoreUnavailable, open_store
from workers.cli.display.console import ExitCode, exit_with_error
from workers.opt_outs import load_opt_out_file, load_opt_outs
from workers.settings.environment import Settings

ANYWAY_HINT = "--anyway looks at it all the same: for the server's own people, or when they asked you to."


def refuse_opted_out(settings: Settings, server: Server) -> None:
    """Fail when the operator's file or the table of this installation says that a server is not to be looked at.

    Also when the table cannot be read: who is in it must not be contacted by mistake.
    """
    try:
        found = next((why for one, entries in _known(settings, server) if (why := entries.why(one))), None)
    except StoreUnavailable as error:
        exit_with_error(
            f"expected to read who asked not to be looked at; {error}. --anyway looks without asking.", ExitCode.FAILURE
        )
    if found is not None:
        exit_with_error(f"{server.ref} is left alone: {found.detail}. {ANYWAY_HINT}", ExitCode.NOTHING)


def _known(settings: Settings, server: Server) -> Iterator[tuple[Server, OptOutList]]:
    """The server as it was given and the file, then as the store knows it and both lists."""
    yield server, load_opt_out_file(settings)
    if settings.database_url is None and not (settings.home / "hallmark.db").exists():
        return  # a scan needs no database, and makes none
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
