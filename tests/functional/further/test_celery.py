"""Beat and workers look at everything around a server as an embedded run does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.functional.cluster import running_cluster
from tests.functional.further import in_process_nights
from tests.functional.further.first_night import Before
from tests.functional.further.nights import Home
from tests.functional.processes import comparable, differing
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import ValkeyServer

pytestmark = [pytest.mark.xdist_group("functional-further"), pytest.mark.soak]


def test_beat_and_workers_export_what_an_embedded_run_does(
    before: Before, fresh: Home, tmp_path: Path, postgres: PostgresServer, valkey: ValkeyServer
) -> None:
    """The mirror of advisories is made by the deployment itself."""
    around = before.town
    fresh.changes["HALLMARK_REGISTRIES"] = json.dumps([{"name": "local", "url": str(around.registry)}])
    in_process_nights.night(fresh)
    folder = tmp_path / "cluster"
    folder.mkdir()
    with running_cluster(folder, postgres, valkey, str(around.registry)) as cluster:
        for name, value in around.settings.items():
            if name != "HALLMARK_REGISTRIES":
                cluster.change(name, value)
        cluster.start_worker()
        cluster.start_beat()
        export = cluster.wait_until_published()
    assert differing(export, comparable(fresh.url)) == []
