"""A store as it is after a night: dossiers with the receipts of every rubric, published, and in the lists."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.model import Dossier, Run, ServerRef, Status
from evidence.store import RunState, Store
from publish.publication.listing_writer import write_listing
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from tests.publish import samples
from tests.publish.filled_stores import stored


def show(store: Store, dossiers: Sequence[Dossier], run: Run = samples.RUN) -> None:
    """Collect, score and publish made-up or recorded servers, without the network."""
    store.add_run(run)
    refs = [(one.server, _ref(one)) for one in dossiers]
    store.put_registry_page(run.id, "official", refs, cursor=None, done=True, at=run.as_of)
    ids = [one.server.id for one in dossiers]
    store.plan_run(run.id, ids, run.as_of)
    records = [record for one in dossiers for record in one.records.values()]
    store.put_records(run.id, records, done=ids, at=run.as_of)
    for one in dossiers:
        assessment = assess_dossier(one)
        cards = [stored(rubric.score(assessment)) for rubric in catalogue.list_rubrics()]
        store.put_scorecards(run.id, cards, done=[one.server.id], at=run.as_of)
    write_listing(store, run)
    store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)


def _ref(one: Dossier) -> ServerRef:
    return ServerRef(registry="official", name=one.server.name, version="1", status=Status.ACTIVE, entry=b"{}")
