"""Real servers and the official suite, from the user's own package indexes; run by `make live`."""

from __future__ import annotations

import pytest

from tests.conformance import official, thirty
from tests.conformance.judged import JUDGED
from tests.servers.control.running import control

pytestmark = pytest.mark.live


def test_real_servers_fail_only_what_was_judged_by_the_specification() -> None:
    looked = [thirty.look(start) for start in thirty.SERVERS]

    failures = {(one.check, one.message) for found in looked for one in found.failures}
    assert failures - set(JUDGED) == set()
    assert len([one for one in looked if not one.problem]) >= 50


@pytest.mark.parametrize("revision", official.REQUIRED)
def test_the_control_passes_every_required_scenario_of_the_official_suite(revision: str) -> None:
    with control("streamable-http") as target:
        ran = official.run(target.identifier, revision)

    passed, required = ran.scenarios(scored=True)
    assert (ran.status, passed) == (0, required)
    assert required >= 30
