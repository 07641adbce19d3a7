"""The scope `Trial`: one call of a tool and its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from evidence.kinds import trials
from evidence.kinds.exchanges import revision_letter
from evidence.kinds.listing import Listing
from evidence.kinds.trials import TrialCall, TrialKind, TrialOutcome, Trials
from scoring.results.outcome import Inapplicable, Undecided
from scoring.scopes.base import Scope
from scoring.text import evidence_path


class Trial(Scope, frozen=True, kw_only=True, dict=True):
    """One call. `cut_off`: the server ran in our sandbox without its external services.

    `revision` is the letter of the negotiated revision; empty for a version that was not published, or without a
    listing. `transport` is that of the listing.
    """

    reads: ClassVar[str] = trials.KIND
    tried: TrialCall
    cut_off: bool = False
    revision: str = ""
    transport: str = ""

    def conclusive_call(self, kind: TrialKind) -> TrialCall:
        """The call when it is of this kind; raise Inapplicable for another, Undecided when it tells nothing.

        Timeouts, passing failures, refusals of access and wishes for credentials tell nothing about a tool.
        """
        if self.tried.kind != kind:
            raise Inapplicable(f"not a trial of {kind}")
        if self.tried.unclear:
            raise Undecided(self.tried.unclear)
        return self.tried

    def error(self) -> TrialCall:
        """The call when it was answered by an error; else raise Inapplicable."""
        if self.tried.outcome not in {TrialOutcome.TOOL_ERROR, TrialOutcome.PROTOCOL_ERROR}:
            raise Inapplicable("no error")
        return self.tried


def build_trials(body: bytes, known: Listing | None = None) -> tuple[Trial, ...]:
    """One scope per call in a body, in the order of the calls; raise NotJson when it is no JSON.

    `known` is the listing of the same dossier: what contained the server, and how it was spoken to.
    """
    return tuple(_trials(Trials.parse(body).trials, known or Listing({})))


def _trials(calls: tuple[TrialCall, ...], known: Listing) -> Iterator[Trial]:
    tools = list(dict.fromkeys((call.index, call.tool) for call in calls))
    segments = dict(zip(tools, evidence_path.name_segments([name for _, name in tools]), strict=True))
    cut_off, revision = known.sandbox not in {"", "none"}, revision_letter(known)
    for place, call in enumerate(calls):
        at = f"trials/{segments[call.index, call.tool]}/{call.kind}"
        yield Trial(at=at, position=(place,), tried=call, cut_off=cut_off, revision=revision, transport=known.transport)
