"""User ids with many existing processes are assigned last."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

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


def test_a_kernel_without_user_namespaces_lacks_no_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_ids, "OWN_PROCESS", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert user_ids.find_unmapped_id() is None
    for name in ("uid_map", "gid_map"):
        (tmp_path / name).write_text("0 100000 64130\n")
    assert user_ids.find_unmapped_id() == 64130
