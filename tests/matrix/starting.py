"""How the server of an environment is started on a transport, and where it then answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from evidence.model import Target, TargetType
from tests.conformance.installing import NODE
from tests.matrix.instance import Instance, serving
from tests.matrix.versions import HTTP, SSE, STATELESS, STDIO, Environment
from tests.servers.daemon import free_port

SERVED = Path(__file__).parent / "served"


def start(environment: Environment, folder: Path, transport: str) -> AbstractContextManager[Instance]:
    """Start a server that is asked over HTTP."""
    port = free_port()
    path = _path(environment, transport)
    variables = {**_inherited(), "PYTHONPATH": str(SERVED)}
    return serving(command(environment, folder, transport, port), transport, port, path, variables, folder)


def command(environment: Environment, folder: Path, transport: str, port: int = 0) -> list[str]:
    """The command line of a server."""
    if environment.script in _COMMANDS:
        return _COMMANDS[environment.script](folder, transport, port)
    return [*_script(environment.script, folder), transport, str(port)]


def target(environment: Environment, folder: Path) -> Target:
    """The target of a server that is started on its standard streams."""
    setting = ["env", "-C", str(folder), f"PYTHONPATH={SERVED}"]
    return Target(type=TargetType.COMMAND, identifier=".", arguments=(*setting, *command(environment, folder, STDIO)))


def _path(environment: Environment, transport: str) -> str:
    """The path at which a server answers, of some versions with a redirect of the event stream."""
    if transport == SSE:
        return "/sse"
    return "/mcp/" if environment.script == "mcp_proxy.py" else "/mcp"


def _script(name: str, folder: Path) -> list[str]:
    interpreter = NODE if name.endswith(".mjs") else folder / "bin" / "python"
    return [str(interpreter), str(SERVED / name)]


def _mcp_proxy_in_python(folder: Path, transport: str, port: int) -> list[str]:
    mode = ["--stateless"] if transport == STATELESS else []
    behind = [*_script("python_sdk.py", folder), STDIO, "0"]
    address = ["--host", "127.0.0.1", "--port", str(port)]
    return [str(folder / "bin" / "mcp-proxy"), *address, *mode, "--pass-environment", "--", *behind]


def _supergateway(folder: Path, transport: str, port: int) -> list[str]:
    behind = " ".join([*_script("typescript_sdk.mjs", folder), STDIO, "0"])
    out = "sse" if transport == SSE else "streamableHttp"
    mode = ["--stateful"] if transport == HTTP else []
    program = folder / "node_modules" / "supergateway" / "dist" / "index.js"
    where = ["--port", str(port), "--outputTransport", out, *mode]
    return [str(NODE), str(program), "--stdio", behind, *where, "--logLevel", "none"]


def _mcp_proxy_in_node(folder: Path, transport: str, port: int) -> list[str]:
    behind = [*_script("typescript_sdk.mjs", folder), STDIO, "0"]
    program = folder / "node_modules" / "mcp-proxy" / "dist" / "bin" / "mcp-proxy.mjs"
    mode = ["--server", "sse" if transport == SSE else "stream", *(["--stateless"] if transport == STATELESS else [])]
    return [str(NODE), str(program), "--host", "127.0.0.1", "--port", str(port), *mode, *behind]


_COMMANDS: dict[str, Callable[[Path, str, int], list[str]]] = {
    "mcp_proxy.py": _mcp_proxy_in_python,
    "supergateway.mjs": _supergateway,
    "mcp_proxy.mjs": _mcp_proxy_in_node,
}


def _inherited() -> dict[str, str]:
    """The environment of a server. Node collects new objects early, so that memory that stays taken is in use."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": os.environ.get("HOME", "/"), "NODE_OPTIONS": "--max-semi-space-size=1"}
