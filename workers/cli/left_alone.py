"""Who asked this operator not to be looked at, before somebody looks at one server by hand."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.opting_out import OptOutList
from evidence.model import Server
from evidence.store import NotMigrated, StoreUnavailable, open_store
from workers.cli.console import Exit, fail
from workers.opt_outs import from_file, opt_outs
from workers.settings import Settings

ANYWAY = "--anyway looks at it all the same: for the server's own people, or when they asked you to."


def leave_alone(settings: Settings, server: Server) -> None:
    """Fail when the operator's file or the table of this installation says that a server is not to be looked at.

    Also when the table cannot be read: who is in it must not be contacted by mistake.
    """
    try:
        found = next((why for one, entries in _known(settings, server) if (why := entries.why(one))), None)
    except StoreUnavailable as error:
        fail(f"expected to read who asked not to be looked at; {error}. --anyway looks without asking.", Exit.FAILURE)
    if found is not None:
        fail(f"{server.ref} is left alone: {found.detail}. {ANYWAY}", Exit.NOTHING)


def _known(settings: Settings, server: Server) -> Iterator[tuple[Server, OptOutList]]:
    """The server as it was given and the file, then as the store knows it and both lists."""
    yield server, from_file(settings)
    if settings.database_url is None and not (settings.home / "hallmark.db").exists():
        return  # a scan needs no database, and makes none
    store = open_store(settings.store_url)
    try:
        entries = opt_outs(settings, store)
        yield server, entries
        if (stored := store.server(server.id)) is not None:
            yield stored, entries
    except NotMigrated:
        return
    finally:
        store.close()
