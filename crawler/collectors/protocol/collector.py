"""ProtocolCollector: tries a server's targets in order until one can be listed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from crawler.collector import Scarce, make_record
from crawler.collectors.protocol.probes import carry_over
from crawler.collectors.protocol.probes.probe import Finding, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.probes.remote_probe import RemoteProbe
from crawler.collectors.protocol.questions import exchanges_body
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.samples import sample_window as sampling
from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.session.dialogue import ProbeLimits
from crawler.collectors.protocol.stdio.recording_launcher import RecordingLauncher, behaviour_content
from crawler.collectors.protocol.stdio.trial_reuse import is_same_evidence
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.http.credentials import Credentials
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import Launcher
from evidence.canonical import Json
from evidence.kinds import access, behaviour, exchanges, falls, handouts, listing, samples, trials
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType

if TYPE_CHECKING:
    from crawler.collectors.protocol.stdio.carried_starts import StartIdentity

VERSION: Final = 5
_RUNNABLE: Final = frozenset({TargetType.NPM, TargetType.PYPI, TargetType.OCI, TargetType.COMMAND})
_INSTALLED: Final = frozenset({TargetType.NPM, TargetType.PYPI})
_WEEKLY: Final = "weekly"
_MIN_SECONDS: Final = 0.5  # seconds; with less time left no other URL is tried


class ProtocolCollector:
    """Collects every kind that a conversation with a server yields.

    `launcher` is None where there is no sandbox, and then packages are not started. `depth` is `core`, `full`, or
    `weekly` (full when the last full probe of a server is at least seven days old). `opted_out` holds the registries,
    servers and targets whose tools must not be called. With `listen` a full probe also opens a subscription for some
    seconds. `retest` makes this a re-test: a core probe that also asks the selected questions. `on_exchange` is called
    after each exchange. With `identify`, an unchanged package is not started on most nights.
    """

    name: Final = "protocol"
    version: Final = VERSION
    kinds: Final = tuple(
        kind.KIND for kind in (listing, exchanges, access, trials, handouts, samples, behaviour, falls)
    )
    needs: Final = Scarce.SERVER

    def __init__(
        self,
        engine: HttpEngine,
        launcher: Launcher | None,
        limiter: HostRateLimiter,
        clock: Callable[[], datetime],
        limits: ProbeLimits | None = None,
        *,
        client_version: str = "0",
        depth: str = "core",
        spread: bool = False,
        policy: CallPolicy = CallPolicy.ANNOTATED,
        credentials: Credentials | None = None,
        opted_out: Collection[str] = (),
        listen: bool = False,
        retest: QuestionSelection | None = None,
        on_exchange: Callable[[], None] | None = None,
        identify: StartIdentity | None = None,
    ) -> None:
        self._engine = engine
        self._launcher = launcher
        self._clock = clock
        self._dependencies = ProbeDependencies(
            limiter=limiter,
            clock=clock,
            limits=limits or ProbeLimits(),
            client_version=client_version,
            on_exchange=on_exchange,
        )
        self._depth = depth
        self._spread = spread
        self._policy = policy
        self._credentials = credentials or Credentials()
        self._opted_out = frozenset(opted_out)
        self._listen = listen
        self._retest = retest
        self._identify = identify if retest is None else None

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """One record per kind of the first target that opens; if none opens, the reasons of the first target.

        While this machine is offline no other target is tried: its evidence would replace that of the first one. All
        URLs together get the time of one server.
        """
        options = self._build_options(target, earlier)
        first: ProbeResult | None = None
        unreachable: set[str] = set()  # addresses that are not tried again over another transport
        left = self._dependencies.limits.total
        time = AskingTime(self._dependencies.limits.all_starts)
        for position, candidate in enumerate(target.targets):
            remote_left = min(left, time.seconds)
            if candidate.identifier in unreachable or (candidate.type.is_remote and remote_left < _MIN_SECONDS):
                continue
            if (carried := await self._carry(target, candidate, options, earlier)) is not None:
                return carried
            probed = await self._probe(candidate, options, earlier, remote_left, time)
            left -= probed.seconds
            time.spend(probed.seconds)
            if isinstance(probed.listing, Observed):
                return self._records(target, probed, position, earlier)
            if probed.listing.reason is Reason.COLLECTOR_OFFLINE:
                return self._records(target, probed, position, earlier)
            if probed.listing.reason in _UNREACHABLE:
                unreachable.add(candidate.identifier)
            first = first or probed
        nothing = ProbeResult(listing=Absent(Reason.NO_PACKAGE, "neither a remote nor a package is declared"))
        return self._records(target, first or nothing, 0, earlier)

    def _build_options(self, server: Server, earlier: Dossier) -> ProbeOptions:
        depth = self._depth if self._retest is None else exchanges_body.CORE
        if depth == _WEEKLY:
            weekday = int(server.id[-8:], 16) % 7 if self._spread else None
            due = carry_over.is_full_probe_due(earlier.records.get(exchanges.KIND), self._clock(), weekday)
            depth = exchanges_body.FULL if due else exchanges_body.CORE
        names = {server.ref, server.name, *server.seen_in, *(target.identifier for target in server.targets)}
        return ProbeOptions(
            depth=depth,
            policy=self._policy,
            opted_out=bool(names & self._opted_out),
            credentials=self._credentials,
            listen=self._listen,
            retest=self._retest,
        )

    async def _probe(
        self, target: Target, options: ProbeOptions, earlier: Dossier, left: float, time: AskingTime
    ) -> ProbeResult:
        if target.type.is_remote:
            known = earlier.records.get(falls.KIND), earlier.records.get(trials.KIND)
            limited = replace(self._dependencies, limits=replace(self._dependencies.limits, total=left))
            return await RemoteProbe(self._engine, limited, options, *known).run(target)
        if target.type not in _RUNNABLE:
            return ProbeResult(listing=Absent(Reason.RUNTIME_UNSUPPORTED, f"{target.type} packages are not run yet"))
        if self._launcher is None:
            return ProbeResult(listing=Absent(Reason.NO_SANDBOX, "no sandbox is available here"))
        from crawler.collectors.protocol.stdio.start_attempts import StartAttempts  # noqa: PLC0415  only for packages

        recorder = RecordingLauncher(self._launcher)
        probed = await StartAttempts(recorder, self._dependencies, options, earlier, time).run(target)
        probed = replace(probed, behaviour=recorder.behaviour())
        if (name := await self._name_start(target, options)) is None:
            return probed
        from crawler.collectors.protocol.stdio.carried_starts import note_start  # noqa: PLC0415

        return replace(probed, observation={**probed.observation, **note_start(name, probed.listing, earlier)})

    async def _carry(
        self, server: Server, target: Target, options: ProbeOptions, earlier: Dossier
    ) -> list[Record] | None:
        """The records of an earlier start that would be the same tonight; None when the target has to be probed."""
        if options.is_full or listing.KIND not in earlier.records:
            return None
        if (name := await self._name_start(target, options)) is None:
            return None
        from crawler.collectors.protocol.stdio.carried_starts import carry_records  # noqa: PLC0415  only for packages

        return carry_records(name, earlier, self.kinds, self._clock(), is_only_target=len(server.targets) == 1)

    async def _name_start(self, target: Target, options: ProbeOptions) -> str | None:
        if self._identify is None or target.type not in _INSTALLED:
            return None
        identity = await self._identify(target)
        if identity is None:
            return None
        from crawler.collectors.protocol.stdio.carried_starts import name_start  # noqa: PLC0415

        return name_start(identity, target, options.policy.value, str(options.opted_out))

    def _records(self, server: Server, probed: ProbeResult, position: int, earlier: Dossier) -> list[Record]:
        at = self._clock()
        listing_absence: Finding = (probed.listing if isinstance(probed.listing, Absent) else _NOTHING, {})
        sample = sampling.roll_sample_window(
            earlier.records.get(samples.KIND),
            probed.attempted,
            at=at,
            cold_ms=probed.cold_ms,
            warm_ms=probed.warm_ms,
        )
        exchanged = self._exchanges(probed, earlier, at) or listing_absence
        found: Mapping[str, Finding] = {
            listing.KIND: (probed.listing, {**probed.observation, "target": position}),
            exchanges.KIND: exchanged,
            access.KIND: self._access(probed, earlier, at)
            or (_no_access(server.targets[position:][:1], listing_absence[0]), {}),
            trials.KIND: probed.trials or listing_absence,
            handouts.KIND: carry_over.carry_over_handouts(
                probed.handouts, exchanged, earlier.records.get(handouts.KIND)
            )
            or listing_absence,
            samples.KIND: sample,
            behaviour.KIND: (
                behaviour_content(probed.behaviour, server.targets[position:][:1], listing_absence[0]),
                {},
            ),
            falls.KIND: probed.falls or (_known_falls(probed.listing, earlier.records.get(falls.KIND)), {}),
        }
        return [make_record(self, server, kind, *found[kind], at=at) for kind in self.kinds]

    def _exchanges(self, probed: ProbeResult, earlier: Dossier, at: datetime) -> Finding | None:
        """The exchanges, completed with what an earlier full probe asked beyond them."""
        if probed.exchanges is None or not isinstance(fresh := probed.exchanges[0], Observed):
            return probed.exchanges
        same_lists = is_same_evidence(earlier.read(listing.KIND), probed.listing)
        known = earlier.records.get(exchanges.KIND)
        due: Mapping[str, Json] = {} if self._retest is None else {carry_over.FULL_DUE: True}
        return carry_over.carry_over_exchanges(fresh, {**probed.exchanges[1], **due}, known, at, same_lists=same_lists)

    def _access(self, probed: ProbeResult, earlier: Dossier, at: datetime) -> Finding | None:
        """The access finding. That of an open server is completed with metadata that only a full probe requests."""
        is_complete = _is_full(probed) or bool(self._retest and self._retest.metadata)
        if probed.access is None or not isinstance(fresh := probed.access[0], Observed) or is_complete:
            return probed.access
        asked = carry_over.read_full_probe_time(earlier.records.get(exchanges.KIND))
        return carry_over.carry_over_access(fresh, probed.access[1], earlier.records.get(access.KIND), asked, at)


def _is_full(probed: ProbeResult) -> bool:
    return probed.exchanges is not None and carry_over.FULL_AT in probed.exchanges[1]


_UNREACHABLE: Final = frozenset({Reason.TIMEOUT, Reason.TLS_ERROR, Reason.BLOCKED_ADDRESS})
_NOTHING: Final = Absent(Reason.NOT_COLLECTED)


def _no_access(targets: Sequence[Target], otherwise: Observed | Absent) -> Observed | Absent:
    """The reason why a target has no access record when no HTTP request was made to it."""
    if targets and not targets[0].type.is_remote:
        return Absent(Reason.TRANSPORT_UNSUPPORTED, "access is a question of HTTP")
    return otherwise


def _known_falls(listed: Observed | Absent, earlier: Record | None) -> Observed | Absent:
    """The falls of a target that was not asked over HTTP: what is known of a server outlives that it does not open."""
    if isinstance(listed, Observed):
        return Absent(Reason.TRANSPORT_UNSUPPORTED, "a process serves one client only")
    is_kept = earlier is not None and isinstance(earlier.content, Observed) and listed.reason is not Reason.OPTED_OUT
    return earlier.content if earlier is not None and is_kept else listed
