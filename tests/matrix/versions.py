"""The versions of SDKs and frameworks whose servers are probed, each with the dependencies of its release date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

HTTP, STATELESS, JSON, SSE, STDIO = "http", "stateless", "json", "sse", "stdio"
EVERY = (HTTP, STATELESS, JSON, SSE, STDIO)
STREAMABLE = (HTTP, STATELESS, JSON)
NEWEST = "newest dependencies"


@dataclass(frozen=True, slots=True)
class Environment:
    """Packages that are installed together, and the server that runs on them.

    `family` heads the row in the docs; `date` is the release date, after which no dependency was published, or empty
    for the newest dependencies. `script` is a file of tests/matrix/served.
    """

    family: str
    version: str
    requirements: tuple[str, ...]
    date: str
    script: str
    transports: tuple[str, ...]
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.family} {self.version}{f' ({self.note})' if self.note else ''}"

    @property
    def is_fragile(self) -> bool:
        """True for the environments of which the docs tell which single questions bring them down."""
        of_sdk = self.family == "mcp" and is_at_least(self.version, 1, 8) and not is_at_least(self.version, 1, 10)
        return of_sdk or (self.family, self.version) == ("FastMCP", "2.3.5")

    @property
    def is_node(self) -> bool:
        return self.script.endswith(".mjs")


# The last version of each minor one with its release date. The Python SDK and those with a star are probed over all
# transports, the others over streamable HTTP, or over SSE where they have only that.
_PYTHON_SDK = """
1.2.1:2025-01-27 1.3.0:2025-02-20 1.4.1:2025-03-14 1.5.0:2025-03-21 1.6.0:2025-03-27 1.7.1:2025-05-02
1.8.0:2025-05-08 1.8.1:2025-05-12 1.9.0:2025-05-15 1.9.3:2025-06-05 1.9.4:2025-06-12 1.10.1:2025-06-27
1.11.0:2025-07-10 1.12.4:2025-08-07 1.13.1:2025-08-22 1.14.1:2025-09-18 1.15.0:2025-09-25 1.16.0:2025-10-02
1.17.0:2025-10-10 1.18.0:2025-10-16 1.19.0:2025-10-24 1.20.0:2025-10-30 1.21.2:2025-11-17 1.22.0:2025-11-20
1.23.3:2025-12-09 1.24.0:2025-12-12 1.25.0:2025-12-19 1.26.0:2026-01-24 1.27.2:2026-05-29 1.28.1:2026-06-26
1.29.1:2026-08-24 1.30.0:2026-09-07 2.0.1:2026-08-26 2.1.1:2026-08-25 2.2.0:2026-09-07 2.3.0:2026-10-02
"""
_FASTMCP = """
0.4.1:2024-12-09* 1.0:2025-04-11 2.0.0:2025-04-11 2.1.2:2025-04-14 2.2.10:2025-05-06* 2.3.0:2025-05-08
2.3.5:2025-05-20* 2.4.0:2025-05-21 2.5.2:2025-05-29 2.6.1:2025-06-03 2.7.1:2025-06-08 2.8.1:2025-06-15
2.9.2:2025-06-26 2.10.6:2025-07-19 2.11.3:2025-08-11* 2.12.5:2025-10-17 2.13.3:2025-12-03 2.14.7:2026-04-13*
3.0.2:2026-02-22 3.1.1:2026-03-14 3.2.4:2026-04-14 3.3.1:2026-05-15 3.4.11:2026-10-25* 4.0.11:2026-10-04
4.1.7:2026-11-10 4.2.3:2026-11-20*
"""
_TYPESCRIPT_SDK = """
1.0.4:2024-12-04* 1.1.1:2024-12-31 1.2.0:2025-01-31 1.3.2:2025-02-05 1.4.1:2025-02-10 1.5.0:2025-02-13
1.6.1:2025-03-05 1.7.0:2025-03-11 1.8.0:2025-03-31 1.9.0:2025-04-07 1.10.2:2025-04-25* 1.11.5:2025-05-21
1.12.3:2025-06-13 1.13.3:2025-07-02 1.14.0:2025-07-03 1.15.1:2025-07-10 1.16.0:2025-07-22 1.17.5:2025-09-02*
1.18.2:2025-09-25 1.19.1:2025-10-02 1.20.2:2025-10-24 1.21.2:2025-11-17 1.22.0:2025-11-18 1.23.1:2025-12-04
1.24.3:2025-12-04 1.25.3:2026-01-20 1.26.0:2026-02-04* 1.27.1:2026-02-25 1.28.0:2026-03-25 1.29.0:2026-03-30
1.30.1:2026-09-23 1.31.0:2026-09-28 1.32.2:2026-10-23*
"""
_TYPESCRIPT_SERVER = "2.0.0:2026-07-29 2.1.0:2026-09-23 2.2.0:2026-09-28 2.3.1:2026-10-05 2.4.0:2026-10-23*"


_TODAY = ""  # the newest dependencies of the day on which the pins were resolved
_PYDANTIC = "pydantic<2.12"  # mcp before 1.13 imports a name that newer ones lack
_MCP_WITH_NEWEST = ("1.8.1", "1.9.3", "1.9.4", "1.12.4")
_FASTMCP_ON_MCP: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("mcp 1.9.4", "2025-06-12", ("mcp==1.9.4",)),
    (f"mcp 1.9.4, {NEWEST}", _TODAY, ("mcp==1.9.4", _PYDANTIC)),
)
_NODE_ADAPTER = {"2.0.0": "2.0.0", "2.1.0": "2.1.0", "2.2.0": "2.1.0", "2.3.1": "2.1.1", "2.4.0": "2.1.2"}
_SDK, _SERVER = "@modelcontextprotocol/sdk", "@modelcontextprotocol/server"
_BEHIND = (f"{_SDK}@1.18.2",)  # the stdio server behind a gateway
_THREE = (HTTP, STATELESS, SSE)
_FRAMEWORK = ("mcp-framework", "mcp_framework.mjs")
_HANDLER = ("mcp-handler", "mcp_handler.mjs")

# Family, script, version as a requirement, further requirements, release date, transports.
_OTHERS: tuple[tuple[str, str, str, tuple[str, ...], str, tuple[str, ...]], ...] = (
    ("mcp-proxy (Python)", "mcp_proxy.py", "mcp-proxy==0.8.2", (), "2025-07-05", _THREE),
    ("mcp-proxy (Python)", "mcp_proxy.py", "mcp-proxy==0.11.0", (), "2026-01-15", (HTTP,)),
    ("mcp-proxy (Python)", "mcp_proxy.py", "mcp-proxy==0.13.0", (), "2026-10-10", _THREE),
    ("fastapi-mcp", "fastapi_mcp_server.py", "fastapi-mcp==0.3.4", (), "2025-05-18", (SSE,)),
    ("fastapi-mcp", "fastapi_mcp_server.py", "fastapi-mcp==0.4.0", (), "2025-07-28", (HTTP, SSE)),
    ("supergateway", "supergateway.mjs", "supergateway@2.8.3", _BEHIND, _TODAY, (SSE,)),
    ("supergateway", "supergateway.mjs", "supergateway@3.4.3", _BEHIND, _TODAY, _THREE),
    ("supergateway", "supergateway.mjs", "supergateway@4.0.0", _BEHIND, _TODAY, _THREE),
    ("mcp-proxy (Node)", "mcp_proxy.mjs", "mcp-proxy@5.12.5", _BEHIND, _TODAY, _THREE),
    ("mcp-proxy (Node)", "mcp_proxy.mjs", "mcp-proxy@6.7.19", _BEHIND, _TODAY, _THREE),
    ("fastmcp (Node)", "fastmcp.mjs", "fastmcp@3.35.0", ("zod@4.2.0",), _TODAY, (HTTP, STATELESS)),
    ("fastmcp (Node)", "fastmcp.mjs", "fastmcp@4.20.16", ("zod@4.2.0",), _TODAY, (HTTP, STATELESS)),
    (*_FRAMEWORK, "mcp-framework@0.2.15", (f"{_SDK}@1.13.3",), "2025-07-31", (HTTP, JSON, SSE)),
    (*_FRAMEWORK, "mcp-framework@0.2.22", (f"{_SDK}@1.29.0",), "2026-05-10", (HTTP, JSON, SSE)),
    (*_HANDLER, "mcp-handler@1.0.2", (f"{_SDK}@1.17.5", "zod@3.25.76"), "2025-09-30", (STATELESS,)),
    (*_HANDLER, "mcp-handler@1.1.0", (f"{_SDK}@1.26.0", "zod@3.25.76"), "2026-03-28", (STATELESS,)),
    (*_HANDLER, "mcp-handler@2.4.0", (f"{_SERVER}@2.4.0", "zod@4.2.0"), "2026-11-12", (STATELESS,)),
)


def environments() -> Iterator[Environment]:
    """All environments, in the order of the table."""
    for version, date, _ in _listed(_PYTHON_SDK):
        transports = _choose(is_at_least(version, 1, 8), everything=True)
        sdk = Environment("mcp", version, (f"mcp=={version}",), date, "python_sdk.py", transports)
        yield sdk
        if version in _MCP_WITH_NEWEST:
            newest = (*sdk.requirements, _PYDANTIC)
            yield replace(sdk, requirements=newest, date=_TODAY, note=NEWEST, transports=STREAMABLE)
    for version, date, everything in _listed(_FASTMCP):
        fastmcp = Environment("FastMCP", version, (f"fastmcp=={version}",), date, "fastmcp_server.py", (SSE,))
        if not is_at_least(version, 2, 3):
            yield fastmcp
            continue
        yield replace(fastmcp, transports=(*STREAMABLE, SSE) if everything else (HTTP, SSE))
        for note, later, more in _FASTMCP_ON_MCP if version == "2.3.5" else ():
            yield replace(
                fastmcp, requirements=(*fastmcp.requirements, *more), date=later, note=note, transports=STREAMABLE
            )
    for version, date, everything in _listed(_TYPESCRIPT_SDK):
        transports = _choose(is_at_least(version, 1, 10), everything=everything)
        package = f"@modelcontextprotocol/sdk@{version}"
        yield Environment("TypeScript SDK", version, (package,), date, "typescript_sdk.mjs", transports)
    for version, date, _ in _listed(_TYPESCRIPT_SERVER):
        adapter = f"@modelcontextprotocol/node@{_NODE_ADAPTER[version]}"
        packages = (f"@modelcontextprotocol/server@{version}", adapter, "zod@4.2.0")
        yield Environment("TypeScript server", version, packages, date, "typescript_server.mjs", (HTTP, STATELESS))
    for family, script, package, more, date, transports in _OTHERS:
        version = package.replace("==", "@").rsplit("@", 1)[1]
        yield Environment(family, version, (package, *more), date, script, transports)


def is_at_least(version: str, *parts: int) -> bool:
    """Whether a version is this one or a later one."""
    return tuple(map(int, version.split("."))) >= parts


def _choose(streamable: bool, *, everything: bool) -> tuple[str, ...]:
    if everything:
        return EVERY if streamable else (SSE, STDIO)
    return (HTTP,) if streamable else (SSE,)


def _listed(table: str) -> Iterator[tuple[str, str, bool]]:
    for word in table.split():
        version, date = word.rstrip("*").split(":")
        yield version, date, word.endswith("*")
