"""A world, a database on a small disk where that is possible, a broker, and the night that nothing disturbed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.functional.processes import Embedded, comparable
from tests.servers.postgres import PostgresServer, postgres_server

DISK = "size=1g,mode=755"
PATIENCE = 1_200.0


@contextmanager
def database_on_a_small_disk() -> Iterator[PostgresServer]:
    """PostgreSQL on a disk of its own that a test can fill; on the disk that there is where none can be mounted."""
    with TemporaryDirectory(prefix="hallmark-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", DISK, "hallmark", folder]
        if os.geteuid() or subprocess.run(mount, check=False).returncode:
            with postgres_server() as server:
                yield server
            return
        server = PostgresServer(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
            subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="package")
def postgres() -> Iterator[PostgresServer]:
    with database_on_a_small_disk() as server:
        yield server


def undisturbed_night(home: Path, registry: str) -> bytes:
    """The comparable export of an embedded run over the world."""
    registries = f'[{{"name": "local", "url": "{registry}"}}]'
    embedded = Embedded(home, "local", {"HALLMARK_REGISTRIES": registries, "HALLMARK_IN_FLIGHT": "200"})
    assert embedded.finish(PATIENCE)["ok"], embedded.log()
    return comparable(embedded.url)
