"""The Dependencies component: what each published advisory costs, and that more of them never cost less."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.kinds.advisories import Group, Reach, Severity
from scoring.analysis.advisory_costs import MAX_TOTAL_COST, compute_advisory_costs
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore
from tests.sampling import examples
from tests.scoring.rich import ADVISORIES, DEPENDENCIES, adding, changed, flaw, well_kept, without

ADAPTIVE = catalogue.get_rubric("adaptive@1")


def group(name: str = "GHSA-1", package: str = "left", **members: Any) -> Group:
    known = {"relation": Reach.DIRECT, "severity": Severity.CRITICAL, "fixed_since": "200"}
    return Group(ids=(name,), ecosystem="npm", package=package, version="1.0.0", **{**known, **members})


def age(text: str) -> int | None:
    return int(text) if text else None


def cost(*groups: Group) -> list[Decimal]:
    return compute_advisory_costs(groups, age)


def component(*groups: dict[str, Any], **members: Any) -> ComponentScore:
    body = {**ADVISORIES, "groups": list(groups), "groups_total": len(groups), **members}
    card = ADAPTIVE.score(assess_dossier(adding(well_kept(), {"advisories": body}), [ADAPTIVE]))
    security = next(part for part in card.dimensions if part.name == "security")
    return next(part for part in security.components if part.name == "dependencies")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, "5"),
        ({"severity": Severity.HIGH}, "3"),
        ({"severity": Severity.MEDIUM}, "1"),
        ({"severity": Severity.LOW}, "0.3"),
        ({"severity": Severity.UNKNOWN}, "1"),
        ({"relation": Reach.TRANSITIVE}, "2.5"),
        ({"relation": Reach.UNKNOWN}, "2.5"),
        ({"scopes": frozenset({"dev"})}, "0.5"),
        ({"scopes": frozenset({"optional"})}, "2.5"),
        ({"scopes": frozenset({"optional", "dev"})}, "0.5"),
        ({"relation": Reach.ITSELF, "scopes": frozenset({"dev"})}, "5"),
        ({"fixed_since": "30"}, "2.5"),
        ({"fixed_since": "60"}, "3.75"),
        ({"fixed_since": "90"}, "5"),
        ({"fixed_since": ""}, "2.5"),
    ],
)
def test_a_flaw_costs_severity_times_reach_times_scope_times_age(members: dict[str, Any], expected: str) -> None:
    assert cost(group(**members)) == [Decimal(expected)]


def test_malware_costs_everything_whatever_its_age() -> None:
    assert cost(group("MAL-2026-1", fixed_since="", severity=Severity.UNKNOWN)) == [MAX_TOTAL_COST]
    assert cost(group("MAL-2026-1", scopes=frozenset({"dev"}))) == [MAX_TOTAL_COST / 10]


def test_further_flaws_of_one_version_count_a_tenth() -> None:
    lesser, other = group("GHSA-2", severity=Severity.HIGH), group("GHSA-3", package="right")
    assert cost(lesser, group(), other) == [Decimal("0.3"), 5, 5]


def test_the_component_loses_at_most_nine_points_and_the_tenth_is_the_lockfile() -> None:
    many = [flaw(f"GHSA-{index}", f"package-{index}", severity="critical") for index in range(30)]
    found = component(*many)
    assert found.result == 1
    assert sum(line.points for line in found.lines) == -9
    assert len({line.points for line in found.lines[:-1]}) == 1, "every line shrinks alike"


def test_a_package_that_leaves_lockfiles_out_is_judged_by_its_flaws_alone() -> None:
    evidence = changed(well_kept(), "dependencies", origin="npm", lockfile=False)
    card = ADAPTIVE.score(assess_dossier(evidence, [ADAPTIVE]))
    security = next(part for part in card.dimensions if part.name == "security")
    assert next(part for part in security.components if part.name == "dependencies").result == 10


def test_nothing_compared_is_not_measured_and_no_dependencies_at_all_is_full() -> None:
    none = component(checked=0, unknown=[{"why": "not_a_version"}], unknown_total=1)
    assert none.result == NotMeasured("inconclusive", "advisories: not_a_version")
    assert component(checked=0).result == 10


def test_what_could_not_be_compared_opens_the_bounds_and_leaves_the_score() -> None:
    found = component(unknown=[{"why": "not_a_version"}], unknown_total=1)
    assert (found.result, found.floor, found.ceiling) == (10, 1, 10)
    cut = adding(well_kept(), {"dependencies": {**DEPENDENCIES, "complete": False}})
    security = ADAPTIVE.score(assess_dossier(cut, [ADAPTIVE])).dimensions[1]
    assert next(part for part in security.components if part.name == "dependencies").floor == 1


def test_without_a_list_of_dependencies_the_advisories_count_alone() -> None:
    card = ADAPTIVE.score(assess_dossier(without(well_kept(), "dependencies"), [ADAPTIVE]))
    assert next(part for part in card.dimensions[1].components if part.name == "dependencies").result == 10


GROUPS = st.lists(
    st.builds(
        group,
        st.sampled_from(["GHSA-1", "GHSA-2", "MAL-1"]),
        st.sampled_from(["left", "right"]),
        severity=st.sampled_from(Severity),
        relation=st.sampled_from(Reach),
        scopes=st.frozensets(st.sampled_from(["dev", "optional", "peer"])),
        fixed_since=st.sampled_from(["", "1", "45", "400"]),
    ),
    max_size=6,
)


@settings(derandomize=True, max_examples=examples(80), deadline=None)
@given(GROUPS, GROUPS, st.randoms(use_true_random=False))
def test_neither_order_nor_a_further_group_makes_flaws_cheaper(groups: Any, more: Any, random: Any) -> None:
    total = sum(cost(*groups), Decimal(0))
    shuffled = random.sample(groups, len(groups))
    assert sum(cost(*shuffled), Decimal(0)) == total
    assert sum(cost(*groups, *more), Decimal(0)) >= total
