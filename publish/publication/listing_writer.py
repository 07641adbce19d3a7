"""Writes the listing index of a run that was published before, by reading the run again."""

from __future__ import annotations

import json

from evidence.model import Run
from evidence.store import Store
from publish.publication.dashboard import ServerCounter, make_dashboard
from publish.publication.part_writer import list_controlled_servers, split_parts
from publish.publication.server_tallies import ServerTallies
from publish.views.listed_servers import count_server
from publish.views.public_servers import read_servers_to_count


def write_listing(store: Store, run: Run) -> None:
    """Write an edition of the listing index, which is shown if the run is published."""
    controlled, counter = list_controlled_servers(store), ServerCounter(store, run)
    writer, tallies = store.listing.write_edition(run.id), ServerTallies()
    for servers in split_parts(store.list_planned_servers(run.id)):
        counted = [
            count_server(server, run.id, controlled=server.dossier.server.id in controlled)
            for server in read_servers_to_count(store, run.id, servers)
        ]
        for one in counted:
            writer.add(one.listed)
        tallies.merge(counter.count(counted).as_json())
    writer.finish(json.dumps(make_dashboard(store, run, tallies)).encode())
