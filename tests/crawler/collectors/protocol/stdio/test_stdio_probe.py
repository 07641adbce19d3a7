"""Processes that misbehave on their standard streams: each leaves a recorded outcome and no process behind."""

from __future__ import annotations

import asyncio

import pytest

from crawler.collectors.protocol import ProbeLimits
from crawler.collectors.protocol.session.absence_reasons import explain_exit
from crawler.http.failures import TimedOut, Unreachable
from crawler.launcher import Launcher, ProcessExit
from crawler.mcp.transcript import Exchange, Reply
from evidence.kinds.listing import End
from evidence.model import Absent, Reason, Record, Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, Pipes, module
from tests.crawler.collectors.protocol.probing import PROBE, absent, collector, listing, names, record_of

PATIENT = ProbeLimits(discover=20, total=120, stdio_answer=5, retry_pause=0)
"""Five seconds are also enough for an interpreter to start beside other work."""


def started(behaviour: str, *, brisk: bool = False, limits: ProbeLimits = PROBE) -> Record:
    async def run() -> Record:
        launcher = PipeLauncher()
        record = await record_of(
            collector(launcher=launcher, brisk=brisk, limits=limits), module("tests.servers.hostile_stdio", behaviour)
        )
        assert [process.stops for process in launcher.launched] == [1]
        return record

    return asyncio.run(run())


TOLERATED = [
    "good",
    "banner",
    "json_logs",
    "windows_lines",
    "asks_back",
    "late_answer",
    "wrong_ids",
    "dies_on_discover",
]


@pytest.mark.parametrize("behaviour", TOLERATED)
def test_a_deviation_on_stdout_does_not_lose_the_list(behaviour: str) -> None:
    found = listing(started(behaviour))

    assert names(found.tools.items) == ["get_note"]
    assert (found.transport, found.sandbox) == ("stdio", "none")


REFUSING: dict[str, tuple[Reason, str]] = {
    "silent": (Reason.TIMEOUT, "no answer"),
    "indents": (Reason.TIMEOUT, "lines on standard output are not messages"),
    "exits": (Reason.START_FAILED, "ended before answering initialize"),
    "wants_key": (Reason.CREDENTIALS_REQUIRED, "FIXTURE_API_KEY"),
    "wants_key_politely": (Reason.CREDENTIALS_REQUIRED, "NOTES_ACCESS_TOKEN"),
    "endless_line": (Reason.TOO_LARGE, "a line of more than"),
    "endless_lines": (Reason.TOO_LARGE, "lines"),
    "endless_blank_lines": (Reason.TOO_LARGE, "bytes of output"),
    "deep_json": (Reason.TOO_LARGE, "deeply nested"),
    "huge_stderr": (Reason.START_FAILED, "ended"),
    "closes_stdout": (Reason.START_FAILED, "ended"),
}


@pytest.mark.parametrize("behaviour", REFUSING)
def test_a_process_that_does_not_open_leaves_its_reason(behaviour: str) -> None:
    reason, words = REFUSING[behaviour]

    found = absent(started(behaviour, brisk=reason is Reason.TIMEOUT))

    assert (found.reason, words in found.detail) == (reason, True), found


class EndedLauncher(PipeLauncher):
    """Returns a process only when it has ended, so that nothing can be written to it."""

    async def launch(self, target: Target) -> Pipes | Absent:
        launched = await super().launch(target)
        if isinstance(launched, Pipes):
            await launched.until_end()
        return launched


def test_a_process_that_ends_before_its_first_request_leaves_its_words() -> None:
    async def run() -> Record:
        target = module("tests.servers.hostile_stdio", "wants_key_politely")
        return await record_of(collector(launcher=EndedLauncher()), target)

    found = absent(asyncio.run(run()))

    assert (found.reason, "NOTES_ACCESS_TOKEN" in found.detail) == (Reason.CREDENTIALS_REQUIRED, True), found


