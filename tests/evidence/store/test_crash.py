"""A killed writer or database leaves a sound store with exactly the committed rows."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from evidence.store import Stage, Store, StoreUnavailable, open_store
from tests.evidence.store.build import AS_OF, body, planned, record
from tests.servers import preloaded
from tests.servers.postgres import postgres_server

RUN = "20261121-1"
BATCH = 20
SERVERS = 400

_WRITE = """
import sys
from evidence.store import open_store
from tests.evidence.store.build import AS_OF, body, record
store, ids = open_store(sys.argv[1]), sys.stdin.readline().split()
for start in range(0, len(ids), 20):
    batch = ids[start : start + 20]
    print("begin", flush=True)
    store.put_records("20261121-1", [record(one, body(start, 9000)) for one in batch], done=batch, at=AS_OF)
    print("committed", flush=True)
"""


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3))])
def test_killed_writer_loses_no_committed_batch_and_leaves_no_half_one(store: Store, url: str, seed: int) -> None:
    ids = [one.id for one in planned(store, SERVERS)]
    lines = _killed_after(url, ids, random.Random(seed).randrange(1, 2 * SERVERS // BATCH - 2))
    committed = lines.count("committed")
    found = [len(dossier.records) for dossier in store.read_dossiers(RUN, ids)]
    # The batch under way may have been committed before its message was read.
    assert sum(found) in {committed * BATCH, (committed + 1) * BATCH}
    assert found == [1] * sum(found) + [0] * (SERVERS - sum(found))
    assert store.list_pending_servers(RUN, Stage.COLLECT) == ids[sum(found) :]
    assert store.verify() == []
    store.put_records(RUN, [record(one, body(1)) for one in ids], done=ids, at=AS_OF)
    assert [len(dossier.records) for dossier in store.read_dossiers(RUN, ids)] == [1] * SERVERS


def _killed_after(url: str, ids: list[str], messages: int) -> list[str]:
    """Kill the writer after so many messages; every message that it wrote."""
    with preloaded.Popen(
        [sys.executable, "-c", _WRITE, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write(" ".join(ids) + "\n")
        writer.stdin.flush()
        lines = [writer.stdout.readline().strip() for _ in range(messages)]
        writer.kill()
        return lines + writer.stdout.read().split()


def test_store_survives_a_restart_of_its_server() -> None:
    with postgres_server() as server:
        store = open_store(server.url)
        store.migrate()
        ids = [one.id for one in planned(store, 3)]
        store.put_records(RUN, [record(ids[0], body(1))], done=[ids[0]], at=AS_OF)
        server.stop()
        with pytest.raises(StoreUnavailable):
            store.list_runs()
        with pytest.raises(StoreUnavailable):
            store.put_records(RUN, [record(ids[1], body(2))], done=[ids[1]], at=AS_OF)
        server.start()
        store.put_records(RUN, [record(ids[1], body(2))], done=[ids[1]], at=AS_OF)
        server.kill()
        server.start()
        assert store.list_pending_servers(RUN, Stage.COLLECT) == [ids[2]]
        assert store.verify() == []
        store.close()
