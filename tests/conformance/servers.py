"""The real servers that our verdicts are held against: how each is installed and started, and what it is called."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from evidence.model import Target, TargetType
from tests.conformance import installing
from tests.matrix import starting
from tests.matrix.installing import install
from tests.matrix.instance import serving
from tests.matrix.versions import HTTP, SSE, STDIO, environments
from tests.servers import preloaded
from tests.servers.daemon import free_port

REAL = Path(__file__).parent / "real"

# What servers require at their start; most only look whether there is a value.
_VARIABLES = {
    "BRAVE_API_KEY": "placeholder",
    "CLICKHOUSE_HOST": "127.0.0.1",
    "CLICKHOUSE_USER": "placeholder",
    "CLICKHOUSE_PASSWORD": "placeholder",
    "FIGMA_API_KEY": "placeholder",
    "FIRECRAWL_API_KEY": "fc-placeholder",
    "GITHUB_PERSONAL_ACCESS_TOKEN": "placeholder",
    "GITLAB_PERSONAL_ACCESS_TOKEN": "placeholder",
    "GRAFANA_URL": "http://127.0.0.1:1",
    "HOME": "{folder}",
    "HOST": "127.0.0.1",
    "JIRA_URL": "https://127.0.0.1:1",
    "JIRA_PERSONAL_TOKEN": "placeholder",
    "NOTION_TOKEN": "placeholder",
    "PORT": "{port}",
    "TAVILY_API_KEY": "tvly-placeholder",
}


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers: its name with the version and transport, and where."""

    name: str
    target: Target


Start = Callable[[], contextlib.AbstractContextManager[Running]]


@dataclass(frozen=True, slots=True)
class Package:
    """A published server: its requirement for npm or pip, its program, and the arguments for each transport.

    A transport with None as arguments is not served.
    """

    requirement: str
    program: str
    stdio: str | None = ""
    http: str | None = None
    sse: str | None = None

    @property
    def starts(self) -> Iterator[Start]:
        """One start for each transport that is served."""
        for transport, arguments in ((STDIO, self.stdio), (HTTP, self.http), (SSE, self.sse)):
            if arguments is not None:
                yield partial(package, self, transport)


def remote(url: str, kind: TargetType = TargetType.STREAMABLE_HTTP) -> Target:
    """A target by its address."""
    return Target(type=kind, identifier=url)


@contextlib.contextmanager
def package(published: Package, transport: str) -> Iterator[Running]:
    """A published server in a home folder of its own."""
    if "==" in published.requirement:
        programs = installing.python(published.requirement).parent
    else:
        programs = installing.npm(published.requirement) / "node_modules" / ".bin"
    arguments = {STDIO: published.stdio, HTTP: published.http, SSE: published.sse}[transport] or ""
    name = f"{published.requirement}, {transport}"
    with tempfile.TemporaryDirectory(prefix="real-") as home:
        port = free_port()
        values = {"folder": home, "port": str(port)}
        variables = {key: value.format_map(values) for key, value in _VARIABLES.items()}
        variables |= {"PATH": f"{installing.NODE.parent}{os.pathsep}{os.environ['PATH']}"}
        command = [str(programs / published.program), *arguments.format_map(values).split()]
        if transport == STDIO:
            setting = ["env", "-C", home, *(f"{key}={value}" for key, value in variables.items())]
            yield Running(name, Target(type=TargetType.COMMAND, identifier=".", arguments=(*setting, *command)))
            return
        kind = TargetType.SSE if transport == SSE else TargetType.STREAMABLE_HTTP
        path = "/sse" if transport == SSE else "/mcp"
        with serving(command, transport, port, path, {**os.environ, **variables}, Path(home)) as instance:
            yield Running(name, remote(instance.url, kind))


@contextlib.contextmanager
def official_python() -> Iterator[Running]:
    """The official Python SDK of the development environment."""
    arguments = [sys.executable, "-m", "tests.servers.sdk_server", "streamable-http"]
    with preloaded.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            port = process.stdout.readline().strip()
            yield Running(f"mcp {version('mcp')}, http", remote(f"http://127.0.0.1:{port}/mcp"))
        finally:
            process.kill()


@contextlib.contextmanager
def fastmcp(requirement: str) -> Iterator[Running]:
    """FastMCP in an environment of its own, with a tool, a resource and a prompt."""
    interpreter, port = installing.python(requirement), free_port()
    command = [str(interpreter), str(REAL / "fastmcp_server.py"), str(port)]
    with serving(command, HTTP, port, "/mcp", os.environ, REAL) as instance:
        yield Running(f"FastMCP {installing.installed(interpreter, 'fastmcp')}, http", remote(instance.url))


@contextlib.contextmanager
def scripted(name: str, script: str, *packages: str) -> Iterator[Running]:
    """A script of ours that runs on packages of npm."""
    folder, port = installing.npm(*packages), free_port()
    shutil.copy(REAL / script, folder)
    command = [str(installing.NODE), str(folder / script), str(port)]
    with serving(command, HTTP, port, "/mcp", os.environ, folder) as instance:
        yield Running(f"{name}, http", remote(instance.url))


@contextlib.contextmanager
def matrix(name: str, transport: str = HTTP) -> Iterator[Running]:
    """An environment of the version matrix."""
    environment = next(one for one in environments() if one.name == name)
    folder = install(environment)
    if transport == STDIO:
        yield Running(f"{name}, stdio", starting.target(environment, folder))
        return
    kind = TargetType.SSE if transport == SSE else TargetType.STREAMABLE_HTTP
    with starting.start(environment, folder, transport) as instance:
        yield Running(f"{name}, {transport}", remote(instance.url, kind))


