"""Time limits of tasks: below the visibility timeout, handled in an event loop, and leases are released."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from tests.workers.world import settings
from workers import celery_app, schedule
from workers.settings.environment import InvalidSetting, read_settings
from workers.shutdown import watch_soft_limit


@pytest.mark.parametrize(
    "changes",
    [
        {"visibility_timeout": timedelta(minutes=20)},
        {"shard_time": timedelta(minutes=40)},
        {"collector_timeout": timedelta(minutes=40)},
        {"long_task_time": timedelta(minutes=60)},
    ],
)
def test_a_task_that_could_outlive_its_message_is_refused_at_the_start(
    tmp_path: Path, changes: dict[str, timedelta]
) -> None:
    with pytest.raises(InvalidSetting, match=r"HALLMARK_VISIBILITY_TIMEOUT is .* expected more than"):
        settings(tmp_path, **changes)


def test_every_task_has_limits_below_the_visibility_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = read_settings()
    monkeypatch.setattr(celery_app, "worker_settings", lambda: mine)
    conf = celery_app.celery_configuration()
    visible = conf["broker_transport_options"]["visibility_timeout"]
    limits = {"default": {"soft_time_limit": conf["task_soft_time_limit"], "time_limit": conf["task_time_limit"]}}
    limits |= conf["task_annotations"]
    assert set(schedule.LONG_TASKS) < set(limits)
    for limit in limits.values():
        assert limit["soft_time_limit"] < limit["time_limit"] < visible
    assert mine.shard_time + mine.collector_timeout <= timedelta(seconds=conf["task_soft_time_limit"])
    assert conf["worker_max_memory_per_child"] == mine.worker_memory * 1024


def test_the_soft_limit_is_a_flag_inside_of_a_loop_and_what_it_was_outside() -> None:
    raised: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: raised.append(number))
    try:

        async def main() -> bool:
            with watch_soft_limit() as is_over:
                assert not is_over()
                os.kill(os.getpid(), signal.SIGUSR1)
                while not is_over():
                    await asyncio.sleep(0)
                return is_over()

        assert asyncio.run(main())
        assert raised == []
        os.kill(os.getpid(), signal.SIGUSR1)
        assert raised == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)
