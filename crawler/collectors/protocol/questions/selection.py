"""The questions of a re-test beyond a core probe: those behind the points that were lost, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Self

from msgspec import Struct

from crawler.collectors.protocol.questions.fall_watch import CALL_MISTAKEN, METADATA
from evidence.kinds import access, exchanges, falls, trials

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "batch": ("initialize-2025-03-26", "initialized"),
    "initialized": ("initialize-2025-03-26",),
    "after-end": ("end",),
    "post-host": ("post-origin-own",),
    "post-origin": ("post-origin-own",),
}
"""Questions that others must precede."""


class QuestionSelection(Struct, frozen=True):
    """Questions by era and step. `metadata`: also what an open server publishes at the well-known addresses.

    `mistakes`: also calls of a tool with wrong arguments.
    """

    steps: frozenset[tuple[str, str]] = frozenset()
    metadata: bool = False
    mistakes: bool = False

    @classmethod
    def for_findings(cls, places: Iterable[str]) -> Self:
        """The questions to ask again for findings at these paths, such as `exchanges/legacy/ping`."""
        parts = [place.split("/") for place in places]
        named = {(part[1], part[2]) for part in parts if part[0] in {exchanges.KIND, falls.KIND} and len(part) > 2}
        needed = {(era, first) for era, step in named for first in _NEEDS.get(step, ())}
        steps = {step for _, step in named}
        return cls(
            frozenset(named | needed),
            metadata=METADATA in steps or any(part[0] == access.KIND for part in parts),
            mistakes=CALL_MISTAKEN in steps or any(part[0] == trials.KIND for part in parts),
        )

    def contains(self, era: str, step: str) -> bool:
        return (era, step) in self.steps
