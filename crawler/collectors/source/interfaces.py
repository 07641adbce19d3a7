"""Interfaces of the source collector: the reader of archives and the source of installations."""

from __future__ import annotations

from typing import BinaryIO, Protocol

from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from crawler.sandbox.install.package_inventory import InstalledTree
from evidence.model import Absent, Target


class ArchiveReader(Protocol):
    """Reads untrusted archives within bounds."""

    async def read_archive(self, file: BinaryIO, task: ReadingTask) -> ReadingResult | Absent:
        """The bodies of an archive, or why there are none."""
        ...


class InstallationSource(Protocol):
    """A sandbox that lists the packages of an installation."""

    async def installed(self, target: Target) -> InstalledTree | Absent:
        """The packages of an installation, which is made first if needed."""
        ...
