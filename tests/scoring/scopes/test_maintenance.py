"""Maintenance is judged by what a project of its size can be expected to do."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.results.outcome import NotMeasured
from scoring.scopes.maintenance import (
    ACTIVITY,
    RELEASES,
    RESPONSE,
    GracePeriod,
    ProjectSize,
    compute_points,
    compute_scale,
)
from tests.sampling import examples

ALONE = ProjectSize(contributors=0, stars=0, issues=0)
LARGE = ProjectSize(contributors=50, stars=5000, issues=500)
SPANS = [ACTIVITY, RELEASES, RESPONSE]
PROJECTS = st.builds(
    ProjectSize, contributors=st.integers(0, 5000), stars=st.integers(0, 200_000), issues=st.integers(0, 50_000)
)


def number(result: Decimal | NotMeasured) -> Decimal:
    assert isinstance(result, Decimal)
    return result


def test_scale_runs_from_no_contributor_to_a_large_project() -> None:
    assert compute_scale(ALONE) == 0
    assert compute_scale(LARGE) == compute_scale(ProjectSize(contributors=900, stars=10**6, issues=10**6)) == 1
    assert 0 < compute_scale(ProjectSize(contributors=2, stars=30, issues=5)) < Decimal("0.5")


@pytest.mark.parametrize("patience", SPANS)
def test_grace_and_limit_are_the_written_ones(patience: GracePeriod) -> None:
    for project, grace, limit in (
        (ALONE, patience.grace_small, patience.limit_small),
        (LARGE, patience.grace_large, patience.limit_large),
    ):
        assert compute_points(grace, patience, project) == 10
        assert 0 < number(compute_points(grace + 1, patience, project)) < 10
        assert 0 < number(compute_points(limit - 1, patience, project)) < 10
        assert compute_points(limit, patience, project) == 0


def test_half_a_year_of_rest_costs_a_large_project_and_not_a_lone_maintainer() -> None:
    assert compute_points(180, ACTIVITY, ALONE) == 10
    assert number(compute_points(180, ACTIVITY, LARGE)) < 7


def test_an_archived_project_has_no_activity_and_a_missing_event_is_not_a_zero() -> None:
    assert compute_points(1, ACTIVITY, LARGE, archived=True) == 0
    assert isinstance(compute_points(None, RELEASES, ALONE), NotMeasured)


@settings(derandomize=True, max_examples=examples(200), deadline=None)
@given(PROJECTS, st.integers(0, 2000), st.integers(0, 2000), st.sampled_from(SPANS))
def test_more_days_and_more_size_never_bring_more_points(
    project: ProjectSize, days: int, more: int, patience: GracePeriod
) -> None:
    here = number(compute_points(days, patience, project))
    assert 0 <= here <= 10
    assert number(compute_points(days + more, patience, project)) <= here
    larger = ProjectSize(contributors=project.contributors + more, stars=project.stars, issues=project.issues)
    assert number(compute_points(days, patience, larger)) <= here
