"""A stderr that loses lines instead of ending the work when it takes none, as on a full disk.

What is written there is log and progress; results are in the database and on stdout.
"""

from __future__ import annotations

import sys
from typing import TextIO, cast


class LossyStderr:
    """Writes to a stream and counts the lines that it does not take. A closed pipe still ends the program."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.lost_lines = 0
        self.why = ""

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.lost_lines += text.count("\n")
            self.why = str(error.strerror)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            self.why = str(error.strerror)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def tolerate_full_stderr() -> None:
    """Let no later write to stderr raise because the disk is full or the terminal is gone."""
    if not isinstance(sys.stderr, LossyStderr):
        sys.stderr = cast("TextIO", LossyStderr(sys.stderr))


def describe_lost_output() -> str:
    """What stderr did not take; empty when it took everything."""
    stream = sys.stderr
    if not isinstance(stream, LossyStderr) or not stream.why:
        return ""
    return f"{stream.lost_lines} lines of progress and log could not be written to stderr: {stream.why}"
