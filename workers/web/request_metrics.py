"""One log event per request of the site, and request metrics at their own address."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workers.clock import Clock
from workers.log import get_log

NO_ROUTE: Final = "none"

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT", "PATCH"})


class RequestMetrics:
    """Counts and logs requests by route, method and status; never by address, query or client."""

    def __init__(self, app: ASGIApp, clock: Clock, metrics: str = "") -> None:
        self._app = app
        self._clock = clock
        self._address = metrics
        self.registry = CollectorRegistry()
        labels = ("route", "method", "status")
        self._requests = Counter("hallmark_web_requests", "Answered requests.", labels, registry=self.registry)
        self._seconds = Histogram(
            "hallmark_web_seconds", "Time to a whole answer.", ("route",), buckets=_SECONDS, registry=self.registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self._listen()
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in _METHODS else "other"
        began, status, sent = self._clock.monotonic(), 500, 0

        async def watched(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._note(scope, method, status, sent, self._clock.monotonic() - began)

    def _note(self, scope: Scope, method: str, status: int, sent: int, took: float) -> None:
        route = find_route(scope)
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route).observe(took)
        get_log().info(
            "request_answered",
            route=route,
            method=method,
            status=status,
            milliseconds=round(took * 1000, 1),
            bytes=sent,
        )

    def _listen(self) -> None:
        if self._address:
            host, _, port = self._address.rpartition(":")
            start_http_server(int(port), host, registry=self.registry)


def find_route(scope: Scope) -> str:
    """The route pattern of a request, such as `/servers/{id}`; the requested path itself is not recorded."""
    path = getattr(scope.get("route"), "path", None)
    return NO_ROUTE if path is None else f"{scope.get('root_path', '')}{path}"
