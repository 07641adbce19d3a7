"""The small version of bench.history: a night in which nothing changed is cheap, and no dearer than the one before."""

from __future__ import annotations

import argparse
from itertools import pairwise

import pytest

from bench.history import KINDS, databases, measure

SERVERS = 150
NIGHTS = 6
# Tables grow by whole pages of 8 or 16 KiB, and so do the indexes beside them.
PAGES = 24 * 16_384 / SERVERS


@pytest.mark.soak
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def test_an_unchanged_night_writes_less_than_150_bytes_a_server_and_kind(database: str) -> None:
    options = argparse.Namespace(servers=SERVERS, nights=NIGHTS, checks=1, churn=0.0, unverified=False, count=0)
    nights = next(measure(url, size, options) for name, url, size in databases() if name == database)
    grown = [sum(night["bytes"].values()) for night in nights[1:]]
    assert sum(grown) / len(grown) < 150 * len(KINDS) + PAGES / len(grown)
    assert all(later < 150 * len(KINDS) + PAGES for _, later in pairwise(grown)), "the history makes no night dearer"