def test_a_server_that_dies_while_listing_keeps_its_opening() -> None:
    found = listing(started("dies_on_list"))

    assert found.server_info["name"] == "x"
    assert found.tools.end is End.FAILED


def test_a_server_that_stops_reading_times_out() -> None:
    found = listing(started("never_reads", limits=PATIENT))

    assert (found.tools.end, "timeout" in str(found.tools.error)) == (End.FAILED, True)


@pytest.mark.parametrize(("behaviour", "secret"), [("wants_key", "sk-abcdef"), ("huge_stderr", "abcdefghijklmnop")])
def test_secrets_on_stderr_are_not_kept(behaviour: str, secret: str) -> None:
    record = started(behaviour)

    stderr = str(record.observation["stderr"])
    assert stderr
    assert len(stderr) <= 2048
    assert secret not in stderr
    assert secret not in absent(record).detail


def test_a_package_that_misses_what_its_install_script_builds_says_so() -> None:
    ended = ProcessExit(1, "Error: Could not locate the bindings file. Tried: build/Release/store.node")
    failure = Unreachable("ended before answering")
    gone = Reply(Exchange(transport="stdio", method="initialize", request=b"", began=0.0, seconds=0.0, failure=failure))
    facts = {"install_scripts_blocked": ["better-store"]}

    assert explain_exit(ended, facts, b"", gone, "initialize").reason is Reason.INSTALL_SCRIPTS_REQUIRED
    assert explain_exit(ended, {}, b"", gone, "initialize").reason is Reason.START_FAILED


@pytest.mark.parametrize(
    ("ports", "words"),
    [((8000,), "it listens on port 8000 instead of stdio"), ((43811,), "it listens on port <port> instead of stdio")],
)
def test_a_server_that_listens_on_a_port_and_never_answers_on_stdio_says_so(ports: tuple[int, ...], words: str) -> None:
    silent = Exchange(
        transport="stdio", method="initialize", request=b"", began=0.0, seconds=0.0, failure=TimedOut("no answer")
    )
    found = explain_exit(ProcessExit(None, "ready", ports=ports), {}, b"", Reply(silent), "initialize")
    assert found == Absent(Reason.TRANSPORT_UNSUPPORTED, f"no answer to initialize: {words}")
    assert explain_exit(ProcessExit(None, "ready"), {}, b"", Reply(silent), "initialize").reason is Reason.TIMEOUT


def test_a_server_that_we_ended_at_a_limit_says_so() -> None:
    failure = Unreachable("ended before answering")
    gone = Reply(Exchange(transport="stdio", method="initialize", request=b"", began=0.0, seconds=0.0, failure=failure))
    ended = ProcessExit(None, "API_KEY is required", "memory limit of 40 MiB")
    found = explain_exit(ended, {}, b"", gone, "initialize")
    assert found == Absent(Reason.SANDBOX_RESTRICTED, "the sandbox stopped it at the memory limit of 40 MiB")


def test_a_start_that_fails_is_recorded_as_the_launcher_says() -> None:
    class Refusing:
        async def launch(self, target: Target) -> Absent:
            return Absent(Reason.INSTALL_FAILED, "no such version")

    record = asyncio.run(record_of(collector(launcher=Refusing()), Target(type=TargetType.NPM, identifier="x")))

    assert absent(record) == Absent(Reason.INSTALL_FAILED, "no such version")


@pytest.mark.parametrize(
    ("kind", "launcher", "reason"),
    [
        (TargetType.NPM, None, Reason.NO_SANDBOX),
        (TargetType.OCI, None, Reason.NO_SANDBOX),
        (TargetType.CARGO, PipeLauncher(), Reason.RUNTIME_UNSUPPORTED),
    ],
)
def test_what_cannot_be_run_here_says_so(kind: TargetType, launcher: Launcher | None, reason: Reason) -> None:
    record = asyncio.run(record_of(collector(launcher=launcher), Target(type=kind, identifier="x")))

    assert absent(record).reason is reason
