"""What the collector asks of others: who reads archives, and what an installation consists of."""

from __future__ import annotations

from typing import BinaryIO, Protocol

from crawler.collectors.source.task import Reading, Task
from crawler.wire.sandbox.provisioning.installed_tree import InstalledTree
from evidence.model import Absent, Target


class Reads(Protocol):
    """Reads an archive under bounds, whatever is in it."""

    async def read(self, file: BinaryIO, task: Task) -> Reading | Absent:
        """The bodies of an archive, or why there are none."""
        ...


class Installs(Protocol):
    """A sandbox that can tell what an installed package consists of."""

    async def installed(self, target: Target) -> InstalledTree | Absent:
        """The packages of an installation, installed first if needed."""
        ...
