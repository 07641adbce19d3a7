"""Starts a package or command with placeholders for the inputs that it requires, and probes it once it opens.

Inputs that a registry declares as required are given at once. A server that does not open and names what it misses is
started again with that. If it never opens with placeholders, it is started once without them, so that no failure is
caused by our placeholders. One that listens on a port instead of stdio is started again and probed there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.collectors.protocol.probes.probe import ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.session.absence_reasons import (
    describe_needed_hosts,
    explain_limit,
    find_containment_cause,
    find_credentials_request,
    is_network_cause,
)
from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.stdio.port_probe import LISTENS, PortStart
from crawler.collectors.protocol.stdio.recording_launcher import RecordingLauncher
from crawler.collectors.protocol.stdio.stdio_probe import StdioProbe
from crawler.launcher import Launcher
from crawler.placeholders import (
    Configured,
    configure_target,
    find_refused_inputs,
    find_still_missing_inputs,
    with_inputs,
)
from crawler.sandbox.failure_messages import fails_in_code
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json
from evidence.json_members import object_or_empty, objects_in
from evidence.kinds import falls, listing
from evidence.kinds.listing import CONTAINING, LISTS, PLACEHOLDERS, End, Listing
from evidence.model import Absent, Dossier, Observed, Reason, Record, Target, TargetType
from evidence.package_inputs import PackageInput

MAX_FURTHER_STARTS: Final = 3
"""Starts with inputs that a server named. Each must name a new one, since many servers check them one by one."""

_NAMED: Final = "named"
_NAMES: Final = 4
_LONGEST_NAME: Final = 80
_UNANSWERED: Final = (Reason.UNREACHABLE.value, Reason.TIMEOUT.value)
_ANSWERED: Final = frozenset({Reason.OAUTH_REQUIRED, Reason.NOT_MCP})
_REFUSED: Final = frozenset(
    {
        Reason.START_FAILED,
        Reason.CREDENTIALS_REQUIRED,
        Reason.OAUTH_REQUIRED,
        Reason.NOT_MCP,
        Reason.TIMEOUT,
        Reason.SANDBOX_RESTRICTED,
        Reason.TRANSPORT_UNSUPPORTED,
    }
)


class StartAttempt(Struct, frozen=True, kw_only=True):
    """One start with some placeholders, and its result. `output` is what the server wrote beside its answers.

    `hosts` are those that its processes tried to reach, in vain; `limit` is that at which the sandbox ended the first;
    `ports` are those on which the first listened; `substitute` names the version that stands for a declared one.
    """

    configured: Configured
    named: Sequence[PackageInput]
    probed: ProbeResult
    output: str
    runtime: str
    hosts: Sequence[str] = ()
    limit: str = ""
    ports: Sequence[int] = ()
    substitute: str = ""

    @property
    def opened(self) -> bool:
        """Whether it listed its tools, or listed none without naming a missing input."""
        content = self.probed.listing
        if not isinstance(content, Observed):
            return False
        is_limited = bool(find_credentials_request(self.output) or self.containment)
        return not (is_limited and _is_unlisted(content))

    @property
    def containment(self) -> Absent | None:
        """The restriction of our sandbox that kept it from opening, if there is one.

        The output of a process that was stopped may be incomplete. For a process that was silent too long, or did not
        send its list, the contacted hosts therefore count as well. A process that ended by itself, or answered, has
        written all that it had to. A process that we ended at a limit ended for nothing else.
        """
        if _reason(self) in _ANSWERED:
            return None
        if self.limit:
            return explain_limit(self.limit)
        stopped = _reason(self) is Reason.TIMEOUT or self.ended_early
        is_image = self.configured.target.type is TargetType.OCI
        if output := find_containment_cause(self.output, is_image=is_image):
            return describe_needed_hosts(self.hosts) or output if is_network_cause(output) else output
        return describe_needed_hosts(self.hosts) if stopped else None

    @property
    def ended_early(self) -> bool:
        """Whether it opened and did not answer with its tools: the next time it may."""
        content = self.probed.listing
        tools = Listing.parse(content.body).tools if isinstance(content, Observed) else None
        return tools is not None and tools.end is End.FAILED and str(tools.error).startswith(_UNANSWERED)

    @property
    def needs_credentials(self) -> bool:
        return _reason(self) in {Reason.CREDENTIALS_REQUIRED, Reason.OAUTH_REQUIRED}

    @property
    def refused(self) -> bool:
        """Whether a missing input may have kept it from opening, in a sandbox where it may be given anything."""
        content = self.probed.listing
        is_conclusive = isinstance(content, Observed) or content.reason in _REFUSED
        return is_conclusive and not self.opened and self.runtime in CONTAINING

    @property
    def may_need_more(self) -> bool:
        """Whether more inputs may give a better result: it did not open, or it lists nothing without an error."""
        content = self.probed.listing
        silent = isinstance(content, Observed) and self.runtime in CONTAINING and _is_unlisted(content)
        return self.refused or silent


class StartAttempts:
    """The starts of one target in one probe. `earlier` has the inputs that the server named in an earlier run.

    `time` is what starts of other targets of the server have left.
    """

    def __init__(
        self,
        launcher: Launcher,
        dependencies: ProbeDependencies,
        options: ProbeOptions,
        earlier: Dossier | None = None,
        time: AskingTime | None = None,
    ) -> None:
        self._launcher = launcher
        self._dependencies = dependencies
        self._options = options
        self._earlier = earlier
        self._time = AskingTime(dependencies.limits.all_starts) if time is None else time

    async def run(self, target: Target) -> ProbeResult:
        """The result of the first start that opens, else the reason why none does."""
        target = _with_known_address(target, self._earlier)
        first = last = await self._attempt(target, find_inputs_named_before(self._earlier))
        if (moved := _on_other_transport(target, last)) is not None:
            target, other = moved, await self._attempt(moved, last.named)
            first = last = other if other.opened or moved.launch.url else last
        last = await self._start_with_named(target, last)
        if last.ended_early and last.refused:
            again = await self._start(last.configured, last.named)
            last = again if again.opened else last
        if last.refused and first.configured.given:
            first = _prefer(first, await self._start(Configured(replace(target, inputs=()), ()), ()))
            last = first if first.opened else last
        if _is_broken_by_dependencies(last):
            first, last = await self._start_as_of_release(target, first, last)
        return _add_placeholders_note(last, _name_version(last, choose_probe_result(first, last)))

    async def _start_with_named(self, target: Target, last: StartAttempt) -> StartAttempt:
        """The last of the starts, each with the inputs that the one before named; the given one if it named none."""
        for _ in range(MAX_FURTHER_STARTS):
            further = _find_further_inputs(target, last) if last.may_need_more else ()
            if not further:
                break
            last = _prefer(last, await self._attempt(target, with_inputs(last.named, further)))
        return last

    async def _start_as_of_release(
        self, target: Target, first: StartAttempt, last: StartAttempt
    ) -> tuple[StartAttempt, StartAttempt]:
        """The start with the dependencies of the release, if it opens and those of today fail once more.

        A failure may be one of this moment only, or of dependencies that were repaired since they were installed here.
        """
        older = replace(target, as_of_release=True)
        dated = await self._start_with_named(older, await self._attempt(older, last.named))
        if not dated.opened:
            return first, last
        again = _prefer(last, await self._start(last.configured, last.named))
        return (dated, dated) if _is_broken_by_dependencies(again) else (again, again)

    async def _attempt(self, target: Target, named: Sequence[PackageInput]) -> StartAttempt:
        return await self._start(configure_target(target, named), named)

    async def _start(self, configured: Configured, named: Sequence[PackageInput]) -> StartAttempt:
        recorder = RecordingLauncher(self._launcher)
        probe: StdioProbe | PortStart = (
            PortStart(recorder, self._dependencies, self._options, self._time, _read_known_falls(self._earlier))
            if configured.target.launch.url
            else StdioProbe(recorder, self._dependencies, self._options, self._earlier, self._time)
        )
        probed = await probe.run(configured.target)
        return StartAttempt(
            configured=configured,
            named=named,
            probed=probed,
            output=probe.output,
            runtime=probe.runtime or "",
            hosts=recorder.contacted_hosts(),
            limit=probe.limit,
            ports=probe.ports,
            substitute=recorder.substitute(),
        )


def _prefer(earlier: StartAttempt, later: StartAttempt) -> StartAttempt:
    """The later start, unless our time for the server was over before it showed anything."""
    return earlier if _reason(later) is Reason.NOT_COLLECTED else later


def _read_known_falls(earlier: Dossier | None) -> Record | None:
    return earlier.records.get(falls.KIND) if earlier else None


def _with_known_address(target: Target, earlier: Dossier | None) -> Target:
    """The target with the address at which it was probed in an earlier run."""
    record = earlier.records.get(listing.KIND) if earlier else None
    known = record.observation.get(LISTENS) if record and isinstance(record.content, Observed) else None
    return _at_address(target, known) if isinstance(known, str) else target


def _on_other_transport(target: Target, first: StartAttempt) -> Target | None:
    """The target for a start on the port on which it listened, or on stdio if it listened on none; else None."""
    if target.launch.url:
        return None if first.opened or _reason(first) is not Reason.TIMEOUT else _at_address(target, "")
    is_listening = first.ports and _reason(first) is Reason.TRANSPORT_UNSUPPORTED
    return _at_address(target, f"http://127.0.0.1:{first.ports[0]}") if is_listening else None


def _at_address(target: Target, url: str) -> Target:
    return replace(target, launch=replace(target.launch, url=url))


def _is_broken_by_dependencies(last: StartAttempt) -> bool:
    """Whether a package may start with the dependencies that it had when it was released."""
    is_package = last.configured.target.type in {TargetType.NPM, TargetType.PYPI}
    failed = _reason(last) is Reason.START_FAILED and last.refused and last.containment is None
    return is_package and failed and fails_in_code(last.output)


def _find_further_inputs(target: Target, last: StartAttempt) -> Sequence[PackageInput]:
    """The inputs of the next start: those with a value that the output accepts, else those that it misses."""
    return find_refused_inputs(target, last.named, last.output) or find_still_missing_inputs(
        target, last.configured.given, last.output
    )


def find_inputs_named_before(earlier: Dossier | None) -> Sequence[PackageInput]:
    """The inputs that the server named in an earlier run in which it opened with them: it need not refuse again."""
    record = earlier.records.get(listing.KIND) if earlier else None
    if record is None or isinstance(record.content, Absent):
        return ()
    rows = objects_in(object_or_empty(record.observation.get(PLACEHOLDERS)).get(_NAMED))
    return tuple(PackageInput.from_json(row) for row in rows)


def choose_probe_result(first: StartAttempt, last: StartAttempt) -> ProbeResult:
    """The result of the last start, which had the declared inputs. If none opened, the reason why it did not."""
    if not last.refused:
        return last.probed
    words = _find_credentials_words(first, last)
    why = Absent(Reason.CREDENTIALS_REQUIRED, words) if words else last.containment or first.containment
    if why is None:
        return first.probed if first.opened else _name_placeholders(first, last)
    silent = isinstance(last.probed.listing, Absent) and not words
    return replace(last.probed, listing=why) if silent else _without_findings(last.probed, why)


def _find_credentials_words(first: StartAttempt, last: StartAttempt) -> str | None:
    """What the server says about credentials, if they are what it lacks.

    The start with the declared inputs decides. A server that demands credentials before anything else, and with made-up
    ones is cut off from the network or answers with an error, checks them.
    """
    words = find_credentials_request(last.output) if last.containment is None else None
    if words or last.limit or not first.needs_credentials:
        return words
    why = last.probed.listing if _reason(last) in _ANSWERED else last.containment
    words = find_credentials_request(first.output) if isinstance(why, Absent) else None
    return (
        f"{words}; with a placeholder {why.detail}"
        if words and isinstance(why, Absent) and first is not last
        else words
    )


def _name_placeholders(first: StartAttempt, last: StartAttempt) -> ProbeResult:
    """The last result; a failure that only placeholders cause names them."""
    why, given = last.probed.listing, [each.name for each in last.configured.given]
    if not isinstance(why, Absent) or why == first.probed.listing or not given:
        return last.probed
    names = ", ".join(name[:_LONGEST_NAME] for name in given[:_NAMES])
    return replace(last.probed, listing=Absent(why.reason, f"with placeholders for {names}: {why.detail}"))


def _name_version(attempt: StartAttempt, probed: ProbeResult) -> ProbeResult:
    """The result; a reason of another version than the declared one names both."""
    why = probed.listing
    if not attempt.substitute or not isinstance(why, Absent) or why.reason is Reason.NOT_COLLECTED:
        return probed
    return replace(probed, listing=Absent(why.reason, f"{attempt.substitute}{why.detail}"))


def _without_findings(probed: ProbeResult, why: Absent) -> ProbeResult:
    """The result without the findings that an empty listing does not support."""
    return replace(probed, listing=why, exchanges=None, trials=None, handouts=None)


def _reason(attempt: StartAttempt) -> Reason | None:
    content = attempt.probed.listing
    return content.reason if isinstance(content, Absent) else None


def _add_placeholders_note(attempt: StartAttempt, probed: ProbeResult) -> ProbeResult:
    facts = object_or_empty(attempt.configured.facts.get(PLACEHOLDERS))
    if not facts:
        return probed
    named: list[Json] = [replace(each, hint=mask_secrets(each.hint)).as_json() for each in attempt.named]
    note: Mapping[str, Json] = {PLACEHOLDERS: {**facts, _NAMED: named}}
    return replace(probed, observation={**probed.observation, **note})


def _is_unlisted(content: Observed) -> bool:
    """Whether nothing was listed, or the tools were not listed because of an error or the end of the process."""
    listed = Listing.parse(content.body)
    return listed.tools.end in {End.ERROR, End.FAILED} or not any(listed.list_of(name).items for name in LISTS)
