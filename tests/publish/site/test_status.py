"""How runs went, as anybody may know it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta

import orjson

from evidence.model import Dossier, Run, Trigger
from evidence.store import RunAction, RunEvent, RunState, Store, open_store
from publish.views.runs import list_runs
from tests.publish import samples
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]
LATER = Run(
    id="run_20260302T030000Z_0001",
    trigger=Trigger.NIGHTLY,
    as_of=samples.AS_OF + timedelta(days=1),
    pins={"code": "0.1.0"},
)


def manifest(absent: dict[str, int]) -> bytes:
    return orjson.dumps({"counts": {"planned": 200, "carried": 100, "collected": 199, "scored": 198, "absent": absent}})


def published(make_store: MakeStore, absent: dict[str, int]) -> Store:
    store = make_store(samples.dossiers(3))
    store.put_snapshot(samples.RUN.id, manifest(absent), samples.AS_OF)
    return store


def act(store: Store, what: RunAction, note: str) -> None:
    store.apply_run_action(LATER.id, RunEvent(at=LATER.as_of, who="operator-name", what=what, note=note))


def test_before_any_run_it_says_what_to_do(site_of: SiteOf, tmp_path: object) -> None:
    store = open_store(f"sqlite:///{tmp_path}/empty.db")
    store.migrate()
    assert "Nothing is published yet" in site_of(store).get("/status").text


def test_it_counts_what_failed_through_us_among_those_whose_turn_it_was(make_store: MakeStore) -> None:
    store = published(make_store, {"listing/collector_error": 4, "listing/unreachable": 10, "source/too_large": 90})
    (night,) = list_runs(store)
    assert night.counts is not None
    assert night.counts.own_failures == 0.04
    assert [(one.reason, one.servers) for one in night.counts.outcomes] == [("unreachable", 10), ("collector_error", 4)]


def test_an_outage_of_ours_is_said_first_and_counts_as_our_failure(make_store: MakeStore, site_of: SiteOf) -> None:
    store = published(make_store, {"listing/collector_offline": 4, "exchanges/collector_offline": 4})
    (night,) = list_runs(store)
    assert night.counts is not None
    assert night.counts.own_failures == 0.04
    page = site_of(store).get("/status").text
    assert page.index("did not collect: listing of 4 servers.") < page.index("<dt>State</dt>")


def test_outcomes_are_shown_with_their_meaning(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(published(make_store, {"listing/collector_error": 4})).get("/status").text
    assert "collector error" in page
    assert "4 %" in page
    assert "our limit, not the server's" in page
    assert "100 were not due" in page


def test_a_withheld_night_says_why_and_an_operators_words_stay_private(make_store: MakeStore, site_of: SiteOf) -> None:
    store = published(make_store, {})
    store.add_run(LATER)
    store.plan_run(LATER.id, [], LATER.as_of)
    act(store, RunAction.WITHHELD, "12 of 100 servers (12.0%, at most 5.0% allowed) have no listing")
    act(store, RunAction.CANCELLED, "customer X complained")
    page = site_of(store).get("/status").text
    assert "12 of 100 servers" in page
    assert "cancelled" in page
    assert "customer X" not in page
    assert "operator-name" not in page


def test_a_run_under_way_is_counted_again_after_a_while(make_store: MakeStore, site_of: SiteOf) -> None:
    store, backend = published(make_store, {}), PlainBackend()
    site = site_of(store, backend)
    assert "Under way" not in site.get("/status").text
    store.add_run(LATER)
    store.plan_run(LATER.id, [dossier.server.id for dossier in samples.dossiers(3)], LATER.as_of)
    assert store.find_run(LATER.id).state is RunState.PLANNED  # type: ignore[union-attr]
    assert "Under way" not in site.get("/status").text
    backend.seconds += 31
    page = site.get("/status").text
    assert "Under way" in page
    assert re.search(r'score</th><td class="num">0</td><td class="num">3<', page)
