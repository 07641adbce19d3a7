"""LocalProjectCollector: the source of a project on this machine, read where it lies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import BinaryIO, Final

from crawler.archives import Folder
from crawler.collector import Scarce, make_record
from crawler.collectors.source.collector import VERSION, SourceCollector, SourceLimits
from crawler.collectors.source.dependencies import InstallationSource, make_installation_body
from crawler.collectors.source.reader_pool import ReaderPool
from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from crawler.projects.project import ARCHIVE, Project
from evidence.canonical import Json, canonical_json
from evidence.kinds import dependencies, secrets, source
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server

_NOT_LISTED: Final = Absent(
    Reason.NOT_COLLECTED, "there is no lockfile, and nothing is installed to see the dependencies"
)


_NO_LOCKFILE: Final[Mapping[str, Json]] = {
    "lockfile": False,
    "complete": False,
    "sources": [],
    "unread": [],
    "dependencies": [],
}


class LocalProjectCollector:
    """Collector for the kinds of `SourceCollector`, of one folder or archive.

    `installs` lists the dependencies of an archive, which is installed for that.
    """

    name: Final = SourceCollector.name
    version: Final = VERSION
    kinds: Final = SourceCollector.kinds
    needs: Final = Scarce.PROCESSOR

    def __init__(
        self, project: Project, readers: ReaderPool, installs: InstallationSource, clock: Callable[[], datetime]
    ) -> None:
        self._project = project
        self._installs = installs
        self._readers = readers
        self._clock = clock

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """One record of each kind; the same reason in all when the files cannot be read."""
        del earlier
        reading = await self._read()
        contents: dict[str, Observed | Absent]
        if isinstance(reading, Absent):
            contents = dict.fromkeys(self.kinds, reading)
        else:
            bodies = {source.KIND: reading.source, secrets.KIND: reading.secrets}
            contents = {kind: Observed(canonical_json(dict(body))) for kind, body in bodies.items()}
            contents[dependencies.KIND] = await self._list_dependencies(target, reading)
        return [make_record(self, target, kind, contents[kind], at=self._clock()) for kind in self.kinds]

    async def _list_dependencies(self, server: Server, reading: ReadingResult) -> Observed | Absent:
        """Those of the lockfile, else of the installed archive; without both an incomplete, empty list."""
        body = reading.dependencies
        if body is None and self._project.is_file:
            tree = await self._installs.installed(server.targets[0])
            return tree if isinstance(tree, Absent) else Observed(canonical_json(make_installation_body(tree)))
        if body is None and self._project.origin == ARCHIVE:
            return _NOT_LISTED
        if body is None:
            head = {name: reading.source[name] for name in ("origin", "name", "ref")}
            body = {**head, "from": dependencies.LOCKFILE, **_NO_LOCKFILE}
        return Observed(canonical_json(dict(body)))

    async def _read(self) -> ReadingResult | Absent:
        project = self._project
        task = ReadingTask(
            origin=project.origin,
            name=project.name,
            ref=project.version,
            subfolder=project.path_in_repository,
            strip=project.strip,
            bounds=SourceLimits().walking,
            release=project.release,
        )
        try:
            with self._open() as file:
                return await self._readers.read_archive(file, task)
        except OSError as error:
            return Absent(Reason.NOT_COLLECTED, f"the files cannot be opened: {error.strerror}")

    @contextmanager
    def _open(self) -> Iterator[BinaryIO | Folder]:
        if self._project.is_file:
            with self._project.root.open("rb") as file:
                yield file
            return
        descriptor = os.open(self._project.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield Folder(descriptor)
        finally:
            os.close(descriptor)