FOREIGN: tuple[Start, ...] = (
    official_python,
    partial(matrix, "mcp 1.9.4"),
    partial(matrix, "mcp 1.12.4"),
    partial(matrix, "mcp 1.30.0"),
    partial(fastmcp, "fastmcp>=4,<5"),
    partial(fastmcp, "fastmcp>=2.14,<3"),
    partial(matrix, "FastMCP 2.3.5"),
    partial(
        scripted,
        "TypeScript server 2.4.0",
        "typescript_server.mjs",
        "@modelcontextprotocol/server@2.4.0",
        "@modelcontextprotocol/node@2.1.2",
        "zod@4",
    ),
    partial(
        scripted,
        "tmcp 1.20.0",
        "tmcp_server.mjs",
        "tmcp@1.20.0",
        "@tmcp/transport-http@0.9.0",
        "@tmcp/adapter-valibot@0.1.6",
        "valibot@1",
    ),
    partial(matrix, "TypeScript SDK 1.10.2"),
    partial(matrix, "TypeScript SDK 1.17.5"),
    partial(matrix, "TypeScript SDK 1.32.2"),
    partial(matrix, "fastapi-mcp 0.4.0"),
    partial(matrix, "fastmcp (Node) 4.20.16"),
    partial(matrix, "mcp-proxy (Node) 6.7.19"),
    partial(matrix, "supergateway 4.0.0"),
)
"""SDKs and frameworks, each under a small server over streamable HTTP."""

# One version each, with the newest dependencies.
PUBLISHED: tuple[Package, ...] = (
    Package(
        "@modelcontextprotocol/server-everything@2026.8.31", "mcp-server-everything", "stdio", "streamableHttp", "sse"
    ),
    Package("@modelcontextprotocol/server-filesystem@2026.8.31", "mcp-server-filesystem", "{folder}"),
    Package("@modelcontextprotocol/server-memory@2026.8.31", "mcp-server-memory"),
    Package("@modelcontextprotocol/server-sequential-thinking@2026.8.31", "mcp-server-sequential-thinking"),
    Package("@modelcontextprotocol/server-github@2025.4.8", "mcp-server-github"),
    Package("mcp-server-time==2026.10.19", "mcp-server-time", "--local-timezone UTC"),
    Package("mcp-server-fetch==2026.10.24", "mcp-server-fetch"),
    Package("mcp-server-git==2026.10.19", "mcp-server-git"),
    Package("@playwright/mcp@0.0.83", "playwright-mcp", "", "--port {port} --allowed-hosts 127.0.0.1:{port}"),
    Package("@upstash/context7-mcp@4.1.1", "context7-mcp", "", "--transport http --port {port}"),
    Package("chrome-devtools-mcp@1.11.0", "chrome-devtools-mcp", "--no-usage-statistics"),
    Package("@antv/mcp-server-chart@0.9.10", "mcp-server-chart", "", "--transport streamable --port {port}"),
    Package("@wonderwhy-er/desktop-commander@0.2.52", "desktop-commander"),
    Package("@openbnb/mcp-server-airbnb@0.3.0", "mcp-server-airbnb"),
    Package("@shopify/dev-mcp@1.16.0", "shopify-dev-mcp"),
    Package("mongodb-mcp-server@3.0.4", "mongodb-mcp-server", "", "--transport http --httpPort {port}"),
    Package(
        "@notionhq/notion-mcp-server@2.5.2", "notion-mcp-server", "", "--transport http --port {port} --disable-auth"
    ),
    Package("firecrawl-mcp@3.26.0", "firecrawl-mcp"),
    Package("tavily-mcp@0.2.22", "tavily-mcp"),
    Package("@bytebase/dbhub@1.4.0", "dbhub", "--demo", "--demo --transport http --port {port}"),
    Package("@eslint/mcp@0.3.13", "mcp"),
    Package("nx-mcp@0.25.0", "nx-mcp", "{folder}"),
    Package("figma-developer-mcp@0.13.2", "figma-developer-mcp", "--stdio", "--port {port}"),
    Package("@drawio/mcp@1.6.1", "drawio-mcp"),
    Package("@brave/brave-search-mcp-server@2.1.4", "brave-search-mcp-server", "", "--transport http --port {port}"),
    Package("mcp-server-code-runner@0.1.8", "mcp-server-code-runner"),
    Package("@zereight/mcp-gitlab@2.1.64", "mcp-gitlab"),
    Package("@mobilenext/mobile-mcp@1.0.4", "mcp-server-mobile"),
    Package("@azure/mcp@2.0.5", "azmcp", "server start"),
    Package("arxiv-mcp-server==0.8.2", "arxiv-mcp-server"),
    Package("awslabs-aws-documentation-mcp-server==1.2.3", "awslabs.aws-documentation-mcp-server"),
    Package("duckduckgo-mcp-server==0.7.0", "duckduckgo-mcp-server"),
    Package("excel-mcp-server==2.2.2", "excel-mcp-server", "stdio", "streamable-http --port {port}"),
    Package("mcp-server-calculator==0.2.1", "mcp-server-calculator"),
    Package("mcp-grafana==2.1.1", "mcp-grafana", "", "-t streamable-http --address 127.0.0.1:{port}"),
    Package("mcp-atlassian==0.23.1", "mcp-atlassian"),
    Package("kglite==0.21.2", "kglite-mcp-server"),
    Package("mcp-clickhouse==0.7.0", "mcp-clickhouse"),
    Package("markitdown-mcp==0.0.1a8", "markitdown-mcp", "", "--http --port {port}"),
    Package("jcodemunch-mcp==1.108.399", "jcodemunch-mcp"),
)
