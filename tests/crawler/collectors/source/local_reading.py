"""How the tests read an archive in this process."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cache
from typing import Any

from crawler.collectors.source.archive_reader import read_archive
from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from evidence.derive.secrets import Scanner
from tests.crawler.archives.building import files
from tests.evidence.secrets.scanners import own_scanner

TOKEN = "ghp_" + "wQ7rT2yU9iO4pA6sD1fG8hJ3kL5zX0cV" + "bN7m"


@cache
def scanner() -> Scanner:
    """The scanner of our own rules."""
    return own_scanner()


def archive(contents: Mapping[str, str | bytes]) -> bytes:
    """A tarball of files."""
    return files((path, text if isinstance(text, bytes) else text.encode()) for path, text in contents.items())


def reading(contents: Mapping[str, str | bytes], **task: Any) -> ReadingResult:
    """What is read of a tarball of files."""
    given = {"origin": "github", "name": "acme/servers", "ref": "c0ffee", **task}
    return read_archive(io.BytesIO(archive(contents)), ReadingTask(**given), scanner(), b"salt")


def source(contents: Mapping[str, str | bytes], **task: Any) -> Any:
    """The source body of a tarball of files."""
    return reading(contents, **task).source
