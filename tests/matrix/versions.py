"""The versions of SDKs and frameworks whose servers are probed, each with the dependencies of its release date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HTTP, STATELESS, JSON, SSE, STDIO = "http", "stateless", "json", "sse", "stdio"
EVERY = (HTTP, STATELESS, JSON, SSE, STDIO)
STREAMABLE = (HTTP, STATELESS, JSON)


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
        return self.family == "mcp" and (1, 8) <= _order(self.version) < (1, 10)

    @property
    def is_node(self) -> bool:
        return self.script.endswith(".mjs")


# Versions that are probed over all transports; the others over streamable HTTP, or over SSE where they have only that.
_PYTHON_SDK = """
1.2.1:2025-01-27* 1.3.0:2025-02-20 1.4.1:2025-03-14 1.5.0:2025-03-21 1.6.0:2025-03-27 1.7.1:2025-05-02*
1.8.0:2025-05-08 1.8.1:2025-05-12* 1.9.0:2025-05-15 1.9.3:2025-06-05* 1.9.4:2025-06-12* 1.10.1:2025-06-27
1.11.0:2025-07-10 1.12.4:2025-08-07 1.13.1:2025-08-22* 1.14.1:2025-09-18 1.15.0:2025-09-25 1.16.0:2025-10-02
1.17.0:2025-10-10 1.18.0:2025-10-16 1.19.0:2025-10-24 1.20.0:2025-10-30* 1.21.2:2025-11-17 1.22.0:2025-11-20
1.23.3:2025-12-09 1.24.0:2025-12-12 1.25.0:2025-12-19 1.26.0:2026-01-24* 1.27.2:2026-05-29 1.28.1:2026-06-26
1.29.1:2026-08-24 1.30.0:2026-09-07* 2.0.1:2026-08-26 2.1.1:2026-08-25 2.2.0:2026-09-07 2.3.0:2026-10-02*
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


def environments() -> Iterator[Environment]:
    """All environments, in the order of the table."""
    for version, date, milestone in _listed(_PYTHON_SDK):
        streamable = _order(version) >= (1, 8)
        yield Environment(
            "mcp",
            version,
            (f"mcp=={version}",),
            date,
            "python_sdk.py",
            (EVERY if streamable else (SSE, STDIO)) if milestone else ((HTTP,) if streamable else (SSE,)),
        )
        if version in _WITH_NEWER:
            requirements = (f"mcp=={version}", *_WITH_NEWER[version])
            yield Environment("mcp", version, requirements, "", "python_sdk.py", STREAMABLE, "newest dependencies")
    for version, date, milestone in _listed(_FASTMCP):
        streamable = _order(version) >= (2, 3)
        transports = (*(STREAMABLE if milestone else (HTTP,)), SSE) if streamable else (SSE,)
        yield Environment("FastMCP", version, (f"fastmcp=={version}",), date, "fastmcp_server.py", transports)
        if version == "2.3.5":
            for mcp, newest in (("1.9.4", "2025-06-12"),):
                requirements = (f"fastmcp=={version}", f"mcp=={mcp}")
                yield Environment(
                    "FastMCP", version, requirements, newest, "fastmcp_server.py", STREAMABLE, f"mcp {mcp}"
                )
            requirements = (f"fastmcp=={version}", "mcp==1.9.4", _PYDANTIC)
            note = "mcp 1.9.4, newest dependencies"
            yield Environment("FastMCP", version, requirements, "", "fastmcp_server.py", STREAMABLE, note)
    for version, date, milestone in _listed(_TYPESCRIPT_SDK):
        streamable = _order(version) >= (1, 10)
        yield Environment(
            "TypeScript SDK",
            version,
            (f"@modelcontextprotocol/sdk@{version}",),
            date,
            "typescript_sdk.mjs",
            (EVERY if streamable else (SSE, STDIO)) if milestone else ((HTTP,) if streamable else (SSE,)),
        )
    for version, date, _ in _listed(_TYPESCRIPT_SERVER):
        packages = (
            f"@modelcontextprotocol/server@{version}",
            f"@modelcontextprotocol/node@{_NODE_OF[version]}",
            "zod@4.2.0",
        )
        yield Environment("TypeScript server", version, packages, date, "typescript_server.mjs", (HTTP, STATELESS))
    yield from _others()


_PYDANTIC = "pydantic<2.12"  # mcp before 1.13 imports a name that newer ones lack
_WITH_NEWER = {"1.8.1": (_PYDANTIC,), "1.9.3": (_PYDANTIC,), "1.9.4": (_PYDANTIC,), "1.12.4": (_PYDANTIC,)}
_NODE_OF = {"2.0.0": "2.0.0", "2.1.0": "2.1.0", "2.2.0": "2.1.0", "2.3.1": "2.1.1", "2.4.0": "2.1.2"}
_SDK_BEHIND = "@modelcontextprotocol/sdk@1.18.2"


def _others() -> Iterator[Environment]:
    for version, date, transports in (
        ("0.8.2", "2025-07-05", (HTTP, STATELESS, SSE)),
        ("0.11.0", "2026-01-15", (HTTP,)),
        ("0.13.0", "2026-10-10", (HTTP, STATELESS, SSE)),
    ):
        yield Environment("mcp-proxy (Python)", version, (f"mcp-proxy=={version}",), date, "mcp_proxy.py", transports)
    for version, date, transports in (("0.3.4", "2025-05-18", (SSE,)), ("0.4.0", "2025-07-28", (HTTP, SSE))):
        yield Environment(
            "fastapi-mcp", version, (f"fastapi-mcp=={version}",), date, "fastapi_mcp_server.py", transports
        )
    for version, transports in (
        ("2.8.3", (SSE,)),
        ("3.4.3", (HTTP, STATELESS, SSE)),
        ("4.0.0", (HTTP, STATELESS, SSE)),
    ):
        yield Environment(
            "supergateway", version, (f"supergateway@{version}", _SDK_BEHIND), "", "supergateway.mjs", transports
        )
    for version, transports in (("5.12.5", (HTTP, STATELESS, SSE)), ("6.7.19", (HTTP, STATELESS, SSE))):
        yield Environment(
            "mcp-proxy (Node)", version, (f"mcp-proxy@{version}", _SDK_BEHIND), "", "mcp_proxy.mjs", transports
        )
    for version in ("3.35.0", "4.20.16"):
        yield Environment(
            "fastmcp (Node)", version, (f"fastmcp@{version}", "zod@4.2.0"), "", "fastmcp.mjs", (HTTP, STATELESS)
        )


def _listed(table: str) -> Iterator[tuple[str, str, bool]]:
    for word in table.split():
        version, date = word.rstrip("*").split(":")
        yield version, date, word.endswith("*")


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def find(pattern: str) -> Sequence[Environment]:
    """The environments whose name holds a text."""
    return [one for one in environments() if pattern.lower() in one.name.lower()]
