"""Re-tests through the queue: a row becomes a task, a run of one server, and a comparison, whatever comes twice."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidence.model import Trigger
from evidence.store import Retest, RetestState, RunState, Store
from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, PATIENCE, comparable, environment, opened, until
from tests.servers import preloaded
from workers.retests import retest_requests
from workers.retests.retest_requests import RetestAccepted
from workers.settings.environment import Settings, read_settings

pytestmark = pytest.mark.xdist_group("functional-celery-nights")


def ask(store: Store, settings: Settings, server: str, who: str) -> Retest:
    asked = retest_requests.request_retest(
        store, settings, datetime.now(UTC), server, retest_requests.identify_asker(settings, who)
    )
    assert isinstance(asked, RetestAccepted)
    return asked.retest


def states(store: Store, retests: Sequence[Retest]) -> set[RetestState]:
    found = [store.retests.find_retest(one.id) for one in retests]
    return {one.state for one in found if one is not None}


@pytest.mark.soak  # tests/workers/retests/test_execution.py does so in one process in every run
def test_rows_become_results_and_the_night_stays_what_it_was(cluster: Cluster, tmp_path: Path) -> None:
    cluster.change("HALLMARK_RETEST_EVERY", "1")
    cluster.start_worker()
    cluster.start_beat()
    night = cluster.wait_until_published()
    settings = read_settings(home=tmp_path, secret_salt="of this test")
    with opened(cluster.url) as store:
        known = store.find_servers(store.list_planned_servers(NIGHTLY))
        servers = [one.id for one in known if one.targets and one.targets[0].type.is_remote][:3]
        asked = [ask(store, settings, server, f"client-{number}") for number, server in enumerate(servers)]
        assert [ask(store, settings, one.server, "another").id for one in asked] == [one.id for one in asked]
        until(lambda: states(store, asked) == {RetestState.DONE}, "all re-tests done", explain=cluster.log)

        runs = [row for row in store.list_runs(50) if row.run.trigger is Trigger.RETEST]
        assert len(runs) == len(asked)
        assert {row.state for row in runs} == {RunState.DONE}
        for one in asked:
            report = retest_requests.report_retest(store, settings, one.id)
            assert report is not None
            assert report.retest.before == NIGHTLY
            assert report.retest.finished_at is not None
            assert report.retest.finished_at >= report.retest.asked_at
            assert [each.name for each in report.comparisons if each.changed] == []
        assert store.verify() == []
    env = environment(tmp_path, HALLMARK_DATABASE_URL=cluster.url, HALLMARK_REDIS_URL=cluster.valkey.url)
    command = [str(Path(sys.executable).parent / "hallmark"), "retest", servers[0], "--json"]
    done = preloaded.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr + cluster.log()
    report_json = json.loads(done.stdout)
    assert (report_json["state"], report_json["before"]) == ("done", asked_run(cluster, servers[0]))
    assert comparable(cluster.url, NIGHTLY) == night


def asked_run(cluster: Cluster, server: str) -> str | None:
    """The run of the last re-test but one."""
    with opened(cluster.url) as store:
        return store.retests.list_retests(2, server)[1].run
