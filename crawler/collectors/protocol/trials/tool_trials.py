"""Trial calls of tools: first of tools that only read, then of others, and calls with wrong arguments."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec import Struct, field

from crawler.collectors.protocol.handouts.handouts_body import tool_result_row
from crawler.collectors.protocol.trials import invalid_arguments
from crawler.collectors.protocol.trials.arguments import NoArguments, make_arguments
from crawler.collectors.protocol.trials.call_policy import CallPolicy, ClassifiedTool, classify_tools, explain_refusal
from crawler.collectors.protocol.trials.call_results import summarise_result
from crawler.collectors.protocol.trials.invalid_arguments import InvalidArguments
from crawler.http.failures import TimedOut
from crawler.mcp.transcript import Exchange, Reply
from evidence.authority import Authority
from evidence.canonical import Json
from evidence.kinds.trials import SkipReason, TrialKind, TrialOutcome
from evidence.model import Absent, Observed, Reason

METHOD: Final = "tools/call"
TIME_EXCEEDED: Final = "the time was up"
"""Detail of a tool that was skipped only for lack of time."""

_MAX_TOOLS: Final = 2_000  # tools per server
_MAX_SCHEMAS: Final = 32  # input schemas for which arguments are made; a hostile one costs a tenth of a second
_MAX_UNANSWERED: Final = 2  # unanswered calls in a row after which the trials stop
_GRACE: Final = 1.0  # seconds beyond a call's deadline after which it is cancelled
_LOCKED: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)


class Ask(Protocol):
    """Sends one request in the era and with the headers that the server speaks. Failures come back in the reply."""

    async def __call__(self, method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
        """Wait at most `seconds` for the answer."""
        ...


Ready: TypeAlias = Callable[[], Awaitable[None]]


class TrialBounds(Struct, frozen=True, kw_only=True):
    """Bounds of the trials of one server: how many reading tools, how many others, and times in seconds.

    `total` bounds each of the two parts.
    """

    tools: int = 8
    mutating: int = 8
    call: float = 15.0
    total: float = 60.0


class _Chosen(Struct, frozen=True):
    tool: ClassifiedTool
    arguments: Mapping[str, Json]


class _Part(Struct):
    """The tools chosen so far, at most `most`, and for how many more tools arguments may be made."""

    most: int
    left: int = _MAX_SCHEMAS
    chosen: list[_Chosen] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.chosen) >= self.most or not self.left


class ToolTrials(Struct, dict=True):
    """The trials of one server, one call at a time: of reading tools, then of all others that may be called.

    All tools are classified before the first call. `handed_out` takes a row of a `handouts` record for each successful
    call with fitting arguments.

    The two parts may use two processes, so that the effects of a mutating call do not show in the first.
    """

    policy: CallPolicy
    tick: Callable[[], float]
    bounds: TrialBounds = field(default_factory=TrialBounds)
    opted_out: bool = False
    handed_out: list[dict[str, Json]] | None = None
    rows: list[dict[str, Json]] = field(default_factory=list)
    skipped: list[dict[str, Json]] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    stopped: SkipReason | None = None
    unanswered: int = 0
    left: float = 0.0
    ready: Ready | None = None
    only_mutating: bool = False
    mutating: list[_Chosen] = field(default_factory=list)
    unlisted: int = 0
    answering: list[_Chosen] = field(default_factory=list)

    async def try_reading_tools(self, ask: Ask, tools: Sequence[Json]) -> None:
        """Select among the listed tools, and call those that only read."""
        if self.opted_out or self.policy is CallPolicy.OFF:
            return
        classified = classify_tools(tools[:_MAX_TOOLS])
        self.unlisted = len(tools[_MAX_TOOLS:])
        self.only_mutating = bool(classified) and all(
            tool.classification.authority.changes_state for tool in classified
        )
        readers, self.mutating = await self._choose(classified)
        self.answering = await self._call_all(ask, readers)
        self.skipped.sort(key=lambda row: row["index"])  # type: ignore[arg-type, return-value]

    async def make_mistakes(self, ask: Ask) -> None:
        """Call a tool that only reads and answered once more with each of two mistakes."""
        await self._call_with_mistakes(ask, self.answering)

    def reuse_mistakes(self, rows: Sequence[Mapping[str, Json]]) -> bool:
        """Take over earlier rows of the same calls with mistakes; whether there was one."""
        found = [row for kind, make in _MISTAKES if (row := self._find_mistake(kind, make, rows)) is not None]
        self.rows += found
        return bool(found)

    def _find_mistake(
        self, kind: TrialKind, make: MakeMistake, rows: Sequence[Mapping[str, Json]]
    ) -> dict[str, Json] | None:
        """The earlier row of the first tool that answered and would be called again with the same mistake."""
        for chosen in self.answering:
            mistake = make(chosen.tool.raw.get("inputSchema"), chosen.arguments)
            if mistake is None:
                continue
            about = _about(chosen.tool) | _about_mistake(kind, mistake)
            asked = {name: about[name] for name in ("tool", "kind", "parameter", "arguments")}
            for row in rows:
                if {name: row.get(name) for name in asked} == asked:
                    return {**row, **about}
        return None

    async def try_mutating_tools(self, ask: Ask, ready: Ready | None = None) -> None:
        """Call the other tools that may be called, and make the mistakes that no reading tool allowed.

        `ready` is awaited before each call and its time is not counted: it may wait for a slot of the sandbox.
        """
        if not self.mutating:
            return
        self.stopped, self.unanswered, self.ready = None, 0, ready  # a new process
        self.handed_out = None  # a mutating call's result depends on our made-up arguments
        await self._call_with_mistakes(ask, await self._call_all(ask, self.mutating))
        self.skipped.sort(key=lambda row: row["index"])  # type: ignore[arg-type, return-value]

    async def _call_all(self, ask: Ask, wanted: Sequence[_Chosen]) -> list[_Chosen]:
        """Call each; those that answered, results before errors."""
        self.left = self.bounds.total
        answering: list[tuple[str, _Chosen]] = []
        for chosen in wanted:
            if self.stopped:
                self._skip(chosen.tool, self.stopped, TIME_EXCEEDED if self.stopped is SkipReason.BOUND else "")
                continue
            outcome = await self._call(ask, chosen.tool, TrialKind.CALL, chosen.arguments)
            if outcome in {TrialOutcome.RESULT, TrialOutcome.TOOL_ERROR}:
                answering.append((outcome, chosen))
        answering.sort(key=lambda pair: pair[0] != TrialOutcome.RESULT)
        return [chosen for _, chosen in answering]

    async def _choose(self, tools: Sequence[ClassifiedTool]) -> tuple[list[_Chosen], list[_Chosen]]:
        """The first reading tools and the first others that may be called and for which arguments can be made.

        All others are skipped. Mutating tools do not use the places of reading tools.
        """
        parts = (_Part(self.bounds.tools), _Part(self.bounds.mutating))
        for tool in tools:
            part = parts[tool.classification.authority is not Authority.READ]
            if reason := explain_refusal(tool, self.policy):
                self._skip(tool, SkipReason(reason))
                continue
            if part.is_full:
                self._skip(tool, SkipReason.BOUND)
                continue
            part.left -= 1
            made = make_arguments(tool.raw.get("inputSchema", {}))
            await asyncio.sleep(0)  # lets other probes on this event loop continue
            if isinstance(made, NoArguments):
                self._skip(tool, SkipReason.NO_ARGUMENTS, made.why)
            else:
                part.chosen.append(_Chosen(tool, made))
        return parts[0].chosen, parts[1].chosen

    async def _call_with_mistakes(self, ask: Ask, answering: Sequence[_Chosen]) -> None:
        for kind, make in _MISTAKES:
            if any(row["kind"] == kind.value for row in self.rows):
                continue
            for chosen in answering:
                mistake = make(chosen.tool.raw.get("inputSchema"), chosen.arguments)
                if mistake and not self.stopped:
                    await self._call(ask, chosen.tool, kind, mistake.arguments, mistake)
                if mistake:
                    break

    async def _call(
        self,
        ask: Ask,
        tool: ClassifiedTool,
        kind: TrialKind,
        arguments: Mapping[str, Json],
        mistake: InvalidArguments | None = None,
    ) -> TrialOutcome | None:
        """Call once and record the outcome; None when there was no time or budget left to ask."""
        if self.ready:
            await self.ready()
        began = self.tick()
        seconds = min(self.bounds.call, self.left)
        reply = await self._ask(ask, {"name": tool.name, "arguments": arguments}, seconds) if seconds > 0 else None
        self.left -= self.tick() - began
        if reply is None or (reply.failure and reply.failure.reason is Reason.NOT_COLLECTED):
            self.stopped = SkipReason.BOUND
            if kind is TrialKind.CALL:
                self._skip(tool, SkipReason.BOUND, TIME_EXCEEDED)
            return None
        row = summarise_result(mistake.restore(reply) if mistake else reply, tool.raw)
        about = _about_mistake(kind, mistake) if mistake else _about_call(kind, arguments)
        self.rows.append(_about(tool) | about | row)
        self.calls.append({"tool": tool.name, "kind": kind.value, "ms": round(reply.exchange.seconds * 1000, 1)})
        self._stop_after(row)
        if self.handed_out is not None and kind is TrialKind.CALL and row["outcome"] == TrialOutcome.RESULT:
            self._keep_result(tool, reply)
        return TrialOutcome(str(row["outcome"]))

    def _keep_result(self, tool: ClassifiedTool, reply: Reply) -> None:
        if self.handed_out is not None and reply.result and isinstance(reply.result.value, Mapping):
            self.handed_out.append(tool_result_row(tool.name, tool.index, reply.result.value))

    async def _ask(self, ask: Ask, params: Mapping[str, Json], seconds: float) -> Reply:
        """Ask, and give up when the channel does not keep its own deadline."""
        try:
            async with asyncio.timeout(seconds + _GRACE):
                return await ask(METHOD, params, seconds=seconds)
        except TimeoutError:
            self.stopped = SkipReason.STOPPED
            late = TimedOut(f"no answer to {METHOD} within {seconds + _GRACE:g} s")
            return Reply(Exchange(transport="", method=METHOD, request=b"", began=0, seconds=seconds, failure=late))

    def _stop_after(self, row: Mapping[str, Json]) -> None:
        """Stop when the server asks for a pause or has stopped answering."""
        self.unanswered = self.unanswered + 1 if row["outcome"] == TrialOutcome.FAILURE else 0
        if row["reason"] == Reason.RATE_LIMITED or self.unanswered >= _MAX_UNANSWERED:
            self.stopped = SkipReason.STOPPED

    def _skip(self, tool: ClassifiedTool, reason: SkipReason, detail: str = "") -> None:
        self.skipped.append(_about(tool) | {"reason": reason.value, "detail": detail})

    def record_content(self) -> tuple[Observed | Absent, Mapping[str, Json]]:
        """Content and observation of the `trials` record; durations in milliseconds."""
        return self._content(), {"calls": self.calls}

    def _content(self) -> Observed | Absent:
        if self.opted_out:
            return Absent(Reason.OPTED_OUT, "the tools of this server may not be called")
        if self.policy is CallPolicy.OFF:
            return Absent(Reason.NOT_COLLECTED, "calling tools is switched off")
        if not self.rows and self.only_mutating and not self.unlisted and self.policy is not CallPolicy.SANDBOXED_ALL:
            return Absent(Reason.WRITE_ONLY, "every tool changes something")
        if self.rows and all(row["reason"] in _LOCKED or row["locked"] for row in self.rows):
            first = self.rows[0]
            if first["reason"] in _LOCKED:
                return Absent(Reason(str(first["reason"])), str(first["detail"]))
            return Absent(Reason.CREDENTIALS_REQUIRED, "every call is answered by a wish for credentials")
        body = {"policy": self.policy.value, "trials": self.rows, "skipped": self.skipped, "unlisted": self.unlisted}
        return Observed(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


MakeMistake: TypeAlias = Callable[[Json, Mapping[str, Json]], invalid_arguments.InvalidArguments | None]
_MISTAKES: Final[Sequence[tuple[TrialKind, MakeMistake]]] = (
    (TrialKind.INVALID_TYPE, invalid_arguments.make_wrong_type_arguments),
    (TrialKind.MISSING_REQUIRED, invalid_arguments.make_incomplete_arguments),
)
_LONGEST_NAME: Final = 200


def _about_call(kind: TrialKind, arguments: Mapping[str, Json], parameter: str = "") -> dict[str, Json]:
    return {"kind": kind.value, "parameter": parameter, "arguments": arguments}


def _about_mistake(kind: TrialKind, mistake: InvalidArguments) -> dict[str, Json]:
    return _about_call(kind, mistake.recorded, mistake.parameter)


def _about(tool: ClassifiedTool) -> dict[str, Json]:
    return {
        "tool": tool.name[:_LONGEST_NAME],  # unmasked, as in the listing
        "index": tool.index,
        "class": tool.classification.authority.value,
        "basis": tool.classification.basis.value,
        "why": tool.classification.why,
    }
