"""Processes that misbehave through full probes: each ends in time, and fails only what it truly fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import pytest
from msgspec import structs

from evidence.model import Absent, Reason
from tests.conformance.mishandling import HASTY, PROBE, Suffered
from tests.conformance.probing import look, prober
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.sampling import collected, some

pytestmark = pytest.mark.xdist_group("hostile processes")

# Which checks each one fails; a reason for those that do not open.
EXPECTED: Mapping[str, frozenset[str] | Reason] = {
    "good": frozenset(),
    "banner": frozenset({"IO-01"}),
    "json_logs": frozenset({"IO-01"}),
    "chatters": frozenset({"IO-01"}),
    "windows_lines": frozenset(),
    "halves_of_lines": frozenset(),
    "in_batches": frozenset(),
    "asks_back": frozenset(),
    "late_answer": frozenset(),
    "answers_twice": frozenset(),
    "floods_before_each": frozenset(),
    "floods_stderr": frozenset(),
    "wrong_ids": frozenset({"JSON-01", "IO-05"}),
    "dies_on_list": frozenset(),
    "dies_on_ping": frozenset(),
    "dies_on_discover": frozenset(),
    "slow_to_ping": frozenset(),
    "never_reads": frozenset(),
    "outlives_its_input": frozenset(),
    "talks_after_its_input": frozenset(),
    "silent": Reason.TIMEOUT,
    "exits": Reason.START_FAILED,
    "closes_stdout": Reason.START_FAILED,
    "endless_line": Reason.TOO_LARGE,
    "endless_lines": Reason.TOO_LARGE,
    "deep_json": Reason.TOO_LARGE,
    "endless_number": Reason.TOO_LARGE,
    "wants_key": Reason.CREDENTIALS_REQUIRED,
}
TOTAL = 20.0


@pytest.fixture(scope="module")
def suffered(request: pytest.FixtureRequest) -> Mapping[str, Suffered]:
    chosen = collected(request, "name") or EXPECTED
    turns = asyncio.Semaphore(6)
    limits = structs.replace(PROBE, total=TOTAL, stdio_answer=10)

    async def one(name: str) -> Suffered:
        launcher = PipeLauncher()
        async with turns:
            began = time.monotonic()
            target = module("tests.servers.hostile_stdio", name)
            found = await look(prober(limits=HASTY, probe=limits, launcher=launcher), target)
            assert all(process.stops >= 1 for process in launcher.launched)
            return Suffered(found, time.monotonic() - began)

    async def all_of_them() -> Mapping[str, Suffered]:
        return dict(zip(chosen, await asyncio.gather(*map(one, chosen)), strict=True))

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("name", some(EXPECTED, 12))
def test_a_hostile_process_fails_only_what_it_truly_fails(suffered: Mapping[str, Suffered], name: str) -> None:
    probed, expected = suffered[name].probed, EXPECTED[name]
    content = probed.listing.content

    if isinstance(content, Absent):
        assert content.reason is expected
    else:
        assert set(probed.failed()) == expected, probed.failed()


def test_no_process_keeps_a_probe_beyond_its_time(suffered: Mapping[str, Suffered]) -> None:
    # Two processes may be met, one for each era, and each has five seconds to leave.
    late = {name: one.seconds for name, one in suffered.items() if one.seconds > 2 * (TOTAL + 5) + 30}

    assert late == {}
