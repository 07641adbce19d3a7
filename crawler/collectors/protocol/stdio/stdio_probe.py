"""A probe of a package or command: legacy first, since a process speaks one era and some exit on an unknown method.

Everything that needs a fresh start gets its own process: the other era, and versions unless a process agrees to them.
Mutating tools are called last.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from crawler.collectors.protocol.probes.probe import Probe, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.session.absence_reasons import explain_exit
from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.session.dialogue import Dialogue, QuestionBudget
from crawler.collectors.protocol.session.handshake import Opened, OpeningRefused, discover, initialize
from crawler.collectors.protocol.stdio.mutating_calls import MutatingCallProcess
from crawler.collectors.protocol.stdio.processes import StartedProcess, TargetProcesses, describe_installation
from crawler.collectors.protocol.stdio.stdio_questions import StdioQuestions
from crawler.collectors.protocol.stdio.trial_reuse import ProcessStart, has_opened_before, reuse_trials
from crawler.collectors.protocol.trials.call_policy import choose_call_policy
from crawler.launcher import Launcher
from crawler.mcp.channel import Era
from crawler.mcp.stdio import StdioChannel
from crawler.mcp.transcript import Transcript
from crawler.secret_masking import mask_tail
from evidence.model import Absent, Dossier, Observed, Reason, Target

_OPENING_REQUESTS: Final = 3  # requests to open a process


class StdioProbe(Probe):
    """Probes one package or command. `earlier`: the server's earlier evidence, some of which need not be collected
    again. `time`: what earlier starts have left.

    After `run`, `output` is what its first process wrote beside its answers and in the errors that it answered on
    opening and listing; `runtime` is the sandbox that contained it, if it started; `limit` is the limit at which the
    sandbox ended it; `ports` are those on which it listened.
    """

    def __init__(
        self,
        launcher: Launcher,
        dependencies: ProbeDependencies,
        options: ProbeOptions,
        earlier: Dossier | None = None,
        time: AskingTime | None = None,
    ) -> None:
        super().__init__(dependencies, options)
        self._launcher = launcher
        self._earlier = earlier
        self._time = time
        self._opened: Opened | None = None
        self._is_asked = self._are_others_asked = self._are_writers_called = False
        self.output = self.limit = ""
        self.runtime: str | None = None
        self.ports: tuple[int, ...] = ()

    async def run(self, target: Target) -> ProbeResult:
        """Start, open, list and stop the target, and start it again for the other questions."""
        processes = TargetProcesses(self._launcher, target, self.limits, self.client_version, self._time)
        try:
            found = await self._listed(target, processes)
            if isinstance(found, Absent) and self._is_failure_of_known_server():
                self.transcript, self.notes = Transcript(on_exchange=self.transcript.on_exchange), {}
                found = await self._listed(target, processes)
            if self._opened:
                await self._ask_further_processes(processes)
                await self._try_mutating_tools(processes)
        finally:
            await processes.close()
        return self.result(target, found)

    async def _listed(self, target: Target, processes: TargetProcesses) -> Observed | Absent:
        """The lists of a process, or why it does not open. One locked in the other era gets a second process."""
        async with processes.started(self.transcript) as first:
            if isinstance(first, Absent):
                return first
            if self.options.is_full:
                # Every era needs another one, which then starts on the other core. A server that does not open is
                # started once in vain: that it will not is only known when its start is over.
                processes.start_ahead(1)
            self.runtime, start = first.runtime, ProcessStart.from_launch(target, first.facts)
            self.notes |= start.notes
            content = await self._open_and_list(target, first, processes)
        self._note_end(first.channel, content)
        if isinstance(content, OpeningRefused) and content.reply.answer is not None:
            content = await self._begin_modern(target, processes) or content
        if not isinstance(content, OpeningRefused):
            self.attempt = None
            return content
        noise = b"\n".join(first.channel.noise)
        absent = explain_exit(first.channel.exit, first.facts, noise, content.reply, content.asked)
        self._judge_attempt(start, absent)
        return absent

    def _note_end(self, channel: StdioChannel, content: Observed | Absent | OpeningRefused) -> None:
        """Keep how the first process ended, and everything that it wrote without being asked."""
        written = b"\n".join(channel.noise)
        if channel.exit is not None:
            self.notes["exit"], self.limit = channel.exit.code, channel.exit.limit
            self.ports = channel.exit.ports
            self.notes["stderr"] = mask_tail(channel.exit.stderr)
            written = b"\n".join((channel.exit.stderr.encode("utf-8", "replace"), written))
        refusal = content.reply.answer.message if isinstance(content, OpeningRefused) and content.reply.answer else ""
        unlisted = self.lists["tools"].error if "tools" in self.lists else None
        error = unlisted.decode("utf-8", "replace") if isinstance(unlisted, bytes) else ""
        self.output = "\n".join((written.decode("utf-8", "replace"), refusal, error))

    def _judge_attempt(self, start: ProcessStart, why: Absent) -> None:
        """Decide whether a failed start is evidence: only if the server is known to start here, else the cause may be
        our sandbox.
        """
        if why.reason not in {Reason.START_FAILED, Reason.TIMEOUT}:
            return
        if self._earlier and has_opened_before(self._earlier, start):
            self.notes["opened"] = True
            self.attempt = Absent(Reason.TIMEOUT if why.reason is Reason.TIMEOUT else Reason.UNREACHABLE, why.detail)
        else:
            self.attempt = Absent(Reason.NOT_COLLECTED, "it is not known whether the server starts in this sandbox")

    def _is_failure_of_known_server(self) -> bool:
        return isinstance(self.attempt, Absent) and self.attempt.reason is not Reason.NOT_COLLECTED

    async def _open_and_list(
        self, target: Target, process: StartedProcess, processes: TargetProcesses
    ) -> Observed | Absent | OpeningRefused:
        dialogue = self.dialogue(process.channel)
        opened = await initialize(dialogue, self.client_version)
        if isinstance(opened, OpeningRefused) and opened.reply.answer is not None:
            modern = await discover(dialogue, retry=False)
            opened = modern if isinstance(modern, Opened) else opened
        return (
            opened
            if isinstance(opened, OpeningRefused)
            else await self._list_and_ask(target, opened, process, processes)
        )

    async def _begin_modern(self, target: Target, processes: TargetProcesses) -> Observed | Absent | None:
        """Open a second process in the modern era, since a failed handshake may have locked the first one out of it."""
        async with processes.started(self.transcript) as process:
            if isinstance(process, Absent):
                return None
            opened = await discover(self.dialogue(process.channel), retry=False)
            return await self._list_and_ask(target, opened, process, processes) if isinstance(opened, Opened) else None

    async def _list_and_ask(
        self, target: Target, opened: Opened, process: StartedProcess, processes: TargetProcesses
    ) -> Observed | Absent:
        self._opened = opened
        self.notes["eras"] = [opened.era.value]
        content = await self.read_lists(target, opened, process.runtime, describe_installation(process.facts))
        await self._try_reading_tools(opened, process, content, ProcessStart.from_launch(target, process.facts))
        is_spoiled = process.channel.ended or (self.tool_trials is not None and self.tool_trials.unanswered)
        processes.start_ahead(self._count_further_processes(opened))
        if self.names is not None and not is_spoiled:
            self._is_asked = True
            meanwhile = partial(self._ask_further_processes, processes) if processes.are_ahead else None
            await StdioQuestions(self, processes, self.names).ask(opened, process.channel, meanwhile=meanwhile)
        if process.channel.noise:
            self.notes["noise_lines"] = len(process.channel.noise)
        has_room = process.channel.left >= min(processes.left, self.limits.total / 2)  # else a new process has more
        if self.names is None and not is_spoiled and has_room:
            await self._try_mutating_tools(processes, opened)
        return content

    def _count_further_processes(self, opened: Opened) -> int:
        """How many further processes a full probe surely needs: one, and in the modern era one for tools that write."""
        if not self.options.is_full:
            return 0
        return 1 + (opened.era is Era.MODERN and self._has_calls_to_make)

    @property
    def _has_calls_to_make(self) -> bool:
        """Whether tools that do more than read are still to be called."""
        return self.tool_trials is not None and bool(self.tool_trials.mutating) and not self._are_writers_called

    async def _try_reading_tools(
        self, opened: Opened, process: StartedProcess, content: Observed | Absent, start: ProcessStart
    ) -> None:
        """Call the tools that only read, unless their earlier trials can be reused."""
        policy = choose_call_policy(self.options.policy, process.runtime)
        if self._earlier and self.options.may_reuse_trials:
            self.trials = reuse_trials(
                self._earlier, content, start, runtime=process.runtime, policy=policy, at=self.clock()
            )
        if self.trials is None:
            await self.try_tools(opened, policy)

    async def _ask_further_processes(self, processes: TargetProcesses) -> None:
        """Ask further processes what the first one can no longer be asked: the other era, and version offers."""
        opened, names = self._opened, self.names
        if opened is None or names is None or self._are_others_asked:
            return
        self._are_others_asked = True
        questions = StdioQuestions(self, processes, names)
        if not self._is_asked:
            await questions.ask_fresh_process(opened.era)  # a call ended the first one, or it hangs in it
        modern = opened if opened.era is Era.MODERN else None
        if modern is None and self.options.asks_questions_in(Era.MODERN):
            modern = await questions.try_modern_era(partial(self._use_legacy_process, questions, processes))
            self.notes["eras"] = [Era.LEGACY.value, *([Era.MODERN.value] if modern else [])]
        if modern is not None and self.options.asks_questions_in(Era.MODERN):
            await questions.ask_on_other_process(modern, dual=opened.era is Era.LEGACY)
        if opened.era is Era.LEGACY and self.options.asks_questions_in(Era.LEGACY):
            await questions.offer_versions()

    async def _use_legacy_process(
        self, questions: StdioQuestions, processes: TargetProcesses, channel: StdioChannel
    ) -> None:
        """Offer versions to a process that refused the modern era, and call the tools that do more than read.

        Others are started for the rest if it does not agree to a version: it may no longer be like a new one.
        """
        if self.options.asks_questions_in(Era.LEGACY) and not await questions.offer_versions_to(channel):
            return
        mark = self.transcript.mark()
        if self._has_calls_to_make and (opened := await self._open_unrecorded(channel, self.transcript)):
            await self._try_mutating_tools(processes, opened)
        self.transcript.rewind(mark)

    async def _try_mutating_tools(self, processes: TargetProcesses, running: Opened | None = None) -> None:
        """Call the tools that do more than read, once; first in a process that is open and asked nothing else."""
        if self.tool_trials is None or not self._has_calls_to_make:
            return
        self._are_writers_called = True
        mark = self.transcript.mark()
        process = MutatingCallProcess(processes, self._open_unrecorded, running)
        try:
            await self.tool_trials.try_mutating_tools(process.ask, process.ready)
        finally:
            await process.close()
            self.transcript.rewind(mark)
        self.trials = self.tool_trials.record_content()

    async def _open_unrecorded(self, channel: StdioChannel, transcript: Transcript) -> Opened | None:
        """Open a process in the era of the first one, without recording it."""
        dialogue = Dialogue(
            channel,
            host="",
            limiter=self.limiter,
            clock=self.clock,
            limits=self.limits,
            budget=QuestionBudget(_OPENING_REQUESTS),
            transcript=transcript,
        )
        is_modern = self._opened is not None and self._opened.era is Era.MODERN
        opened = await (discover(dialogue, retry=False) if is_modern else initialize(dialogue, self.client_version))
        return opened if isinstance(opened, Opened) else None
