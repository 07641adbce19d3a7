"""Trying tools: a few calls of tools that only read, and what comes back when the arguments are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from crawler.wire.transcript import Reply
from evidence.canonical import Json
from evidence.model import Absent, Observed, Reason


class Policy(StrEnum):
    """Which tools may be called. Never one that is classed write, destructive, admin or unknown, save by the last."""

    OFF = "off"
    ANNOTATED = "annotated"  # those that read and say so themselves: readOnlyHint is true
    READ = "read"  # all that are classed read
    SANDBOXED_ALL = "sandboxed_all"  # everything; only of a process without network on a file system that is thrown away


class Ask(Protocol):
    """Sends one request in the era and with the headers that the server speaks. Failures come back in the reply."""

    async def __call__(self, method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
        """Wait at most `seconds` for the answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of the trials of one server. Times in seconds."""

    tools: int = 8
    call: float = 15.0
    total: float = 60.0


async def try_tools(
    ask: Ask,
    tools: Sequence[Json],
    *,
    policy: Policy,
    opted_out: bool,
    tick: Callable[[], float],
    confined: bool = False,
    bounds: Bounds | None = None,
) -> tuple[Observed | Absent, Mapping[str, Json]]:
    """The content and the observation of a `trials` record. `tools` is everything that the server listed, in order.

    `confined`: the server runs in our sandbox, without network and on a file system that is thrown away.
    """
    del ask, tools, tick, bounds, confined
    if opted_out:
        return Absent(Reason.OPTED_OUT, "nobody may call this server's tools"), {}
    return Absent(Reason.NOT_COLLECTED, f"tools are not called yet (policy {policy})"), {}
