"""User ids with many existing processes are assigned last."""

from __future__ import annotations

import os
import subprocess

import pytest

from crawler.sandbox.kernel import user_ids


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start processes of other users")
def test_a_user_id_with_processes_left_behind_is_taken_last() -> None:
    number = 41
    user_ids._least_used.cache_clear()
    with subprocess.Popen(
        ["/bin/cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        user=user_ids.FIRST_SLOT_UID + number,
        env={},
    ) as left:
        try:
            assert left.stdin
            assert left.stdout
            left.stdin.write(b"up")
            left.stdin.flush()
            assert left.stdout.read(2) == b"up"
            order = list(user_ids._least_used())
        finally:
            left.kill()
            user_ids._least_used.cache_clear()

    assert sorted(order) == list(range(user_ids.SLOTS))
    assert order.index(number) > order.index(number + 1)
