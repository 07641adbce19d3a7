"""`hallmark samples` connects to what is due, and the next run counts it."""

from __future__ import annotations

import json
import time
from pathlib import Path

from evidence.kinds import samples
from evidence.kinds.samples import Samples
from evidence.model import Observed
from evidence.store import open_store
from tests.workers.cli.conftest import Hallmark


def test_what_was_sampled_counts_in_the_next_run(hallmark: Hallmark, home: Path, registry: Path) -> None:
    env = {
        "HALLMARK_ALLOW_PRIVATE": "true",
        "HALLMARK_REGISTRIES": json.dumps([str(registry)]),
        "HALLMARK_RETRY_PAUSE": "0",
        "HALLMARK_SANDBOX": "off",
    }
    first = ("run", "--quiet", "--registry", str(registry), "--only", "*server-0")
    assert hallmark(*first, env=env).code == 0

    wait_for_next_second()
    [row] = hallmark("samples", "--json", env=env).rows
    assert row["due"] == 20
    assert row["taken"] == 18, "one is no MCP server and one asks for patience, which says nothing of stability"
    assert hallmark("samples", "--json", env=env).rows == [{"due": 0, "taken": 0, "failed": 0}]

    wait_for_next_second()
    assert hallmark(*first, "--fresh", env=env).code == 0
    store = open_store(f"sqlite:///{home}/hallmark.db")
    run = store.list_runs()[0].run.id
    [dossier] = store.read_dossiers(run, store.list_planned_servers(run))
    store.close()
    content = dossier.read(samples.KIND)
    assert isinstance(content, Observed)
    assert Samples.parse(content.body).samples == 3


def wait_for_next_second() -> None:
    """Times of samples are whole seconds, and two samples of a server at one time count once."""
    time.sleep(1.0 - time.time() % 1.0)


def test_without_a_walk_nothing_is_due(hallmark: Hallmark) -> None:
    done = hallmark("samples")
    assert (done.code, done.out) == (0, "")
    assert "0 remotes were due" in done.err
