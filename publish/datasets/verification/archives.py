"""Unpacks the archive of a snapshot for its verification."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from publish.datasets.snapshot.archive import unpack_archive
from publish.datasets.snapshot.manifest import NotASnapshot
from publish.datasets.verification import confined_processes

SMALL_ARCHIVE: Final = 8 * 2**20
"""Maximum bytes of an archive that this process unpacks: its index takes at most about twenty times as much memory."""


@contextmanager
def open_dataset(path: Path, *, processes: int = 1) -> Iterator[Path]:
    """The folder of a snapshot. An archive is unpacked into a temporary one; raise NotASnapshot if it is none.

    A process with limited memory unpacks it, as an index can have any number of entries. A small one, or with 0
    processes any, is unpacked by this process.
    """
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="hallmark-dataset-") as made:
        confined = min(processes, 1) if path.stat().st_size > SMALL_ARCHIVE else 0
        with confined_processes.start_confined_workers(confined) as alone:
            error = alone.submit(unpack_archive, path, Path(made)).exception()
        if isinstance(error, MemoryError | BrokenProcessPool):
            raise NotASnapshot("reading the index of the archive takes more memory than it may have") from error
        if error is not None:
            raise error
        yield Path(made)
