"""Sends spans over OTLP/HTTP as the OTEL_* variables say; imported only when they name a receiver.

Only the attributes of SENT leave this process, and no event, link or description: the instrumentation of Celery adds
messages of exceptions, which may quote a server or an address with a password.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, TypeAlias

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from workers.settings.environment import read_code_version

SENT: Final = frozenset(
    {"hallmark.run", "hallmark.server", "hallmark.stage", "hallmark.outcome"}
    | {"celery.action", "celery.task_name", "celery.state", "celery.retries", "messaging.message.id"}
)
LAST_SECONDS: Final = 5.0
"""How long the end of a process waits for a receiver that does not answer; then spans are lost."""


class _SentSpan:
    def __init__(self, span: Span) -> None:
        self._span = span

    def record_outcome(self, outcome: str) -> None:
        self._span.set_attribute("hallmark.outcome", outcome)


_OpenSpan: TypeAlias = Callable[[str, Mapping[str, str]], AbstractContextManager[_SentSpan]]


class _Reducing(SpanExporter):
    """Exports what may be sent of each span."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_reduce(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def start(*, of_celery: bool) -> tuple[_OpenSpan, Callable[[], None]]:
    """What opens a span, and what sends those that wait and ends tracing."""
    named = OTELResourceDetector().detect().attributes.get(SERVICE_NAME)
    resource = Resource.create({} if named else {SERVICE_NAME: "hallmark"})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_Reducing(OTLPSpanExporter())))
    if of_celery:
        CeleryInstrumentor().instrument(tracer_provider=provider)  # type: ignore[no-untyped-call]
    tracer = provider.get_tracer("hallmark", read_code_version())
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)  # a warning for each try at a receiver that is away

    def stop() -> None:
        atexit.unregister(stop)
        if of_celery:
            CeleryInstrumentor().uninstrument()  # type: ignore[no-untyped-call]
        sending = threading.Thread(target=provider.shutdown, daemon=True)
        sending.start()
        sending.join(LAST_SECONDS)

    atexit.register(stop)  # beat has no signal at its end
    return _make_opener(tracer), stop


def _make_opener(tracer: Tracer) -> _OpenSpan:
    @contextmanager
    def open_span(name: str, attributes: Mapping[str, str]) -> Iterator[_SentSpan]:
        named = {f"hallmark.{key}": value for key, value in attributes.items()}
        with tracer.start_as_current_span(name, attributes=named, record_exception=False) as span:
            yield _SentSpan(span)

    return open_span


def _reduce(span: ReadableSpan) -> ReadableSpan:
    is_error = span.status.status_code is StatusCode.ERROR
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in SENT},
        kind=span.kind,
        status=Status(StatusCode.ERROR) if is_error else Status(),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
