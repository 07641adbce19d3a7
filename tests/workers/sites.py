"""Sites that run as processes of their own."""

from __future__ import annotations

import subprocess


def heard(process: subprocess.Popen[str], word: str) -> str:
    """What is said up to the line with a word."""
    assert process.stderr is not None
    said = ""
    while word not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said
