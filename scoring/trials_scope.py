"""The scope `Trial`: one call of a tool, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evidence.kinds import trials
from evidence.kinds.trials import Kind, Outcome, Trials, Tried
from scoring import path
from scoring.outcome import Inapplicable, Undecided
from scoring.scope import Scope


@dataclass(frozen=True, kw_only=True)
class Trial(Scope):
    """One call. `cut_off`: the server ran in our sandbox, where what it needs of the outside world is missing."""

    reads: ClassVar[str] = trials.KIND
    tried: Tried
    cut_off: bool = False

    def clear(self, kind: Kind) -> Tried:
        """The call when it is of this kind; raise Inapplicable for another, Undecided when it tells nothing.

        Timeouts, passing failures, refusals of access and wishes for credentials tell nothing about a tool.
        """
        if self.tried.kind != kind:
            raise Inapplicable(f"not a trial of {kind}")
        if self.tried.unclear:
            raise Undecided(self.tried.unclear)
        return self.tried

    def error(self) -> Tried:
        """The call when it was answered by an error, whatever it tried; else Inapplicable."""
        if self.tried.outcome not in {Outcome.TOOL_ERROR, Outcome.PROTOCOL_ERROR}:
            raise Inapplicable("no error")
        return self.tried


def trials_in(body: bytes, *, sandbox: str = "") -> tuple[Trial, ...]:
    """One scope per call in a body, in the order of the calls; raise NotJson when it is no JSON.

    `sandbox` is what contained the server, as its listing says.
    """
    return tuple(_trials(Trials.parse(body).trials, cut_off=sandbox not in {"", "none"}))


def _trials(calls: tuple[Tried, ...], *, cut_off: bool) -> Iterator[Trial]:
    tools = list(dict.fromkeys((call.index, call.tool) for call in calls))
    segments = dict(zip(tools, path.segments([name for _, name in tools]), strict=True))
    for place, call in enumerate(calls):
        at = f"trials/{segments[call.index, call.tool]}/{call.kind}"
        yield Trial(at=at, position=(place,), tried=call, cut_off=cut_off)
