"""A package's `engines.node` excludes our Node only if it certainly does."""

from __future__ import annotations

import pytest

from crawler.sandbox.node_versions import excludes_node
from tests.durations import cpu_below


@pytest.mark.parametrize(
    "engines",
    ["<24", ">=25", "^22", "~24.1", "20", "20.x", "18.x || 20.x", ">= 18 < 23", "16 - 22", "v22.1.0", ">24", "=24.18"],
)
def test_ranges_that_exclude_it(engines: str) -> None:
    assert excludes_node(engines, "24.19.0")


@pytest.mark.parametrize(
    "engines",
    ["", "*", ">=18", ">=18 <25", "^24", "~24.19", "24", "24.x", "18 || 24", "16 - 24", "<=24", ">=18.0.0"],
)
def test_ranges_that_admit_it(engines: str) -> None:
    assert not excludes_node(engines, "24.19.0")


@pytest.mark.parametrize("engines", ["current", "node", ">=nonsense", "<24 || lts/*", "^24.2.0 || <2"])
def test_ranges_that_are_not_understood_exclude_nothing(engines: str) -> None:
    assert not excludes_node(engines, "24.19.0")


def test_hostile_ranges_cost_nothing() -> None:
    with cpu_below(1):
        for text in ("1 " * 100_000, "1.x" * 66, "|| " * 66, "<" * 200):
            excludes_node(text, "24.19.0")
