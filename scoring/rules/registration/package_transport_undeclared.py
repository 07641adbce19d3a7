"""Rule `package-transport-undeclared`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from evidence.kinds.registration import transport_type
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_package
from scoring.results.outcome import Severity
from scoring.scopes.base import Package


@rule(
    "package-transport-undeclared",
    scope=Package,
    reads="registration",
    severity=Severity.WARNING,
    title="Package does not declare its transport",
    remedy="Add `transport.type` to the package in the registry entry: `stdio`, `streamable-http` or `sse`.",
    since="2026.1",
    version=1,
    fix=(build_package(transport=UNDEFINED), build_package()),
    bad=[build_package(transport=None), build_package(transport={})],
)
def package_transport_undeclared(package: Package) -> Iterator[str]:
    """A client that starts the package must know whether to use stdio or to connect to a port."""
    if not transport_type(package.raw):
        yield "no transport.type"
