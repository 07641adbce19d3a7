"""Scans the files of a tree for secrets and builds the findings of the kind `secrets`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evidence.canonical import Json
from evidence.derive.secrets.finding import Finding
from evidence.derive.secrets.scanner import Scanner
from evidence.kinds.secrets import GENERIC, SPECIFIC

MAX_BYTES: Final = 8_000_000
"""Bytes of one file that are scanned; with a longer file the scan is not complete."""

MAX_FINDINGS: Final = 2_000
"""Findings for one tree."""

_HEAD: Final = 8_192
_BOMS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_LONGEST_PATH: Final = 400


def scan_files(files: Iterable[tuple[str, bytes]], scanner: Scanner, *, salt: bytes) -> dict[str, Json]:
    """The members `rules` to `findings` of a secrets body (evidence/kinds/secrets.py) for (path, content) pairs.

    Paths are relative to the tree. Only one file is in memory at a time. The caller adds `origin`, `name` and `ref`.
    """
    found: list[dict[str, Json]] = []
    count = size = 0
    complete = True
    for path, content in files:
        text = decode_file(content)
        if text is None:
            continue
        count, size = count + 1, size + len(text)
        complete = complete and len(text) <= MAX_BYTES
        room = MAX_FINDINGS - len(found)
        findings = scanner.scan(text[:MAX_BYTES], path, salt=salt)
        complete = complete and len(findings) <= room
        found += [_row(finding, scanner) for finding in findings[:room]]
    found.sort(key=lambda row: (row["path"], row["line"], row["pattern"], row["hash"]))
    return {"rules": scanner.digest, "files": count, "bytes": size, "complete": complete, "findings": found}


def decode_file(content: bytes) -> bytes | None:
    """The content of a file as UTF-8; None for a binary file."""
    encoding = next((name for bom, name in _BOMS if content.startswith(bom)), None)
    if encoding:
        return content[: 2 * MAX_BYTES].decode(encoding, "replace").encode("utf-8", "replace")
    return None if b"\0" in content[:_HEAD] else content


def _row(finding: Finding, scanner: Scanner) -> dict[str, Json]:
    return {
        "pattern": finding.pattern,
        "path": scanner.scrub(finding.path.encode("utf-8", "replace").decode())[:_LONGEST_PATH],
        "line": finding.line,
        "hash": finding.digest,
        "context": finding.context,
        "confidence": GENERIC if finding.generic else SPECIFIC,
        "counts": finding.counts,
        "why": finding.discount or "",
    }
