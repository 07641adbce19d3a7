"""Stores whose runs are in the lists, as publication leaves them, and pages read as a browser would read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from httpx2 import Response
from msgspec.structs import replace
from starlette.testclient import TestClient

from evidence.kinds import listing
from evidence.kinds.listing import Listing
from evidence.model import Dossier, Observed, Run, ServerRef, Status, Trigger
from evidence.store import RunState, Store
from publish.publication.listing_writer import write_listing
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results.scorecard import Scorecard
from tests.publish import samples
from tests.publish.filled_stores import stored
from tests.publish.reports import Page

PUBLISHED = RunState.PUBLISHED


def night(number: int, **pins: str) -> Run:
    """A run, one day later for each number."""
    at = samples.AS_OF + timedelta(days=number)
    return Run(id=f"run_{at:%Y%m%dT%H%M%SZ}_0001", trigger=Trigger.LOCAL, as_of=at, pins={**samples.RUN.pins, **pins})


def judged(dossier: Dossier) -> list[Scorecard]:
    """The receipts that the methodologies really give."""
    assessment = assess_dossier(dossier)
    return [rubric.score(assessment) for rubric in catalogue.list_rubrics()]


def put(
    store: Store,
    run: Run,
    dossiers: Sequence[Dossier],
    cards: Iterable[Scorecard],
    state: RunState = RunState.PUBLISHED,
) -> Store:
    """Store a run with these receipts, and post it when it is published."""
    store.add_run(run)
    dossiers = [replace(dossier, as_of=run.as_of) for dossier in dossiers]
    refs = [
        (
            dossier.server,
            ServerRef(registry="starter", name=dossier.server.name, version="1.0.0", status=Status.ACTIVE, entry=b"{}"),
        )
        for dossier in dossiers
    ]
    store.put_registry_page(run.id, "starter", refs, cursor=None, done=True, at=run.as_of)
    ids = [dossier.server.id for dossier in dossiers]
    store.plan_run(run.id, ids, run.as_of)
    records = [replace(record, observed_at=run.as_of) for dossier in dossiers for record in dossier.records.values()]
    store.put_records(run.id, records, done=ids, at=run.as_of)
    store.put_scorecards(run.id, [stored(replace(card, as_of=run.as_of)) for card in cards], done=ids, at=run.as_of)
    store.set_run_state(run.id, state, run.as_of)
    if state is PUBLISHED:
        write_listing(store, run)
    return store


def with_tools(dossier: Dossier, tools: Sequence[Any]) -> Dossier:
    """The dossier with a listing of these tools."""
    content = dossier.records[listing.KIND].content
    assert isinstance(content, Observed)
    body = json.loads(content.body)
    body["lists"]["tools"] = {"declared": True, "end": "complete", "error": None, "pages": [{"tools": list(tools)}]}
    seen = Observed(json.dumps(body).encode())
    assert len(Listing.parse(seen.body).tools.items) == len(tools)
    record = replace(dossier.records[listing.KIND], content=seen)
    return replace(dossier, records={**dossier.records, listing.KIND: record})


def read(site: TestClient, path: str, status: int = 200) -> Page:
    """A page, which must be answered and be well-formed."""
    return parse(site.get(path), status)


def parse(answer: Response, status: int = 200) -> Page:
    """The page of an answer, which must be well-formed."""
    path = answer.request.url.path
    assert answer.status_code == status, (path, answer.status_code, answer.text[:300])
    page = Page()
    page.feed(answer.text)
    page.close()
    assert not (wrong := faults(page)), (path, wrong)
    return page


def faults(page: Page) -> list[str]:
    """Everything wrong with a page by itself; forms are what the site has and a report has not."""
    found = [fault for fault in page.faults if fault != "element form"]
    found += [f"{tag} is never closed" for tag in page.stack]
    found += [f"id {key} {count} times" for key, count in page.ids.items() if count > 1]
    found += [f"aria-labelledby {key}" for key in page.referred if key not in page.ids]
    jumps = zip([0, *page.headings], page.headings, strict=False)
    found += [f"h{after} after h{before}" for before, after in jumps if after > before + 1]
    found += [f"{page.headings.count(1)} first headings"] if page.headings.count(1) != 1 else []
    return found
