"""Spans of tasks, visits, collectors, scoring and publication, for OpenTelemetry. Off unless OTEL_* names a receiver.

While it is off, nothing of OpenTelemetry is imported, and a span costs a function call. Attributes are ids of ours,
stages and outcomes; `workers.observability.telemetry` sends no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Final, Protocol, Self, TypeAlias

from workers.log import get_log
from workers.settings.environment import read_telemetry_environment

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL: Final = "http/protobuf"


class Span(Protocol):
    """A span that is open."""

    def record_outcome(self, outcome: str) -> None:
        """A word of ours, never text of a server."""


class _NoSpan:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def record_outcome(self, outcome: str) -> None:
        pass


OpenSpan: TypeAlias = Callable[[str, Mapping[str, str]], AbstractContextManager[Span]]

_NO_SPAN: Final = _NoSpan()


class _Tracing:
    """What opens and sends the spans of this process; nothing while tracing is off."""

    def __init__(self) -> None:
        self.open: OpenSpan | None = None
        self.close: Callable[[], None] | None = None


_tracing = _Tracing()


def open_span(name: str, **attributes: str) -> AbstractContextManager[Span]:
    """A span inside the current one, with attributes `hallmark.NAME`."""
    return _NO_SPAN if _tracing.open is None else _tracing.open(name, attributes)


def start_tracing(*, of_celery: bool = False) -> None:
    """Send the spans of this process when the environment names a receiver; with `of_celery` also those of tasks."""
    if _tracing.open is not None or not _is_asked_for(read_telemetry_environment()):
        return
    try:
        from workers.observability import telemetry  # noqa: PLC0415  of an extra
    except ModuleNotFoundError as error:
        get_log().error("telemetry_not_installed", module=error.name, action="pip install 'mcp-hallmark[telemetry]'")
        return
    _tracing.open, _tracing.close = telemetry.start(of_celery=of_celery)


def stop_tracing() -> None:
    """Send the spans that wait, and end tracing."""
    if _tracing.close is not None:
        _tracing.close()
    _tracing.open = _tracing.close = None


@contextmanager
def traced() -> Iterator[None]:
    """Trace what runs inside when the environment names a receiver."""
    start_tracing()
    try:
        yield
    finally:
        stop_tracing()


def _is_asked_for(environment: Mapping[str, str]) -> bool:
    """Whether the environment names a receiver of traces that we can speak to; logs a protocol that we cannot."""
    is_off = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if is_off or environment.get("OTEL_TRACES_EXPORTER") == "none" or not _first(environment, _ENDPOINTS):
        return False
    protocol = _first(environment, _PROTOCOLS) or _PROTOCOL
    if protocol != _PROTOCOL:
        get_log().error("telemetry_protocol_unsupported", found=protocol, expected=_PROTOCOL)
    return protocol == _PROTOCOL


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environment[name] for name in names if environment.get(name)), "")
