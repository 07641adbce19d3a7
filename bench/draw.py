"""A random draw of packages from a file of registry entries: the recorded outcome beside a start by hand.

    python -m bench.draw REGISTRY.json [--number N] [--measure N] [--only FILE] [--by-hand USER] [--json FILE]

The draw depends on the file and SEED only. `--measure` takes the first N of it, with `--only` the first N that the
file names, one identifier a line. A start by hand installs with npx or uvx, as an unprivileged user in a folder that is
thrown away, with the variables and arguments that the sandbox gave, and asks for the tools. Install scripts stay off.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import pwd
import random
import resource
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bench.launching import Stopwatch, plain, probe_once, target_of
from bench.packages import Clock, name_of, opened
from crawler.placeholders import configure_target
from crawler.sandbox.failure_messages import find_last_error_line
from evidence.kinds.listing import Listing
from evidence.model import Absent, Target, TargetType

SEED: Final = "hallmark-packages-2026-11"
ECOSYSTEMS: Final = ("npm", "pypi")
HAND_SECONDS: Final = 240.0
_NPM_NOTES: Final = ("npm error A complete log", "npm notice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was recorded, what a start by hand showed, and the processor seconds of both."""

    package: str
    version: str
    recorded: str
    detail: str
    by_hand: str = ""
    recorded_cpu: float = 0.0
    hand_cpu: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("registry", type=Path)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--measure", type=int, default=0)
    parser.add_argument("--only", type=Path)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--by-hand", metavar="USER", help="also start each by hand as this user")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    drawn = draw(json.loads(options.registry.read_text("utf-8")), options.number)
    print("\n".join(f"{name_of(entry)} {entry.get('version', '')}" for entry in drawn))
    known = set(options.only.read_text("utf-8").split()) if options.only else None
    wanted = [entry for entry in drawn if known is None or entry["identifier"] in known][: options.measure]
    found = asyncio.run(measure(wanted, options.cache.resolve(), options.by_hand))
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n", "utf-8")


def draw(servers: Sequence[Mapping[str, Any]], number: int) -> list[dict[str, Any]]:
    """The packages drawn from registry entries, in the order of the draw."""
    packages = [package for server in servers for package in server.get("packages") or []]
    packages = [package for package in packages if package["registryType"] in ECOSYSTEMS]
    packages.sort(key=lambda package: (name_of(package), package.get("version", "")))
    return random.Random(SEED).sample(packages, min(number, len(packages)))


async def measure(entries: Sequence[dict[str, Any]], cache: Path, user: str | None) -> list[Outcome]:
    """The outcomes one after another, each printed as a row when it is known."""
    box = await opened(cache, Clock())
    found: list[Outcome] = []
    for entry in entries:
        target, before = target_of(entry), _used()
        seen = (await probe_once(Stopwatch(box), target)).content
        cpu = _used() - before
        hand, hand_cpu = await start_by_hand(target, user) if user else ("", 0.0)
        outcome = Outcome(
            package=name_of(entry),
            version=entry.get("version", ""),
            recorded=_outcome(seen),
            detail=seen.detail if isinstance(seen, Absent) else json.dumps(dict(Listing.parse(seen.body).installed)),
            by_hand=hand,
            recorded_cpu=round(cpu, 1),
            hand_cpu=round(hand_cpu, 1),
        )
        found.append(outcome)
        print(f"| `{outcome.package}` | {outcome.recorded}: {plain(outcome.detail)} | {plain(hand)} |", flush=True)
    return found


def _outcome(content: Any) -> str:
    if isinstance(content, Absent):
        return content.reason.value
    tools = Listing.parse(content.body).tools
    return f"{len(tools.items)} tools" if tools.end == "complete" else f"tools/list: {tools.end}"


def _used() -> float:
    """Processor seconds of this process and its ended children."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


async def start_by_hand(target: Target, user: str) -> tuple[str, float]:
    """The number of tools or the last error of a start outside of the sandbox, and its processor seconds."""
    account, before = pwd.getpwnam(user), _used()
    given = configure_target(target).target
    folder = Path(tempfile.mkdtemp(prefix="by-hand-"))
    os.chown(folder, account.pw_uid, account.pw_gid)
    settings = {name: value for name, value in os.environ.items() if name.lower().startswith(("npm_config_", "uv_"))}
    certificates = {name: os.environ[name] for name in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS") if name in os.environ}
    environment = {
        **{name: value for name, value in settings.items() if "cache" not in name.lower()},
        **certificates,
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "npm_config_ignore_scripts": "true",
        **dict(given.environment),
    }
    process = await asyncio.create_subprocess_exec(
        *list_launch_words(given),
        cwd=folder,
        env=environment,
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        start_new_session=True,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1 << 26,
    )
    said = asyncio.create_task(process.stderr.read())  # type: ignore[union-attr]
    try:
        answer = await asyncio.wait_for(ask_for_tools(process), HAND_SECONDS)
    except TimeoutError:
        answer = "no answer in time"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    lines = (await said).decode("utf-8", "replace").splitlines()
    words = find_last_error_line("\n".join(line for line in lines if not line.startswith(_NPM_NOTES)))
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return answer or f"ended: {words}", _used() - before


def list_launch_words(target: Target) -> list[str]:
    launch = target.launch
    if target.type is TargetType.NPM:
        wanted = f"{target.identifier}@{target.version or 'latest'}"
        chosen = ["--package", wanted, launch.command] if launch.command else [wanted]
        return ["npx", "--yes", *chosen, *target.arguments]
    wanted = f"{target.identifier}=={target.version}" if target.version else target.identifier
    python = ["--python", launch.python] if launch.python else []
    command = launch.command or target.identifier.partition("[")[0]
    words = ["python", *command.split()] if command.startswith("-m ") else [command]
    return ["uvx", *python, "--from", wanted, *words, *target.arguments]


async def ask_for_tools(process: asyncio.subprocess.Process) -> str:
    """`N tools`, an error, or nothing if the process ended."""
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by-hand", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    stdin, stdout = process.stdin, process.stdout
    assert stdin
    assert stdout
    with contextlib.suppress(ConnectionError):
        for message in messages:
            stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            await stdin.drain()
            while "id" in message and (line := await stdout.readline()):
                with contextlib.suppress(ValueError, AttributeError):
                    answer = json.loads(line)
                    if answer.get("id") == 2:
                        result = answer.get("result")
                        return f"{len(result['tools'])} tools" if result else f"error: {answer.get('error')}"
                    if answer.get("id") == message["id"]:
                        break
    return ""


if __name__ == "__main__":
    main()
