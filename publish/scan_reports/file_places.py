"""Finds the file and the line that a finding in the source is about."""

from __future__ import annotations

from dataclasses import dataclass

from evidence.kinds import secrets, source
from evidence.model import Dossier, Observed
from scoring.text import evidence_path


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file of the project and a line of it; 0 for the whole file."""

    path: str
    line: int = 0


def list_file_places(dossier: Dossier) -> dict[str, FilePlace]:
    """The places in files by the paths of findings: credentials, the README, and tools that the code declares."""
    places: dict[str, FilePlace] = {}
    content = dossier.read(secrets.KIND)
    if isinstance(content, Observed):
        for leak in secrets.Secrets.parse(content.body).findings:
            if leak.path:
                parts = (part[: evidence_path.MAX_SEGMENT] for part in (*leak.path.split("/"), str(leak.line)))
                at = evidence_path.join_segments(secrets.KIND, *map(evidence_path.escape_segment, parts))
                places[at] = FilePlace(leak.path, leak.line)
    content = dossier.read(source.KIND)
    if isinstance(content, Observed):
        seen = source.Source.parse(content.body)
        if seen.readme is not None and seen.readme.path:
            places["source/readme"] = FilePlace(seen.readme.path)
        for tool in seen.tools:
            path, _, line = tool.at.rpartition(":")
            if path and line.isdecimal():
                at = f"source/tools/{evidence_path.escape_segment(tool.name)}"
                places.setdefault(at, FilePlace(path, int(line)))
    return places
