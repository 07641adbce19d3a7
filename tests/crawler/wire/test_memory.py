"""Bombs cost bounded memory: the caps (4 MiB on the wire, 8 MiB inflated) and 32 MiB, in a fresh process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.sampling import some

BOUND = (4 + 8 + 32) * 1024
BOMBS = [
    "gzip_bomb", "single_gzip_bomb", "brotli", "zstd", "endless_json", "endless_stream", "endless_events",
    "endless_headers", "many_tools", "endless_line",
]  # fmt: skip


@pytest.mark.parametrize("name", some(BOMBS, 4))
def test_a_bomb_costs_bounded_memory(name: str) -> None:
    command = [sys.executable, "-m", "tests.crawler.wire.bombing", name]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert int(done.stdout) < BOUND
