"""Trees of untrusted files: made safe to read, hashed, and checked for changes.

A tree is settled once, after all processes of its installer have ended, and is not written afterwards. So every change
is visible in the timestamps of its files, and its content in their hashes.
"""
# Uses path strings: Path objects for thousands of files cost more time than reading their metadata.
# ruff: noqa: PTH101, PTH105, PTH108, PTH115, PTH117, PTH120, PTH123

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CHUNK = 1 << 20
MANIFEST = 8 << 20


def settle_tree(tree: Path) -> tuple[int, int]:
    """Make an installed tree safe to read and immutable; return its bytes and number of files.

    Links that leave the tree and everything that is neither file, folder nor link are removed. The rest becomes ours,
    without setuid and write bits, and hard links become separate files. Raises OSError if a part cannot be read.
    """
    as_root, size, count = os.geteuid() == 0, 0, 0
    top = os.path.realpath(tree)
    for entry in walk_tree(tree):
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            if not _stays_inside(entry.path, top):
                os.unlink(entry.path)
            continue
        if stat.S_ISREG(info.st_mode):
            if info.st_nlink > 1:
                _unlink_copy(entry.path)
            size, count = size + info.st_size, count + 1
        elif not stat.S_ISDIR(info.st_mode):
            os.unlink(entry.path)
            continue
        if as_root:
            os.chown(entry.path, 0, 0, follow_symlinks=False)
        os.chmod(entry.path, _settled_mode(info.st_mode))
    if as_root:
        os.chown(tree, 0, 0)
    tree.chmod(0o755)
    return size, count


def measure_usage(tree: Path, most_files: int) -> tuple[int, int]:
    """Bytes and number of entries below a tree that is being written; stops counting beyond `most_files`."""
    size = count = 0
    with suppress(OSError):
        for entry in walk_tree(tree):
            count += 1
            if count > most_files:
                break
            with suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_size
    return size, count


def metadata_digest(tree: Path) -> str:
    """Digest of name, inode, change time, size, mode and links of everything below a folder; raises OSError.

    Every write to a file, mode or folder changes the digest, even if the modification time is forged.
    """
    marks, names = array("q"), []
    for entry in walk_tree(tree):
        info = entry.stat(follow_symlinks=False)
        names.append(entry.name)
        marks.extend((info.st_ino, info.st_ctime_ns, info.st_size, info.st_mode, info.st_nlink, info.st_uid))
    return hashlib.sha256(marks.tobytes() + os.fsencode("\0".join(names))).hexdigest()


def content_digest(tree: Path) -> str:
    """Digest of the names, types, modes and contents in a tree; raises OSError."""
    total, cut = hashlib.sha256(), len(os.fspath(tree)) + 1
    for entry in sorted(walk_tree(tree), key=lambda entry: entry.path):
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            kind, data = b"l", os.fsencode(os.readlink(entry.path))
        elif stat.S_ISREG(info.st_mode):
            kind, data = b"x" if info.st_mode & stat.S_IXUSR else b"f", file_digest(entry.path)
        else:
            kind, data = b"d" if stat.S_ISDIR(info.st_mode) else b"?", b""
        for part in (kind, os.fsencode(entry.path[cut:]), data):
            total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


def remove_tree(tree: Path) -> None:
    """Remove a tree, regardless of depth, path lengths and permissions; entries that cannot be removed stay."""
    if tree.is_symlink():
        tree.unlink()
    try:
        shutil.rmtree(tree)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        # chmod and rm walk with descriptors, so path length and depth do not matter.
        for command in (["/bin/chmod", "-R", "u+rwx", "--"], ["/bin/rm", "-rf", "--one-file-system", "--"]):
            with suppress(OSError):
                subprocess.run([*command, os.fspath(tree)], env={}, capture_output=True, check=False)  # noqa: S603


def walk_tree(tree: Path) -> Iterator[os.DirEntry[str]]:
    """Everything below a folder, links not followed; raises OSError for a folder that cannot be listed."""
    folders = [os.fspath(tree)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            found = list(entries)
        for entry in found:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)


def read_file(path: Path, most: int = MANIFEST) -> bytes:
    """Read a file in a settled tree; raises ValueError for more than `most` bytes, and OSError."""
    with path.open("rb") as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f"more than {most} bytes")
    return found


def file_digest(path: str | Path) -> bytes:
    """SHA-256 of a file's contents; raises OSError, also for a link."""
    at = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = hashlib.sha256()
        while data := os.read(at, CHUNK):
            found.update(data)
        return found.digest()
    finally:
        os.close(at)


def _settled_mode(mode: int) -> int:
    if stat.S_ISDIR(mode):
        return 0o755
    return 0o555 if mode & stat.S_IXUSR else 0o444


def _stays_inside(link: str, top: str) -> bool:
    """Whether a link leads into the tree after resolving all links; a chain of links could lead out of it."""
    if os.path.isabs(os.readlink(link)):
        return False
    with suppress(OSError, RuntimeError):
        place = os.path.realpath(link)
        return place == top or place.startswith(top + os.sep)
    return False


def _unlink_copy(path: str) -> None:
    """Replace a hard link with a copy, since a process could change the file through another link."""
    handle, copy = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(handle, "wb") as new, open(path, "rb") as old:
        shutil.copyfileobj(old, new, CHUNK)
    os.replace(copy, path)
