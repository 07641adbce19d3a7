"""A receiver of traces on loopback: `with receiving() as receiver`, which keeps what is sent over OTLP/HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it arrived, with the attributes of its resource apart."""

    name: str
    trace: bytes
    id: bytes
    parent: bytes
    attributes: dict[str, str]
    resource: dict[str, str]
    is_error: bool


class Receiver:
    """What was sent to `endpoint` so far: `bodies` as they came, and `spans`."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.endpoint = ""

    @property
    def spans(self) -> list[ReceivedSpan]:
        return [
            ReceivedSpan(
                name=span.name,
                trace=span.trace_id,
                id=span.span_id,
                parent=span.parent_span_id,
                attributes={pair.key: pair.value.string_value for pair in span.attributes},
                resource={pair.key: pair.value.string_value for pair in of.resource.attributes},
                is_error=span.status.code == 2,
            )
            for body in list(self.bodies)
            for of in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in of.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.name == name]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_expected = (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            if is_expected:
                receiver.bodies.append(body)
            self.send_response(200 if is_expected else 400)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.endpoint = f"http://127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield receiver
        server.shutdown()
