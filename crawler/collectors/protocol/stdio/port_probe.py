"""A probe of a package or command that listens on a port inside its box, over connections into the box."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import ClassVar, Final

from msgspec.structs import replace

from crawler.collectors.protocol.probes.probe import Finding, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.probes.remote_probe import RemoteProbe
from crawler.collectors.protocol.session.absence_reasons import describe_ports, explain_exit
from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.session.handshake import Opened
from crawler.collectors.protocol.stdio.processes import describe_installation
from crawler.collectors.protocol.stdio.trial_reuse import ProcessStart
from crawler.collectors.protocol.trials.call_policy import CallPolicy, choose_call_policy
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import TIME_OVER, Limits
from crawler.http.engine import HttpEngine, HttpSession
from crawler.http.failures import InvalidTarget, Unreachable
from crawler.http.url import parse_url
from crawler.launcher import LaunchedServer, Launcher
from crawler.mcp.channel import CLIENT_NAME
from crawler.mcp.transcript import Exchange, Reply
from crawler.secret_masking import mask_tail
from evidence.canonical import Json
from evidence.model import Absent, Observed, Reason, Record, Target, TargetType

LISTENS: Final = "listens"
"""The note with the address at which a server was probed."""

_PATHS: Final = ("/mcp", "/sse", "/")
_PORTS: Final = 3
_POLL: Final = 0.1
_SETTLING: Final = 2.0  # seconds for a declared port after another one is open
_NOISE: Final = 64 * 1024
_FIRST_BYTE: Final = 15.0  # seconds, unless a process has less
_NO_ANSWER: Final = Exchange(
    transport="stdio",
    method="",
    request=b"",
    began=0,
    seconds=0,
    failure=Unreachable("the process ended before answering", connected=True),
)
_TELLING: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.NOT_COLLECTED}
)


class PortStart:
    """Starts a target and probes its port. After `run`: `output`, `runtime`, `limit` and `ports` as of a StdioProbe."""

    def __init__(
        self,
        launcher: Launcher,
        dependencies: ProbeDependencies,
        options: ProbeOptions,
        time: AskingTime,
        known_falls: Record | None = None,
    ) -> None:
        self._known_falls = known_falls
        self._launcher = launcher
        self._dependencies = dependencies
        self._options = options
        self._time = time
        self._written = bytearray()
        self.output = self.limit = ""
        self.runtime: str | None = None
        self.ports: tuple[int, ...] = ()

    async def run(self, target: Target) -> ProbeResult:
        """Start the target, wait until it listens, and probe the first address that speaks MCP."""
        if self._time.is_over:
            return ProbeResult(listing=Absent(Reason.NOT_COLLECTED, TIME_OVER))
        launched = await self._launcher.launch(target)
        if isinstance(launched, Absent):
            return ProbeResult(listing=launched)
        self.runtime = launched.runtime
        reading = asyncio.create_task(self._read(launched))
        began = asyncio.get_running_loop().time()
        try:
            ports = await self._wait_for_ports(target, launched, reading)
            found = await self._probe(target, launched, ports, began)
        finally:
            is_over = reading.done()
            reading.cancel()
            ending = await asyncio.shield(launched.stop())
            spent = asyncio.get_running_loop().time() - began
            is_cut = self._time.seconds < self._dependencies.limits.stdio_answer
            self._time.spend(spent)
        noise = bytes(self._written)
        self.limit, self.output = ending.limit, f"{ending.stderr}\n{noise.decode('utf-8', 'replace')}"
        if found is None:
            silence = f"it listens on no port within {self._dependencies.limits.stdio_answer:g} s"
            late = Absent(Reason.NOT_COLLECTED, TIME_OVER) if is_cut else Absent(Reason.TIMEOUT, silence)
            ended = explain_exit(ending, launched.facts, noise, Reply(_NO_ANSWER), "initialize")
            found = ProbeResult(listing=ended if is_over or ending.limit else late)
        if ending.limit:  # our limit ended it: that is no fall
            found = replace(found, falls=None, fell="")
        notes: Mapping[str, Json] = {
            **ProcessStart.from_launch(target, launched.facts).notes,
            "exit": ending.code,
            "stderr": mask_tail(ending.stderr),
        }
        return replace(found, observation={**found.observation, **notes})

    async def _read(self, launched: LaunchedServer) -> None:
        """Read its output, which would stop it when the pipe is full."""
        while data := await launched.read(_NOISE):
            self._written += data
            del self._written[:-_NOISE]

    async def _wait_for_ports(
        self, target: Target, launched: LaunchedServer, reading: asyncio.Task[None]
    ) -> tuple[int, ...]:
        """The ports on which it listens, the declared one first; empty if there is none in time."""
        declared = _declared_port(target)
        seen: tuple[int, ...] = ()
        clock = asyncio.get_running_loop().time
        end = clock() + min(self._dependencies.limits.stdio_answer, self._time.seconds)
        while not reading.done() and clock() < end:
            ports = launched.list_ports()
            if declared in ports:
                return (declared, *(port for port in ports if port != declared))[:_PORTS]
            if ports and not seen:
                end = min(end, clock() + _SETTLING)
            seen = ports or seen
            await asyncio.sleep(_POLL)
        return seen[:_PORTS]

    async def _probe(
        self, target: Target, launched: LaunchedServer, ports: tuple[int, ...], began: float
    ) -> ProbeResult | None:
        """The result at the first address that opens, else the most telling one; None if it listens nowhere."""
        engine = HttpEngine(
            user_agent=f"{CLIENT_NAME}/{self._dependencies.client_version}",
            guard=AddressGuard(allow_private=True),
            limits=Limits(first_byte=min(_FIRST_BYTE, self._dependencies.limits.stdio_answer)),
            dial=launched.connect,
        )
        refused: list[ProbeResult] = []
        silent: set[int] = set()
        for url in _addresses(target, ports):
            if (port := parse_url(url).origin.port) in silent:
                continue
            most = min(self._dependencies.limits.total, self._time.seconds)
            left = most - (asyncio.get_running_loop().time() - began)
            if left < 1:
                refused.append(ProbeResult(listing=Absent(Reason.NOT_COLLECTED, TIME_OVER)))
                break
            limited = replace(self._dependencies, limits=replace(self._dependencies.limits, total=left))
            probe = PortProbe(engine, limited, self._options, target, launched)
            probe.known_falls = self._known_falls
            probed = await probe.run(Target(type=TargetType.STREAMABLE_HTTP, identifier=url))
            if isinstance(probed.listing, Observed):
                return replace(probed, observation={**probed.observation, LISTENS: url})
            refused.append(probed)
            if isinstance(probed.listing, Absent) and probed.listing.reason is Reason.TIMEOUT:
                silent.add(port)  # its other paths would take as long again
        if not ports:
            return None
        telling = (one for one in refused if isinstance(one.listing, Absent) and one.listing.reason in _TELLING)
        why = Absent(Reason.TRANSPORT_UNSUPPORTED, f"{describe_ports(ports)}, and speaks no MCP there")
        return next(telling, ProbeResult(listing=why))


class PortProbe(RemoteProbe):
    """The probe of one address inside a box; what it finds is of the package, in its runtime.

    A version that falls is asked there, where the process has no users, except at its opening: lists are worth more.
    """

    is_spared: ClassVar[bool] = False
    mistakes_at_once: ClassVar[bool] = True

    def __init__(
        self,
        engine: HttpEngine,
        dependencies: ProbeDependencies,
        options: ProbeOptions,
        package: Target,
        launched: LaunchedServer,
    ) -> None:
        super().__init__(engine, dependencies, options)
        self._package = package
        self._launched = launched

    async def read_lists(
        self, target: Target, opened: Opened, sandbox: str, installed: Mapping[str, Json] | None = None
    ) -> Observed | Absent:
        installed = describe_installation(self._launched.facts)
        return await super().read_lists(self._package, opened, self._launched.runtime, installed)

    async def try_tools(self, opened: Opened, policy: CallPolicy) -> None:
        await super().try_tools(opened, choose_call_policy(self.options.policy, self._launched.runtime))

    async def _collect_access(self, target: Target, session: HttpSession) -> None:
        """Ask nothing: whether strangers get in is a question to a server that others reach."""

    def result(self, target: Target, content: Observed | Absent) -> ProbeResult:
        return replace(super().result(self._package, content), access=None)

    def _exchanges(self, target: Target) -> Finding | None:
        return super()._exchanges(self._package)


def _addresses(target: Target, ports: tuple[int, ...]) -> Iterator[str]:
    path = ""
    with suppress(InvalidTarget):
        path = parse_url(target.launch.url).target
    for port in ports:
        for each in dict.fromkeys((path, *_PATHS) if path.strip("/") else _PATHS):
            yield f"http://127.0.0.1:{port}{each}"


def _declared_port(target: Target) -> int:
    try:
        return parse_url(target.launch.url).origin.port
    except InvalidTarget:
        return 0
