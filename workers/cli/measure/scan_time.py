"""How the deadline of a scan is spent: on asking the server, on reading about it, and on the verdict."""

from __future__ import annotations

import math
from typing import Final

from workers.stages.collecting_time import TimeLeft

SECONDS: Final = 60.0
PROJECT_SECONDS: Final = 180.0
"""Seconds in which the files of a project may be read while its dependencies are installed in the sandbox."""

_PROBE_SHARE: Final = 0.9  # of the time; the rest is for ending sessions and for what is read after the probe
_ENDING: Final = 3.0  # seconds of a short deadline for the same, up to a share of it
_ENDING_SHARE: Final = 0.2
_CLOSING: Final = 1.0  # seconds to stop a process that hangs
_JUDGING: Final = 1.0  # seconds to judge and to print what was collected, up to a share of the deadline
_JUDGING_SHARE: Final = 0.05


def limit_time(
    deadline: float | None, used: float, *, is_launched: bool, no_sandbox: bool, is_project: bool
) -> TimeLeft:
    """The time of the collectors of a scan that began `used` seconds ago; None for the default deadline.

    A deadline holds from the start of the command to its verdict. It does not count the time in which a package is
    installed in the sandbox, which has limits of its own; nothing is installed for a command without a sandbox.
    """
    asking = deadline or SECONDS
    installing = is_launched and not no_sandbox
    return TimeLeft(
        asking,
        installing=installing,
        beside=is_launched,
        reading=PROJECT_SECONDS if deadline is None and installing and is_project else None,
        spent=min(used + min(_JUDGING, asking * _JUDGING_SHARE), asking / 2),
    )


def limit_probe(left: TimeLeft) -> float:
    """Seconds for the questions to a server, to a tenth, since reasons name a share of them."""
    ending = max(left.given * (1 - _PROBE_SHARE), min(_ENDING, left.given * _ENDING_SHARE))
    most = left.seconds - min(_CLOSING, left.seconds * (1 - _PROBE_SHARE))
    return math.floor(10 * min(left.given - ending, most)) / 10


def is_spent(left: TimeLeft) -> bool:
    """Whether so little is left that something was not asked or not read."""
    return left.seconds < left.given * (1 - _PROBE_SHARE)
