"""The recorded reason is the true one: packages of a local index, started in real boxes by a probe."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawler.collectors.protocol.session.dialogue import ProbeLimits
from crawler.sandbox import Limits
from crawler.sandbox.kernel.limits import MIB
from evidence.kinds import listing as listing_kind
from evidence.model import Absent, Reason, Record, Target, TargetType
from tests.crawler.collectors.protocol.probing import collector, records_of
from tests.crawler.sandbox.driving import sandbox
from tests.crawler.sandbox.index_server import IndexServer

pytestmark = pytest.mark.sandbox

LISTENS = """
import socket, time

def main():
    door = socket.create_server(("127.0.0.1", 8123))
    time.sleep(300)
"""
HOARDS = """
import contextlib, socket, time

def main():
    with contextlib.suppress(OSError):
        socket.getaddrinfo("notes.example", 443)
    held = bytearray(120 << 20)
    time.sleep(300)
"""


def visit(cache: Path, index: IndexServer, home: Path, target: Target, **options: object) -> Record:
    async def run() -> Record:
        launcher = await sandbox(cache, index.environ(str(home)), **options)
        patient = collector(launcher=launcher, limits=ProbeLimits(stdio_answer=2.0))
        return (await records_of(patient, target))[listing_kind.KIND]

    return asyncio.run(run())


def pypi(name: str, version: str | None = None) -> Target:
    return Target(type=TargetType.PYPI, identifier=name, version=version)


def test_a_package_that_listens_on_a_port_is_said_to(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("notes", files={"notes/__init__.py": LISTENS})
    found = visit(cache, index, tmp_path, pypi("notes")).content
    words = "no answer to initialize: it listens on port 8123 instead of stdio"
    assert found == Absent(Reason.TRANSPORT_UNSUPPORTED, words)


def test_a_package_that_takes_too_much_memory_is_not_cut_off(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("notes", files={"notes/__init__.py": HOARDS})
    found = visit(cache, index, tmp_path, pypi("notes"), limits=Limits(memory=80 * MIB)).content
    assert found == Absent(Reason.SANDBOX_RESTRICTED, "the sandbox stopped it at the memory limit of 80 MiB")
