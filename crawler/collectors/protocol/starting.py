"""Starts a package or command with placeholders for what it asks for, and looks at it once it opens.

What a registry declares as required is given at once. A server that does not open and says what it misses is started
again with that. One that opens by nothing of ours is started once as it is, so that no failure is our placeholders'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from crawler.collectors.protocol.observing import Observing
from crawler.collectors.protocol.probe import Manner, Means, Probed
from crawler.collectors.protocol.process import StdioProbe
from crawler.collectors.protocol.verdict import box_blamed, credentials_asked, lacks_network, needs_network
from crawler.configuring import Configured, configure, still_missing
from crawler.wire.launch import Launcher
from crawler.wire.scrub import mask
from evidence.canonical import Json
from evidence.inputs import Input
from evidence.kinds import listing
from evidence.kinds.listing import CONTAINING, LISTS, End, Listing
from evidence.members import mapping, mappings
from evidence.model import Absent, Dossier, Observed, Reason, Target

PLACEHOLDERS: Final = "placeholders"
"""Of a listing's observation: names and kinds of what was made up, and what the server's own words named."""

MORE: Final = 3
"""Starts with what a server named; each must name something new, since many check one after another."""

_NAMED: Final = "named"
_UNANSWERED: Final = (Reason.UNREACHABLE.value, Reason.TIMEOUT.value)
_ANSWERED: Final = frozenset({Reason.OAUTH_REQUIRED, Reason.NOT_MCP})
_REFUSED: Final = frozenset(
    {Reason.START_FAILED, Reason.CREDENTIALS_REQUIRED, Reason.OAUTH_REQUIRED, Reason.NOT_MCP, Reason.TIMEOUT}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One start with some placeholders, and what came of it. `said` is what the server wrote beside its answers.

    `reached` are the hosts that its processes tried to reach, in vain.
    """

    configured: Configured
    named: Sequence[Input]
    probed: Probed
    said: str
    runtime: str
    reached: Sequence[str] = ()

    @property
    def opened(self) -> bool:
        """Whether it listed its tools, or none without saying that it lacks something for it."""
        content = self.probed.listing
        if not isinstance(content, Observed):
            return False
        lacks = bool(credentials_asked(self.said) or self.cut_off)
        return not (lacks and _is_unlisted(content))

    @property
    def cut_off(self) -> Absent | None:
        """What of our box kept it from opening, if something did.

        Words of a process that was stopped may still have been on their way, so what it did counts as much for one that
        was silent too long, or owes us its list; one that ended by itself, or answered, has said what it had to say.
        """
        if _reason(self) in _ANSWERED:
            return None
        stopped = _reason(self) is Reason.TIMEOUT or self.ended_early
        if said := box_blamed(self.said):
            return needs_network(self.reached) or said if lacks_network(said) else said
        return needs_network(self.reached) if stopped else None

    @property
    def ended_early(self) -> bool:
        """Whether it opened and did not get to answering what its tools are: the next time it may."""
        content = self.probed.listing
        tools = Listing.parse(content.body).tools if isinstance(content, Observed) else None
        return tools is not None and tools.end is End.FAILED and str(tools.error).startswith(_UNANSWERED)

    @property
    def asked_for_credentials(self) -> bool:
        """Whether it ended, or answered, for want of credentials."""
        return _reason(self) is Reason.CREDENTIALS_REQUIRED

    @property
    def refused(self) -> bool:
        """Whether it may be for want of something that it did not open, in a box where it may be given anything."""
        content = self.probed.listing
        telling = isinstance(content, Observed) or content.reason in _REFUSED
        return telling and not self.opened and self.runtime in CONTAINING

    @property
    def wanting(self) -> bool:
        """Whether more may be had of it by giving it more: it did not open, or in silence lists nothing."""
        content = self.probed.listing
        silent = isinstance(content, Observed) and self.runtime in CONTAINING and _is_unlisted(content)
        return self.refused or silent


class Starting:
    """The starts of one target on one visit. `earlier` tells what the server named the last time."""

    def __init__(self, launcher: Launcher, means: Means, manner: Manner, earlier: Dossier | None = None) -> None:
        self._launcher = launcher
        self._means = means
        self._manner = manner
        self._earlier = earlier

    async def run(self, target: Target) -> Probed:
        """What the first start that opens finds out, else why none does."""
        first = last = await self._attempt(target, remembered(self._earlier))
        for _ in range(MORE):
            more = still_missing(target, last.configured.given, last.said) if last.wanting else ()
            if not more:
                break
            last = await self._attempt(target, (*last.named, *more))
        if last.ended_early and last.refused:
            again = await self._start(last.configured, last.named)
            last = again if again.opened else last
        if last.refused and first.configured.given:
            first = await self._start(Configured(replace(target, inputs=()), ()), ())
            last = first if first.opened else last
        return _noted(last, judged(first, last))

    async def _attempt(self, target: Target, named: Sequence[Input]) -> Attempt:
        return await self._start(configure(target, named), named)

    async def _start(self, configured: Configured, named: Sequence[Input]) -> Attempt:
        observing = Observing(self._launcher)
        probe = StdioProbe(observing, self._means, self._manner, self._earlier)
        probed = await probe.run(configured.target)
        return Attempt(
            configured=configured,
            named=named,
            probed=probed,
            said=probe.said,
            runtime=probe.runtime or "",
            reached=observing.reached(),
        )


def remembered(earlier: Dossier | None) -> Sequence[Input]:
    """What the server named on an earlier visit on which it opened with that: it need not refuse again."""
    record = earlier.records.get(listing.KIND) if earlier else None
    if record is None or isinstance(record.content, Absent):
        return ()
    rows = mappings(mapping(record.observation.get(PLACEHOLDERS)).get(_NAMED))
    return tuple(Input.from_json(row) for row in rows)


def judged(first: Attempt, last: Attempt) -> Probed:
    """What the last start found out; where none opened, why the server did not with as little from us as it got."""
    if not last.refused:
        return last.probed
    words = credentials_asked(first.said) or credentials_asked(last.said)
    cut_off = last.cut_off or first.cut_off
    if words and (first.asked_for_credentials or not cut_off):
        return _unlisted(last.probed, Absent(Reason.CREDENTIALS_REQUIRED, words))
    if cut_off is None:
        return first.probed
    silent = isinstance(first.probed.listing, Absent)
    return replace(first.probed, listing=cut_off) if silent else _unlisted(first.probed, cut_off)


def _unlisted(probed: Probed, why: Absent) -> Probed:
    """What was found out of a server of which an empty listing tells nothing."""
    return replace(probed, listing=why, exchanges=None, trials=None, handouts=None)


def _reason(attempt: Attempt) -> Reason | None:
    content = attempt.probed.listing
    return content.reason if isinstance(content, Absent) else None


def _noted(attempt: Attempt, probed: Probed) -> Probed:
    facts = mapping(attempt.configured.facts.get(PLACEHOLDERS))
    if not facts:
        return probed
    named: list[Json] = [replace(each, hint=mask(each.hint)).as_json() for each in attempt.named]
    note: Mapping[str, Json] = {PLACEHOLDERS: {**facts, _NAMED: named}}
    return replace(probed, observation={**probed.observation, **note})


def _is_unlisted(content: Observed) -> bool:
    """Whether nothing was listed, or no tools for an error or the server's end."""
    listed = Listing.parse(content.body)
    return listed.tools.end in {End.ERROR, End.FAILED} or not any(listed.list_of(name).items for name in LISTS)
