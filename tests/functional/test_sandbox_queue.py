"""A package is installed and probed by the worker of the queue `sandbox`, and by no other."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from crawler.sandbox import build_rootfs, check_bubblewrap
from evidence.kinds import behaviour, listing
from evidence.kinds.listing import Listing
from evidence.model import Observed
from evidence.store import Stage
from tests.crawler.sandbox.index_server import IndexServer
from tests.functional.cluster import running_cluster
from tests.functional.processes import NIGHTLY, opened, until
from tests.servers import registry
from tests.servers.postgres import PostgresServer
from tests.servers.registry_entries import rows_of
from tests.servers.valkey import ValkeyServer
from workers import schedule

# Two workers, beat and a database take some 15 s of a processor.
pytestmark = [pytest.mark.xdist_group("functional-celery"), pytest.mark.soak]

SERVER = """#!/usr/bin/env node
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const tool = { name: "get_note", description: "Reads a note.", inputSchema: { type: "object", properties: {} } };
require("net").connect(443, "192.0.2.1").on("error", () => {});
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const { protocolVersion } = params ?? {};
  const answers = {
    initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "queued", version: "1.0.0" } },
    "tools/list": { tools: [tool] },
  };
  say(id, answers[method] ?? { content: [] });
});
"""


def entry(name: str) -> dict[str, object]:
    package = {"registryType": "npm", "identifier": name, "version": "1.0.0", "transport": {"type": "stdio"}}
    return {"name": f"com.example/{name}", "description": "Queued", "version": "1.0.0", "packages": [package]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose cache has the root file system that all tests share, and no package."""
    if not (state := check_bubblewrap()).ok:
        if "sandbox" in os.environ.get("HALLMARK_REQUIRE", "").split(","):
            pytest.fail(f"{state.why}; {state.fix}")
        pytest.skip(f"no sandbox here: {state.why}")
    shared = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hallmark"
    shared = Path(os.environ.get("HALLMARK_CACHE") or shared).resolve()
    asyncio.run(build_rootfs(shared, environ=os.environ))
    (tmp_path / "cache").mkdir()
    for part in ("rootfs", "tools"):
        (tmp_path / "cache" / part).symlink_to(shared / part)
    return tmp_path


def test_packages_are_installed_and_probed_by_the_worker_of_their_queue(
    home: Path, postgres: PostgresServer, valkey: ValkeyServer
) -> None:
    api = registry.RegistryApi(rows_of([entry("queued"), entry("missing")]))
    with (
        IndexServer() as index,
        registry.running(api) as url,
        running_cluster(home, postgres, valkey, url) as cluster,
    ):
        index.add_npm("queued", files={"server.js": SERVER})
        for name, value in {**index.environ(str(home)), "HALLMARK_SANDBOX": "auto"}.items():
            if name != "PATH":
                cluster.change(name, value)
        cluster.change("HALLMARK_COLLECTOR_TIMEOUT", "30")
        others = cluster.start_worker(1, queues=[name for name in schedule.QUEUES if name != schedule.SANDBOX_QUEUE])
        cluster.start_beat()
        until(lambda: _waits_for_sandbox(cluster.url), "servers wait for the sandbox", explain=cluster.log)
        assert not any("/-/" in path for path in index.asked), "another process installed it"
        cluster.start_worker(1, queues=[schedule.SANDBOX_QUEUE])
        cluster.wait_until_published()
        assert schedule.SANDBOX_SHARD not in others.log()
        with opened(cluster.url) as store:
            dossiers = store.read_dossiers(NIGHTLY, store.list_planned_servers(NIGHTLY))
            found = {each.server.ref.removeprefix("npm:"): each.records for each in dossiers}
    content = found["queued"][listing.KIND].content
    assert isinstance(content, Observed), content
    assert [each.name for each in Listing.parse(content.body).tools.items] == ["get_note"]
    assert isinstance(found["queued"][behaviour.KIND].content, Observed)
    assert not isinstance(found["missing"][listing.KIND].content, Observed)
    assert not any((home / "cache" / "work").iterdir())


def _waits_for_sandbox(url: str) -> bool:
    with opened(url) as store:
        return bool(store.find_run(NIGHTLY) and store.list_pending_servers(NIGHTLY, Stage.SANDBOX))
