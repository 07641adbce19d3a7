"""A scan of a hostile server ends within a minute, costs bounded memory, and says truly why nothing was listed."""

from __future__ import annotations

import asyncio

import pytest

from crawler.collectors.protocol import ProbeLimits
from crawler.http.connection import Limits
from tests.conformance.mishandling import CASES, served
from tests.conformance.scanning import MIB, SECONDS, Scanned, probe_as_scan, scan_all

HURRY = 20  # times as fast as a scan
WIRE = Limits(connect=10, first_byte=30 / HURRY, between_bytes=15 / HURRY, total=54 / HURRY)
PROBE = ProbeLimits(discover=10 / HURRY, total=54 / HURRY, retry_pause=5 / HURRY)
GRACE = 10.0  # seconds, on a busy machine
SILENT = {
    "nothing but a listener": "no answer within",
    "nothing but headers": "the server answered with HTTP 200 and headers, but no body came within",
    "nothing but slow bytes": "the server answered with HTTP 200 and headers, but the body did not end within",
}
"""Servers that never answer to the end, and why they were not listed, but for the seconds."""

pytestmark = pytest.mark.xdist_group("hostile")


@pytest.fixture(autouse=True)
def without_imports() -> None:
    """Instead of the fixture of this folder: processes whose memory is measured are fresh ones."""


def test_a_silent_server_does_not_keep_a_scan_beyond_its_time() -> None:
    async def run() -> list[Scanned]:
        with served() as addresses:
            return await asyncio.gather(*(probe_as_scan(name, addresses[name], WIRE, PROBE) for name in SILENT))

    found = asyncio.run(run())

    flaws = {one.name: one.list_flaws(PROBE.total + GRACE) for one in found}
    assert flaws == {name: [] for name in SILENT}
    assert {one.name: one.detail.removesuffix(" s").rstrip("0123456789.").rstrip() for one in found} == SILENT


@pytest.mark.soak
def test_every_scan_of_a_hostile_server_stays_within_its_bounds() -> None:
    async def run() -> list[Scanned]:
        return [one async for one in scan_all(list(CASES))]

    found = asyncio.run(run())

    assert len(found) == len(CASES)
    assert {one.name: one.list_flaws() for one in found if one.list_flaws()} == {}, (SECONDS, MIB)
