"""`hallmark samples` connects to what is due, and the next run counts it."""

from __future__ import annotations

import json
from pathlib import Path

from evidence.kinds import samples
from evidence.kinds.samples import Samples
from evidence.model import Observed
from evidence.store import open_store
from tests.workers.cli.conftest import Hallmark


def test_what_was_sampled_counts_in_the_next_run(process: Hallmark, home: Path, registry: Path) -> None:
    env = {
        "HALLMARK_ALLOW_PRIVATE": "true",
        "HALLMARK_REGISTRIES": json.dumps([str(registry)]),
        "HALLMARK_RETRY_PAUSE": "0",
        "HALLMARK_SANDBOX": "off",
    }
    first = ("run", "--quiet", "--registry", str(registry), "--only", "*server-0")
    assert process(*first, env=env).code == 0

    [told] = process("samples", "--json", env=env).rows
    assert told["due"] == 20
    assert told["taken"] == 18, "one is no MCP server and one asks for patience, which says nothing of stability"
    assert process("samples", "--json", env=env).rows == [{"due": 0, "taken": 0, "failed": 0}]

    assert process(*first, "--fresh", env=env).code == 0
    store = open_store(f"sqlite:///{home}/hallmark.db")
    run = store.runs()[0].run.id
    [dossier] = store.dossiers(run, store.planned(run))
    store.close()
    content = dossier.read(samples.KIND)
    assert isinstance(content, Observed)
    assert Samples.parse(content.body).samples == 3


def test_without_a_walk_nothing_is_due(hallmark: Hallmark) -> None:
    done = hallmark("samples")
    assert (done.code, done.out) == (0, "")
    assert "0 remotes were due" in done.err
