"""Traces reach a receiver of the operator without texts of servers and secrets, and cost nothing while they are off."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery
from structlog.testing import capture_logs

from evidence.model import Absent, Observed, Reason, Server
from tests.servers.otlp import Receiver, receiving
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import embedded
from workers.observability import telemetry, tracing
from workers.runs.options import RunOptions

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
ROOT = Path(__file__).resolve().parents[3]
TEXT = "hunter2-of-a-server"
IMPORTED = "[name for name in sys.modules if name.startswith('opentelemetry')]"


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiving() as receiver:
        monkeypatch.setenv(ENDPOINT, receiver.endpoint)
        yield receiver
        tracing.stop_tracing()


def run_embedded(home: Path) -> None:
    """A run of four servers, of which one answers with an error of its own and one ends the collector."""

    def answer(server: Server) -> Observed | Absent:
        if server.name.endswith("-1"):
            return Absent(Reason.TIMEOUT, TEXT)
        if server.name.endswith("-2"):
            raise RuntimeError(TEXT)
        return Observed(LISTING)

    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(number) for number in range(4)]])
        async with context(home, World([registry], [ScriptedCollector(answer)]), local_retry_after=0) as ctx:
            await embedded.run_embedded(ctx, RunOptions(registries=("first",)))

    asyncio.run(main())


def test_a_run_has_spans_of_visits_collectors_scoring_and_publication(receiver: Receiver, tmp_path: Path) -> None:
    with tracing.traced(), tracing.open_span("run"):
        run_embedded(tmp_path)
    [run] = receiver.named("run")
    assert (run.parent, run.resource["service.name"]) == (b"", "hallmark")
    visits = {span.id: span for span in receiver.named("visit")}
    outcomes = [span.attributes["hallmark.outcome"] for span in visits.values()]
    assert sorted(outcomes) == ["collector_error", "observed", "observed", "timeout"]
    assert {span.attributes["hallmark.stage"] for span in visits.values()} == {"collect"}
    collected = receiver.named("collect protocol")
    assert {span.parent for span in collected} == visits.keys()
    for span in collected:
        assert span.attributes["hallmark.server"] == visits[span.parent].attributes["hallmark.server"]
    [score], [publish] = receiver.named("score"), receiver.named("publish")
    assert (score.attributes["hallmark.outcome"], publish.attributes["hallmark.outcome"]) == ("scored", "published")
    assert {span.trace for span in receiver.spans} == {run.trace}
    assert not any(TEXT.encode() in body for body in receiver.bodies)


def test_an_error_is_sent_without_its_message(receiver: Receiver) -> None:
    with pytest.raises(RuntimeError), tracing.traced(), tracing.open_span("run", server="a"):
        raise RuntimeError(TEXT)
    [span] = receiver.spans
    assert (span.is_error, span.attributes) == (True, {"hallmark.server": "a"})
    assert TEXT.encode() not in receiver.bodies[0]


def test_a_task_that_fails_is_sent_without_messages_and_arguments(receiver: Receiver) -> None:
    app = Celery("traced", set_as_current=False)

    @app.task(name="hallmark.fails", shared=False)
    def fails(argument: str) -> None:
        raise RuntimeError(argument)

    tracing.start_tracing(of_celery=True)
    fails.apply([TEXT])
    tracing.stop_tracing()
    [span] = receiver.named("run/hallmark.fails")
    assert (span.is_error, span.attributes["celery.state"]) == (True, "FAILURE")
    assert TEXT.encode() not in b"".join(receiver.bodies)


def test_a_receiver_that_does_not_answer_delays_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "LAST_SECONDS", 0.1)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        with tracing.traced(), tracing.open_span("run"):
            pass
        assert time.monotonic() - began < 30  # what the SDK itself waits


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {ENDPOINT: ""},
        {ENDPOINT: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "True"},
        {ENDPOINT: "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_SERVICE_NAME": "hallmark"},
    ],
)
def test_tracing_is_off_unless_a_receiver_is_named(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    with tracing.traced():
        assert tracing.open_span("visit") is tracing.open_span("score", run="r")


def test_a_protocol_that_cannot_be_spoken_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:4317")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with capture_logs() as logged:
        tracing.start_tracing()
    [event] = logged
    assert (event["event"], event["found"], event["expected"]) == (
        "telemetry_protocol_unsupported",
        "grpc",
        "http/protobuf",
    )


def test_while_tracing_is_off_nothing_of_it_is_imported() -> None:
    code = f"import sys; from workers.observability import tracing; tracing.start_tracing(); print({IMPORTED})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_installation_without_the_extra_says_how_to_add_it_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    code = (
        "from tests.workers.cli.without_modules import hide_modules"
        "; hide_modules(frozenset(['opentelemetry', 'wrapt']))"
        "; from workers.observability import tracing; tracing.start_tracing(of_celery=True)"
        "\nwith tracing.open_span('visit') as span: span.record_outcome('observed')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "telemetry_not_installed" in done.stdout
    assert "pip install 'mcp-hallmark[telemetry]'" in done.stdout
