"""The scopes `ReadResource` and `ToolResult`: a text that a server handed out, and what in it speaks to the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import ClassVar, Final

from evidence.derive.poisoning import Hit
from evidence.derive.poisoning.handout_scan import scan_handout
from evidence.kinds import handouts
from evidence.kinds.handouts import Handout, Handouts
from scoring.results.outcome import Skipped
from scoring.scopes.base import Scope
from scoring.text import evidence_path


class HandedOutText(Scope, frozen=True, kw_only=True, dict=True):
    """One text that a server handed out."""

    reads: ClassVar[str] = handouts.KIND
    handed: Handout

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """Places that give the model instructions."""
        return scan_handout(self.handed.text, at=self.at)


class ReadResource(HandedOutText, frozen=True, kw_only=True, dict=True):
    """One resource that was read; its path is `resources/URI/text`."""


class ToolResult(HandedOutText, frozen=True, kw_only=True, dict=True):
    """The result of one tool; its path is `results/TOOL`."""


def build_handout_scopes(wanted: type[Scope], body: bytes) -> tuple[HandedOutText, ...]:
    """One scope per text in a body, in order; raise NotJson for a body that is not JSON."""
    return tuple(
        SCOPES[wanted](at=at, position=(place,), handed=handed)
        for place, (at, handed) in enumerate(_placed(wanted, Handouts.parse(body)))
        if not handed.why
    )


def list_skipped_handouts(wanted: type[Scope], body: bytes) -> tuple[Skipped, ...]:
    """Texts that were listed and not read, or not read completely."""
    seen = Handouts.parse(body)
    left = [Skipped(at, handed.why or "cut") for at, handed in _placed(wanted, seen) if handed.why or not handed.whole]
    if wanted is ReadResource and seen.unread:
        # Not at "resources": that is the list, which was read to its end.
        left.append(Skipped(handouts.KIND, f"{seen.unread} more resources"))
    if wanted is ToolResult and seen.untried:
        left.append(Skipped("results", seen.untried))
    return tuple(left)


def _placed(wanted: type[Scope], seen: Handouts) -> Iterator[tuple[str, Handout]]:
    found, around, below = (
        (seen.resources, "resources", ("text",)) if wanted is ReadResource else (seen.results, "results", ())
    )
    for segment, handed in zip(evidence_path.name_segments([each.name for each in found]), found, strict=True):
        yield evidence_path.join_segments(around, segment, *below), handed


SCOPES: Final[Mapping[type[Scope], Callable[..., HandedOutText]]] = {ReadResource: ReadResource, ToolResult: ToolResult}
