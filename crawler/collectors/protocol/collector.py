"""ProtocolCollector: tries a server's targets in order until one can be listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from crawler.collectors.protocol.dialogue import ProbeLimits
from crawler.collectors.protocol.probe import Probed, RemoteProbe, StdioProbe
from crawler.courtesy import Courtesy
from crawler.wire.http import Engine
from crawler.wire.launch import Launcher
from evidence.canonical import Json
from evidence.kinds.listing import KIND, SCHEMA
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType

VERSION: Final = 1
_RUNNABLE: Final = frozenset({TargetType.NPM, TargetType.PYPI, TargetType.COMMAND})


class ProtocolCollector:
    """Answers for kind `listing`. `launcher` None: there is no sandbox here, so packages are not started."""

    name: Final = "protocol"
    version: Final = VERSION
    kinds: Final = (KIND,)

    def __init__(
        self,
        engine: Engine,
        launcher: Launcher | None,
        courtesy: Courtesy,
        clock: Callable[[], datetime],
        limits: ProbeLimits | None = None,
        *,
        client_version: str = "0",
    ) -> None:
        self._engine = engine
        self._launcher = launcher
        self._courtesy = courtesy
        self._clock = clock
        self._limits = limits or ProbeLimits()
        self._client_version = client_version

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """One listing record: the first target that opens, else why the first one did not."""
        first: Probed | None = None
        for position, candidate in enumerate(target.targets):
            probed = await self._probe(candidate)
            if isinstance(probed.content, Observed):
                return [self._record(target, probed, position)]
            first = first or probed
        nothing = Probed(Absent(Reason.NO_PACKAGE, "neither a remote nor a package is declared"))
        return [self._record(target, first or nothing, 0)]

    async def _probe(self, target: Target) -> Probed:
        if target.type.is_remote:
            remote = RemoteProbe(self._engine, self._courtesy, self._clock, self._limits, self._client_version)
            return await remote.run(target)
        if target.type not in _RUNNABLE:
            return Probed(Absent(Reason.RUNTIME_UNSUPPORTED, f"{target.type} packages are not run yet"))
        if self._launcher is None:
            return Probed(Absent(Reason.SANDBOX_RESTRICTED, "no sandbox is available here"))
        process = StdioProbe(self._launcher, self._courtesy, self._clock, self._limits, self._client_version)
        return await process.run(target)

    def _record(self, server: Server, probed: Probed, position: int) -> Record:
        observation: Mapping[str, Json] = {**probed.observation, "target": position}
        return Record(
            server=server.id,
            kind=KIND,
            schema=SCHEMA,
            collector=self.name,
            collector_version=self.version,
            observed_at=self._clock(),
            content=probed.content,
            observation=observation,
        )
