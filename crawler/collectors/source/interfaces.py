"""What the collector asks of others: who reads archives, and what an installation consists of."""

from __future__ import annotations

from typing import BinaryIO, Protocol

from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from crawler.sandbox.install.package_inventory import InstalledTree
from evidence.model import Absent, Target


class ArchiveReader(Protocol):
    """Reads an archive under bounds, whatever is in it."""

    async def read(self, file: BinaryIO, task: ReadingTask) -> ReadingResult | Absent:
        """The bodies of an archive, or why there are none."""
        ...


class InstallationSource(Protocol):
    """A sandbox that can tell what an installed package consists of."""

    async def installed(self, target: Target) -> InstalledTree | Absent:
        """The packages of an installation, installed first if needed."""
        ...
