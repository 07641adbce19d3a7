"""Hostile servers through full probes: each leaves its class, no question outlives its deadline, no blame is wrong."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal

import pytest
from msgspec.structs import replace

from evidence.kinds import listing, source
from evidence.model import Absent
from scoring.engine.assess import assess_dossier
from scoring.engine.walk import Walk
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from tests.conformance.mishandling import CASES, PATIENT, PATIENT_PROBE, Suffered, served, suffer
from tests.sampling import collected, some
from tests.scoring.hiding import FAILURES, hidden_ways
from tests.scoring.rich import well_kept

GRACE = 10.0
MEMORY = 150 * 1024  # KiB

pytestmark = pytest.mark.xdist_group("hostile")


@pytest.fixture(scope="module")
def addresses() -> Iterator[Mapping[str, str]]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def suffered(request: pytest.FixtureRequest, addresses: Mapping[str, str]) -> Mapping[str, Suffered]:
    chosen = collected(request, "name") or CASES
    return asyncio.run(suffer({name: address for name, address in addresses.items() if name in chosen}))


@pytest.mark.parametrize("name", some(CASES, 60))
def test_a_hostile_server_leaves_its_class_and_fails_what_it_truly_fails(
    suffered: Mapping[str, Suffered], name: str
) -> None:
    case, probed = CASES[name], suffered[name].probed
    content = probed.listing.content

    assert (content.reason if isinstance(content, Absent) else None) is case.reason
    if case.fails is not None:
        failed = probed.failed()
        assert set(failed) == case.fails, failed
    if case.sees:
        step, reason = case.sees
        seen = [exchange.failure for exchange in probed.talk() if exchange.step == step]
        assert reason in seen


def test_no_question_outlives_its_deadline(suffered: Mapping[str, Suffered]) -> None:
    late = {name: one.slowest for name, one in suffered.items() if one.slowest > PATIENT.total + GRACE}

    assert late == {}


def test_no_probe_outlives_its_deadline(suffered: Mapping[str, Suffered]) -> None:
    late = {name: one.seconds for name, one in suffered.items() if one.seconds > PATIENT_PROBE.total + GRACE}

    assert late == {}


def test_no_server_that_could_not_be_listed_has_a_headline(suffered: Mapping[str, Suffered]) -> None:
    """The project of a server that is kept well, but for its source, does not make up for a list that was not read."""
    project = {kind: record for kind, record in well_kept().records.items() if kind != source.KIND}
    unlisted = 0
    for name, one in suffered.items():
        evidence = replace(well_kept(), records={**project, **one.probed.dossier.records})
        if isinstance(one.probed.listing.content, Absent) or any(map(Walk(evidence).incomplete_end, listing.LISTS)):
            unlisted += 1
            score = ADAPTIVE_2.score(assess_dossier(evidence, [ADAPTIVE_2])).score
            assert isinstance(score, NotMeasured), (name, score)
    assert unlisted > len(suffered) / 7


@pytest.mark.parametrize(("every", "reasons"), [(20, 2), pytest.param(1, len(FAILURES), marks=pytest.mark.soak)])
def test_hiding_what_a_hostile_server_showed_never_raises_its_value(
    suffered: Mapping[str, Suffered], every: int, reasons: int
) -> None:
    """Also where the rest of its project is kept well, and its source was read."""
    for number, name in enumerate(sorted(suffered)[::every]):
        first = number * reasons % len(FAILURES)
        probed = suffered[name].probed.dossier.records
        evidence = replace(well_kept(), records={**well_kept().records, **probed})
        before = ADAPTIVE_2.score(assess_dossier(evidence, [ADAPTIVE_2]))
        for way, hidden in hidden_ways(evidence, *probed, reasons=FAILURES[first : first + reasons]):
            after = ADAPTIVE_2.score(assess_dossier(hidden, [ADAPTIVE_2]))
            assert after.floor <= before.floor, (name, way)
            assert _worth(after) <= _worth(before), (name, way)


def _worth(card: Scorecard) -> Decimal:
    return Decimal(-1) if isinstance(card.score, NotMeasured) else card.score


def test_there_are_far_more_than_seventy_behaviours() -> None:
    assert len(CASES) > 200


@pytest.mark.parametrize(("which", "many"), [("large", 25), pytest.param("", 190, marks=pytest.mark.soak)])
def test_all_that_say_anything_cost_bounded_memory(addresses: Mapping[str, str], which: str, many: int) -> None:
    command = [sys.executable, "-m", "tests.conformance.mishandling", "served", *which.split()]

    asked = json.dumps(dict(addresses))
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=300, check=True)

    count, _, peak = done.stdout.split()
    assert (int(count) > many, int(peak) < MEMORY) == (True, True), done.stdout
