"""Stores for tests of the API: two nights of made-up servers with their lists."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from evidence.model import Dossier, Reason
from evidence.store import Store
from publish.publication.listing_writer import write_listing
from tests.publish import projects, samples
from tests.publish.filled_stores import fill, stored

__all__ = ["EARLIER", "RUN", "publish", "servers", "stored"]

EARLIER = replace(samples.RUN, id="run_20260228T030000Z_0001", as_of=samples.AS_OF - timedelta(days=1))
RUN = samples.RUN


def servers() -> list[Dossier]:
    """Ordinary ones, one with a project, absent ones and a hostile one."""
    first, *others = samples.dossiers(9)
    return [
        projects.with_project(first),
        *others,
        samples.absent_dossier(Reason.OAUTH_REQUIRED, "answered 401"),
        samples.hostile_dossier(),
    ]


def publish(store: Store, dossiers: Sequence[Dossier]) -> None:
    """Two published nights of the same servers, and the lists of the second."""
    before = [replace(dossier, as_of=EARLIER.as_of) for dossier in dossiers]
    fill(store, before, EARLIER)
    fill(store, dossiers)
    write_listing(store, RUN)
