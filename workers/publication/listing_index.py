"""Keeps the board right beside publication: made where there is none, without those who asked to be left alone."""

from __future__ import annotations

from evidence.store import Store
from publish.publication import listing_writer
from workers.opt_outs import load_opt_outs
from workers.settings.environment import Settings


def ensure_listing_index(settings: Settings, store: Store) -> bool:
    """Have the newest published run on the board; whether it had to be put there, which takes a while.

    That is so once: for what was published by a version that knew no board, and for what was scored again. A run that
    was scored again under some rubrics only is read by its id alone. May be interrupted and repeated.
    """
    runs = [row.run for row in store.listing.list_published_runs() if not row.is_partial]
    is_missing = bool(runs) and store.listing.find_newest_run() != runs[0].id
    if is_missing:
        listing_writer.write_listing(store, runs[0])
    hide_opted_out(settings, store)
    return is_missing


def hide_opted_out(settings: Settings, store: Store) -> None:
    """Hide exactly the listed servers that have opted out."""
    asked = load_opt_outs(settings, store)
    store.listing.set_hidden_servers(
        [server.id for server in store.listing.read_all_servers() if asked.why(server)] if asked else []
    )
