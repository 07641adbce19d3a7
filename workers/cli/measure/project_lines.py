"""Finds the line of a project's file that names a package, for reports about lockfiles."""

from __future__ import annotations

import re
from typing import Final

from crawler.archives.folder import open_regular_file
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
            with open_regular_file(file) as opened:
                return opened.read(_MAX_BYTES).splitlines()
        except OSError:
            return []
