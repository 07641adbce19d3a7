"""Finds the line of a project's file that names a package, for reports about lockfiles."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from crawler.projects.project import Project

_MAX_BYTES: Final = 64 * 1024 * 1024


class LineFinder:
    """Reads each file once. Links are not followed."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._read: dict[str, list[bytes]] = {}

    def find(self, path: str, text: str) -> int:
        """The first line with the text as a whole word; 0 when there is none or the file cannot be read."""
        word = re.compile(rb"(?<![\w.@-])" + re.escape(text.encode()) + rb"(?![\w.-])", re.IGNORECASE)
        lines = self._lines(path)
        return next((number for number, line in enumerate(lines, 1) if word.search(line)), 0)

    def _lines(self, path: str) -> list[bytes]:
        if path not in self._read:
            self._read[path] = self._load(path)
        return self._read[path]

    def _load(self, path: str) -> list[bytes]:
        project = self._project
        if project.is_file:
            return []
        file = (project.root / path[1:]) if path.startswith("/") else (project.folder / path)
        try:
            if not file.parent.resolve().is_relative_to(project.root):
                return []
            return _read_regular(file).splitlines()
        except OSError:
            return []


def _read_regular(file: Path) -> bytes:
    at = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(at, "rb") as opened:
        return opened.read(_MAX_BYTES) if stat.S_ISREG(os.fstat(at).st_mode) else b""
