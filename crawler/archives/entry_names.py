"""Names of entries: valid names, and names that are the same file on a case-insensitive disk."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from crawler.archives.entries import Bounds

MAX_SHOWN: Final = 200

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPED: Final = re.compile(r"[\udc80-\udcff]")
_DRIVE: Final = re.compile(r"[A-Za-z]:")


class EntryNameRefused(Exception):
    """The name does not stand for a file inside the archive; the message says why."""


def clean_entry_path(name: str, bounds: Bounds, *, strip: int) -> str:
    """The path with "/" as separator, without its first `strip` parts; empty for the root. Raise EntryNameRefused."""
    if _CONTROL.search(name):
        raise EntryNameRefused("control characters in its name")
    if len(name) > bounds.path:
        raise EntryNameRefused(f"a name of more than {bounds.path} characters")
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        raise EntryNameRefused("an absolute path")
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", "."}]
    if ".." in parts:
        raise EntryNameRefused("a path out of the archive")
    if len(parts) > bounds.depth:
        raise EntryNameRefused(f"more than {bounds.depth} folders deep")
    if any(len(part) > bounds.part for part in parts):
        raise EntryNameRefused(f"a part of its name has more than {bounds.part} characters")
    return "/".join(parts[strip:])


def file_identity_key(path: str) -> str:
    """A key that is equal for two paths of one file on a disk that ignores case or normalises Unicode."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFKC", path).casefold()


def decode_entry_name(name: bytes) -> str:
    """A name as text; bytes that are not UTF-8 are percent-encoded."""
    text = name.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", text)


def displayable_name(name: str) -> str:
    """A short name without control characters and lone surrogates, fit for a record."""
    plain = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", name).encode("utf-8", "replace").decode()
    return plain if len(plain) <= MAX_SHOWN else f"{plain[: MAX_SHOWN - 1]}…"
