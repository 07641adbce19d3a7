"""`hallmark report`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click
from msgspec.structs import replace

from evidence.store import Store
from publish.site.static_report import NotShown, write_report
from workers.cli.display.console import print_data, print_note
from workers.cli.options import ANY_PATH
from workers.cli.session import find_run, open_read_store
from workers.clock import clock_at
from workers.publication import listing_index
from workers.settings.environment import Settings, read_settings


@click.command()
@click.argument("run", help="Id of a run, the beginning of one, or `latest`.")
@click.argument("folder", type=ANY_PATH, help="Folder of the report; an earlier report in it is replaced.")
def report(run: str, folder: Path) -> None:
    """Write the newest published run as a static HTML report: the pages of the site as files, without JavaScript.

    Example: hallmark report latest ./report
    """
    with open_read_store() as store:
        row = find_run(store, run)
        first = write_pages(read_settings(), store, row.run.id, folder)
        print_note(f"run {row.run.id}")
        print_data(str(first.absolute()))


def write_pages(settings: Settings, store: Store, run: str, folder: Path) -> Path:
    """Write the pages of the site for a run; raise NotShown unless it is the newest published run."""
    from publish.app import create_app  # noqa: PLC0415  a second of imports, which `run` does without
    from workers.web.app import SiteServices  # noqa: PLC0415

    listing_index.ensure_listing_index(settings, store)
    shown = store.listing.find_newest_run()
    if shown != run:
        raise NotShown(
            f"expected the newest published run, which is {shown or 'none yet'}; found {run}. "
            "Its pages link the earlier runs of each server"
        )
    unlimited = replace(settings, web_rate=0, web_query_time=timedelta(0))
    return write_report(create_app(store, SiteServices(unlimited, store, clock_at(settings.clock))), folder)
