"""Creates a missing listing index, and hides servers in it that have opted out."""

from __future__ import annotations

from evidence.store import Store
from publish.publication import listing_writer
from workers.opt_outs import find_opted_out_servers
from workers.settings.environment import Settings


def ensure_listing_index(settings: Settings, store: Store) -> bool:
    """Write the listing index of the newest published run if it is missing; return whether it was, which takes longer.

    It is missing after a rescore, and for runs that an older version published. A run that was rescored with some
    rubrics only is never indexed. The call may be interrupted and repeated.
    """
    runs = [row.run for row in store.listing.list_published_runs() if not row.is_partial]
    is_missing = bool(runs) and store.listing.find_newest_run() != runs[0].id
    if is_missing:
        listing_writer.write_listing(store, runs[0])
    hide_opted_out(settings, store)
    return is_missing


def hide_opted_out(settings: Settings, store: Store) -> None:
    """Hide exactly the servers that have opted out."""
    store.listing.set_hidden_servers(find_opted_out_servers(settings, store))
