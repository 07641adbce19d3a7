"""`hallmark fleet` before it starts anything."""

from __future__ import annotations

import json

import pytest

from tests.servers.daemon import free_port
from tests.workers.cli.conftest import Hallmark
from workers import schedule


def test_an_absent_redis_ends_the_command_with_advice(hallmark: Hallmark) -> None:
    found = hallmark("fleet", env={"HALLMARK_REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"})
    assert found.code == 1
    assert "expected Redis or Valkey to answer at HALLMARK_REDIS_URL, found ConnectionError" in found.err
    assert "set the address: redis://HOST:6379/0" in found.err


def test_what_would_start_is_shown_without_any_server(hallmark: Hallmark) -> None:
    shown = hallmark("fleet", "--dry-run", "--queues", "score, probe", "--no-beat", "--json")
    assert [json.loads(line)["process"] for line in shown.out.splitlines()] == ["probe", "score", "health"]
    table = hallmark("fleet", "--dry-run")
    assert [line.split()[0] for line in table.out.splitlines()] == [
        "Process", "beat", *schedule.QUEUES, "health", "site",
    ]  # fmt: skip


@pytest.mark.parametrize("queues", ["nonsense", "probe,,score", ""])
def test_unknown_queues_are_refused(hallmark: Hallmark, queues: str) -> None:
    found = hallmark("fleet", "--dry-run", "--queues", queues)
    assert found.code == 2
    assert "expected queues among probe" in found.err
