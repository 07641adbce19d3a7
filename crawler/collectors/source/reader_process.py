"""The process that reads archives: `python -m crawler.collectors.source.reader_process FD`, with a Unix socket.

The first message has the rules, each further one a task and, as a descriptor, the archive; each is answered. Hostile
source may cost a parser its stack, its memory or its time: the limits below then end only this process.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from crawler.archives import Bounds, Folder
from crawler.archives.published_files import ReleaseContents
from crawler.collectors.source.archive_reader import read_archive
from crawler.collectors.source.message_framing import receive_message, send_message
from crawler.collectors.source.reading_task import ArchiveUnreadable, FolderMissing, ReadingTask
from evidence.derive.secrets import Scanner, build_own_rules, load_rules

READING: Final = "reading"
UNREADABLE: Final = "unreadable"
NO_FOLDER: Final = "no_folder"
TOO_LARGE: Final = "too_large"
_NICE: Final = 10  # above the 5 of boxes: a server that starts is waited for, the reading of its source is not


def main(descriptor: int) -> None:
    """Answer until the other side closes the socket."""
    with socket.socket(fileno=descriptor) as line:
        start, _ = receive_message(line)
        os.nice(_NICE)
        _limit_resources(start["memory"])
        scanner = Scanner(load_rules(start["rules"]) if start["rules"] else build_own_rules())
        send_message(line, {"ready": True})
        while True:
            try:
                message, handles = receive_message(line)
            except EOFError:
                return
            _limit_processor_time(message["seconds"])
            with _open_archive(handles) as file:
                answer = _answer(message, file, scanner)
            send_message(line, answer)


@contextmanager
def _open_archive(handles: Sequence[int]) -> Iterator[BinaryIO | Folder]:
    """The file behind a descriptor with its own position, since others may read the same archive at the same time.

    A folder is read through its descriptor.
    """
    try:
        if stat.S_ISDIR(os.fstat(handles[0]).st_mode):
            yield Folder(handles[0])
            return
        with Path(f"/proc/self/fd/{handles[0]}").open("rb") as file:
            yield file
    finally:
        for handle in handles:
            os.close(handle)


def _answer(message: Mapping[str, Any], file: BinaryIO | Folder, scanner: Scanner) -> Mapping[str, Any]:
    task = _parse_task(message["task"])
    try:
        found = read_archive(file, task, scanner, bytes.fromhex(message["salt"]))
        body = {"source": found.source, "secrets": found.secrets, "dependencies": found.dependencies}
    except FolderMissing as error:
        return {"outcome": NO_FOLDER, "why": str(error)}
    except ArchiveUnreadable as error:
        return {"outcome": UNREADABLE, "why": str(error)}
    except MemoryError:
        return {"outcome": TOO_LARGE, "why": "it needs too much memory"}
    return {"outcome": READING, "body": body}


def _parse_task(sent: Mapping[str, Any]) -> ReadingTask:
    held = sent["release"]
    npm = None if held["npm"] is None else tuple(held["npm"])
    release = ReleaseContents(**{**held, "npm": npm, "python": tuple(held["python"])})
    return ReadingTask(**{**sent, "bounds": Bounds(**sent["bounds"]), "release": release})


def _limit_resources(megabytes: int) -> None:
    """Forbid writing files and core dumps, and limit the memory."""
    size = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _limit_processor_time(seconds: int) -> None:
    """Limit the processor time from now on, beyond what the process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


if __name__ == "__main__":
    with suppress(BrokenPipeError, ConnectionResetError, json.JSONDecodeError):
        main(int(sys.argv[1]))
