"""Visits between runs are kept once, read per server and dropped when they are old."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evidence.kinds.samples import Sample
from evidence.store import Store, UnknownServer
from tests.evidence.store.build import AS_OF, LATER, planned, server

HOUR = timedelta(hours=1)


def test_samples_come_back_as_they_were_oldest_first(store: Store) -> None:
    one, two = known(store)
    late = Sample(at=AS_OF + HOUR, failure="5xx", cold_ms=12.5)
    early = Sample(at=AS_OF, cold_ms=0.1, warm_ms=3.0)
    store.put_probes([(one, late), (two, early), (one, early)], LATER)

    assert store.read_samples([one, two], AS_OF - HOUR) == {one: [early, late], two: [early]}
    assert store.read_samples([one, two], AS_OF) == {one: [late]}
    assert store.read_samples([], AS_OF - HOUR) == {}


def test_a_replay_changes_nothing(store: Store) -> None:
    one, _ = known(store)
    store.put_probes([(one, Sample(at=AS_OF))], LATER)
    store.put_probes([(one, Sample(at=AS_OF, failure="timeout"))], LATER)
    assert store.read_samples([one], AS_OF - HOUR) == {one: [Sample(at=AS_OF)]}


def test_who_was_sampled_last_and_when(store: Store) -> None:
    one, _ = known(store)
    store.put_probes([(one, Sample(at=AS_OF)), (one, Sample(at=AS_OF + HOUR))], LATER)
    assert store.read_last_probe_times() == {one: AS_OF + HOUR}


def test_a_probe_without_a_sample_is_stored_and_not_listed(store: Store) -> None:
    one, _ = known(store)
    store.put_probes([(one, None)], LATER)
    assert store.read_last_probe_times() == {one: LATER}
    assert store.read_samples([one], AS_OF) == {}


def test_old_samples_are_dropped(store: Store) -> None:
    one, _ = known(store)
    store.put_probes([(one, Sample(at=AS_OF)), (one, Sample(at=AS_OF + HOUR))], LATER)
    store.delete_probes(AS_OF + HOUR)
    assert store.read_samples([one], AS_OF - HOUR) == {one: [Sample(at=AS_OF + HOUR)]}


def test_a_sample_of_an_unknown_server_is_refused(store: Store) -> None:
    with pytest.raises(UnknownServer):
        store.put_probes([(server(9).id, Sample(at=AS_OF))], LATER)


def known(store: Store) -> tuple[str, str]:
    servers = planned(store, 2)
    return servers[0].id, servers[1].id
