"""The GraphQL query: what it names exists, what it asks for is bounded, and what it costs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from graphql import parse

from crawler.collectors.repository.graphql_query import build_query, build_variables
from tests.crawler.collectors.repository.local_github import NOW, lively
from tests.servers.github.graphql import Execution, Invalid
from tests.servers.github.world import World

SINCE = datetime(2025, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize("size", [1, 20, 25])
def test_it_parses_and_names_only_what_the_local_github_knows(size: int) -> None:
    world = World()
    names = [f"octo/r{place}" for place in range(size)]
    world.add(*(lively(name) for name in names))
    parse(build_query(size))
    execution = Execution(world, build_query(size), build_variables(names, SINCE), "token")
    assert [data["nameWithOwner"] for data in execution.data().values()] == names
    assert execution.errors == []


def test_the_local_github_refuses_what_it_does_not_know() -> None:
    world = World()
    world.add(lively())
    unknown = build_query(1).replace("isTemplate", "isTemplated")
    with pytest.raises(Invalid, match="isTemplated"):
        Execution(world, unknown, build_variables(["octo/lively"], SINCE), "token").data()


def test_a_full_query_stays_far_from_githubs_bounds() -> None:
    """https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api."""
    names = [f"octo/r{place}" for place in range(20)]
    execution = Execution(World(), build_query(20), build_variables(names, NOW), "token")
    assert execution.nodes < 100_000
    assert execution.cost <= 20, "a point per repository: 5,000 an hour and token"


def test_names_travel_in_variables() -> None:
    given = build_variables(["octo/a", "octo/b"], SINCE)
    assert given == {"since": "2025-11-01T00:00:00Z", "o0": "octo", "n0": "a", "o1": "octo", "n1": "b"}
    assert "octo" not in build_query(2)
