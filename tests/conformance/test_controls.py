"""The positive control fails nothing: whatever we find wrong with it is a mistake of ours, so this list is exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from scoring.protocol.conformance import Verdict, list_checks
from scoring.results.outcome import Level
from tests.conformance.probing import Probed, probed
from tests.conformance.stdio_page import over_stdio
from tests.servers.control.running import control
from tests.servers.control.serving import Era

pytestmark = pytest.mark.xdist_group("controls")

# True deviations of the SDK: no server built with it can pass them. HTTP-11: it refuses the batches of 2025-03-26.
# DEP-01: this variant offers HTTP+SSE only.
OF_THE_SDK: Mapping[tuple[str, str], frozenset[str]] = {
    ("streamable-http", "dual"): frozenset({"HTTP-11"}),
    ("streamable-http", "legacy"): frozenset({"HTTP-11"}),
    ("streamable-http", "modern"): frozenset(),
    ("sse", "dual"): frozenset({"DEP-01"}),
    ("stdio", "dual"): frozenset(),
    ("stdio", "legacy"): frozenset(),
    ("stdio", "modern"): frozenset(),
}

# A truncated message on a line need not be answered; INTEROP-01 is asked elsewhere, and these probes call no tool
# (CALL-01).
UNDECIDED: Mapping[str, frozenset[str]] = {
    "streamable-http": frozenset({"INTEROP-01", "CALL-01"}),
    "sse": frozenset({"INTEROP-01", "CALL-01"}),
    "stdio": frozenset({"INTEROP-01", "CALL-01", "JSON-03"}),
}

# At least so many checks must pass, or we look at nothing.
PASSES: Mapping[tuple[str, str], int] = {
    ("streamable-http", "dual"): 75,
    ("streamable-http", "legacy"): 50,
    ("streamable-http", "modern"): 62,
    ("sse", "dual"): 34,
    ("stdio", "dual"): 50,
    ("stdio", "legacy"): 34,
    ("stdio", "modern"): 46,
}

# Checked in every run; a process is started for many of the questions, and imports the SDK each time.
OFTEN = [variant for variant in OF_THE_SDK if variant[1] != "legacy"]
VARIANTS = pytest.mark.parametrize(
    "variants", [OFTEN, pytest.param(list(OF_THE_SDK), marks=pytest.mark.soak)], ids=["often", "all"]
)

ERAS = {"dual": {"legacy", "modern"}, "legacy": {"legacy"}, "modern": {"modern"}}


@cache
def look_at(transport: str, era: str) -> Probed:
    with control(transport, Era(era)) as target:
        return probed(target)


@pytest.fixture(
    params=[pytest.param(one, marks=() if one in OFTEN else pytest.mark.soak) for one in OF_THE_SDK], ids=" ".join
)
def found(request: pytest.FixtureRequest) -> tuple[tuple[str, str], Probed]:
    return request.param, look_at(*request.param)


def test_the_control_fails_no_check(found: tuple[tuple[str, str], Probed]) -> None:
    assert found[1].failed() == {}


def test_the_control_is_warned_of_nothing_but_what_the_sdk_does(found: tuple[tuple[str, str], Probed]) -> None:
    variant, probe = found

    assert set(probe.with_verdict(Verdict.WARN)) == OF_THE_SDK[variant]


def test_every_question_to_the_control_is_settled(found: tuple[tuple[str, str], Probed]) -> None:
    (transport, _), probe = found

    assert set(probe.with_verdict(Verdict.INCONCLUSIVE)) <= UNDECIDED[transport]


def test_the_control_passes_what_it_is_asked(found: tuple[tuple[str, str], Probed]) -> None:
    variant, probe = found

    assert len(probe.with_verdict(Verdict.PASS)) >= PASSES[variant]
    eras = {exchange.connection.era for exchange in probe.talk() if exchange.connection.opened}
    assert eras == ({"legacy"} if variant[0] == "sse" else ERAS[variant[1]])


# HTTP-11: see above. STRM-01: the SDK answers these questions without a stream. SUB-01: only if the operator opted in.
# CALL-01: the upright server passes it (test_broken_musts).
NEVER_PASSED = frozenset({"HTTP-11", "STRM-01", "SUB-01", "CALL-01"})


@VARIANTS
def test_every_must_but_those_about_locked_servers_is_passed_by_a_control(variants: Sequence[tuple[str, str]]) -> None:
    passed = {name for variant in variants for name in look_at(*variant).with_verdict(Verdict.PASS)}

    musts = {check.requirement.id for check in list_checks() if check.requirement.level is Level.MUST}
    assert {name for name in musts - passed if not name.startswith("AUTH-")} == NEVER_PASSED


def _over(transport: str, variants: Sequence[tuple[str, str]]) -> set[str]:
    """Checks that can be made over a transport: the control passes or is warned of them in some era."""
    made = (Verdict.PASS, Verdict.WARN, Verdict.FAIL)
    probes = [look_at(*variant) for variant in variants if variant[0] == transport]
    return {name for probe in probes for verdict in made for name in probe.with_verdict(verdict)}


@VARIANTS
def test_over_stdio_everything_is_checked_that_the_guide_says_and_nothing_that_it_does_not(
    variants: Sequence[tuple[str, str]],
) -> None:
    said = over_stdio()
    over_http, over_pipes = _over("streamable-http", variants), _over("stdio", variants)

    assert set(said) == {check.requirement.id for check in list_checks()}
    could = {name for name in over_http if said[name] == "yes"}
    assert could - over_pipes == set()
    assert {name for name in over_pipes if said[name] == "no"} == set()
    assert {name for name in over_http - over_pipes if said[name] != "no"} == {"JSON-03"}
