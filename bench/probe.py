"""The cost of one core probe: `python -m bench.probe [--servers N] [--json FILE]`.

A fleet of scripted servers runs in its own process on loopback, over HTTP and HTTPS. Three clients read the same
servers in the same run: our collector (all guards on, all records built), the default client of the official SDK, and
bare httpx making the same requests with one TLS context for all; CPU is that of this process, which collects garbage
as rarely as a worker. Only servers that all can list are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import certifi
import httpx
import uvloop
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.channel import MODERN_VERSION, initialize_params, modern_params
from evidence.garbage import collect_garbage_rarely
from evidence.model import Dossier, Observed, Server, Target, TargetType
from tests.crawler.wire.certificates import Authority
from tests.servers.daemon import free_port
from tests.servers.scripted_answers import Script

MODERN_HEADERS = {"mcp-protocol-version": MODERN_VERSION}
META = modern_params({}, "0")
NOW = datetime(2026, 11, 21, tzinfo=UTC)
CONCURRENCY = 50
SEED = 1
WHO = ("hallmark", "sdk default", "bare httpx")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=400)
    parser.add_argument("--sdk-servers", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    collect_garbage_rarely()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for secure in (False, True) for row in measure(options, Path(folder), secure=secure)]
    for row in rows:
        print(f"{row['what']:28} {row['probes']:6} probes  {row['cpu_ms']:8.2f} ms CPU  {row['wall_ms']:7.2f} ms wall")
    for scheme in ("http", "https"):
        ours, *others = (next(row for row in rows if row["what"] == f"{scheme} {who}") for who in WHO)
        for who, other in zip(WHO[1:], others, strict=True):
            print(f"{scheme}: {who} takes {other['cpu_ms'] / ours['cpu_ms']:.1f} times our CPU")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def measure(options: argparse.Namespace, folder: Path, *, secure: bool) -> list[dict[str, Any]]:
    """Rows for one scheme."""
    authority = Authority(folder)
    certificate, key = authority.issue()
    bundle = folder / "bundle.pem"
    bundle.write_bytes(_public_authorities() + authority.file.read_bytes())
    os.environ["SSL_CERT_FILE"] = str(bundle)  # the SDK's default client has no other option
    port_file = folder / f"port-{secure}"
    tls = ["--tls-cert", str(certificate), "--tls-key", str(key)] if secure else []
    count = options.servers * 2
    command = [
        sys.executable,
        "-m",
        "tests.servers.scripted",
        "--count",
        str(count),
        "--port-file",
        str(port_file),
        *["--host", "localhost", "--port", str(free_port())],  # all its addresses: a real host refuses none
        *tls,
    ]
    with subprocess.Popen([*command, "--seed", str(SEED)], stdout=subprocess.DEVNULL) as fleet:
        try:
            base = f"{'https' if secure else 'http'}://localhost:{port_of(port_file)}"
            good = [f"{base}/s/{n}/mcp" for n in range(count) if Script(SEED, n).fault is None]
            scheme = base.partition(":")[0]
            ours = _timed(f"{scheme} hallmark", good[: options.servers], _ours(authority.trusting()))
            sdk = _timed(f"{scheme} sdk default", good[: options.sdk_servers], _sdk)
            bare = _timed(f"{scheme} bare httpx", good[: options.servers], _bare(authority.trusting()))
            return [ours, sdk, bare]
        finally:
            fleet.kill()


def _timed(what: str, urls: list[str], probe: Callable[[str], Awaitable[None]]) -> dict[str, Any]:
    async def run(some: list[str]) -> None:
        queue = iter(some)

        async def worker() -> None:
            for url in queue:
                await probe(url)

        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))

    async def both() -> tuple[float, float]:
        await run(urls[:10])
        wall, cpu = time.perf_counter(), time.process_time()
        await run(urls)
        return time.perf_counter() - wall, time.process_time() - cpu

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        wall, cpu = runner.run(both())
    each = 1000 / len(urls)
    return {"what": what, "probes": len(urls), "cpu_ms": cpu * each, "wall_ms": wall * each}


def _ours(tls: ssl.SSLContext) -> Callable[[str], Awaitable[None]]:
    state: dict[str, ProtocolCollector] = {}

    async def probe(url: str) -> None:
        if not state:
            engine = HttpEngine(user_agent="Hallmark/bench", guard=AddressGuard(allow_private=True), tls=tls)
            state["it"] = ProtocolCollector(engine, None, HostRateLimiter(), lambda: NOW, policy=CallPolicy.OFF)
        target = Target(type=TargetType.STREAMABLE_HTTP, identifier=url)
        server = Server(ref=url, name=url, targets=(target,))
        listed, *_ = await state["it"].collect(server, Dossier(server=server, as_of=NOW))
        assert isinstance(listed.content, Observed), listed.content

    return probe


def _bare(tls: ssl.SSLContext) -> Callable[[str], Awaitable[None]]:
    """The requests of our core probe without guard, records or tolerance; a client of its own for each server."""

    async def probe(url: str) -> None:
        async with httpx.AsyncClient(verify=tls, trust_env=False) as client:
            opened = await _call(client, url, "server/discover", MODERN_HEADERS, META)
            modern = "result" in opened
            headers = MODERN_HEADERS if modern else {}
            if not modern or "2025-11-25" in opened["result"].get("supportedVersions", []):
                answer = await _post(
                    client, url, {"id": 2, "method": "initialize", "params": initialize_params("0")}, {}
                )
                opened = opened if modern else json.loads(_text(answer))
                session = answer.headers.get("mcp-session-id")
                headers = headers or ({"mcp-session-id": session} if session else {})
                await _post(client, url, {"method": "notifications/initialized"}, headers)
            declared = opened["result"]["capabilities"]
            for name, method in (
                ("tools", "tools/list"),
                ("resources", "resources/list"),
                ("resources", "resources/templates/list"),
                ("prompts", "prompts/list"),
            ):
                cursor: dict[str, Any] | None = {} if name in declared else None
                while cursor is not None:
                    page = await _call(client, url, method, headers, {**cursor, **(META if modern else {})})
                    following = page.get("result", {}).get("nextCursor")
                    cursor = {"cursor": following} if following else None

    return probe


async def _call(
    client: httpx.AsyncClient, url: str, method: str, headers: dict[str, str], params: dict[str, Any]
) -> dict[str, Any]:
    named = {**headers, "mcp-method": method} if "mcp-protocol-version" in headers else headers
    answer = await _post(client, url, {"id": 1, "method": method, "params": params}, named)
    found: dict[str, Any] = json.loads(_text(answer))
    return found


async def _post(
    client: httpx.AsyncClient, url: str, message: dict[str, Any], headers: dict[str, str]
) -> httpx.Response:
    accept = {"accept": "application/json, text/event-stream"}
    return await client.post(url, json={"jsonrpc": "2.0", **message}, headers={**accept, **headers})


def _text(answer: httpx.Response) -> str:
    return answer.text.partition("data: ")[2] if answer.text.startswith("event:") else answer.text


def _public_authorities() -> bytes:
    """The bundle that a default client loads, so that its cost is the real one."""
    return Path(certifi.where()).read_bytes()


async def _sdk(url: str) -> None:
    try:
        async with Client(url) as client:
            asked = [client.list_tools, client.list_resources, client.list_resource_templates, client.list_prompts]
            declared = client.server_capabilities
            wanted = [declared.tools, declared.resources, declared.resources, declared.prompts]
            for ask, has in zip(asked, wanted, strict=True):
                if has is not None:
                    with contextlib.suppress(ValidationError):  # one invalid tool makes the SDK reject the list
                        await ask()
    except* MCPError as failure:
        raise SystemExit(f"the SDK did not open {url}") from failure


def port_of(file: Path) -> int:
    """The port that a starting fleet wrote to a file; exits when it does not start within 20 s."""
    deadline = time.monotonic() + 20
    while not file.exists():
        if time.monotonic() > deadline:
            raise SystemExit("the fleet did not start")
        time.sleep(0.05)
    return int(file.read_text())


if __name__ == "__main__":
    main()
