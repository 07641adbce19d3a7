"""Real servers and the official suite, from the user's own package indexes; run by `make live`."""

from __future__ import annotations

import pytest

from tests.conformance import official, real_servers
from tests.conformance.judged import JUDGED
from tests.conformance.servers import Start
from tests.servers.control.running import control

pytestmark = pytest.mark.live


@pytest.mark.parametrize("start", real_servers.SERVERS)
def test_a_real_server_fails_only_what_was_judged_by_the_specification(start: Start) -> None:
    looked = real_servers.look(start)

    failures = {(one.check, one.message) for one in looked.failures}
    assert (looked.problem, failures - set(JUDGED)) == ("", set()), looked.name


@pytest.mark.parametrize("revision", official.REQUIRED)
def test_the_control_passes_every_required_scenario_of_the_official_suite(revision: str) -> None:
    with control("streamable-http") as target:
        ran = official.run(target.identifier, revision)

    passed, required = ran.scenarios(scored=True)
    assert (ran.status, passed) == (0, required)
    assert required >= 30
