"""Real servers and the official suite, from the user's own package indexes; run by `make live`."""

from __future__ import annotations

import pytest

from tests.conformance import official, seven
from tests.servers.control.running import control

pytestmark = pytest.mark.live

# Each confirmed by hand; docs/conformance.md has the bytes.
FAILED = {
    "FastMCP 4": {"HTTP-03"},
    "FastMCP 2": {"HTTP-03", "JSON-04"},
    "TypeScript SDK 2": {"HTTP-03"},
    "server-everything 2026.8.31, streamableHttp": {"HTTP-03", "SESS-04"},
}


def test_seven_real_servers_fail_what_was_confirmed_by_hand() -> None:
    for looked in seven.look():
        expected = next((checks for name, checks in FAILED.items() if looked.name.startswith(name)), set())
        assert set(looked.probed.failed()) == expected, looked.name


@pytest.mark.parametrize("revision", official.REVISIONS)
def test_the_control_passes_every_required_scenario_of_the_official_suite(revision: str) -> None:
    with control("streamable-http") as target:
        ran = official.run(target.identifier, revision)

    passed, required = ran.scenarios(scored=True)
    assert (ran.status, passed) == (0, required)
    assert required >= 30
