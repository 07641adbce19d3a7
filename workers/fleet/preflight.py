"""What has to be so before a fleet starts: each check says what was expected, what was found and what to do."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from crawler import sandbox
from evidence.store import StoreError, open_store
from workers import schedule
from workers.fleet.plan import BEAT, HOST
from workers.fleet.program import load_template, name_process
from workers.settings.environment import DEFAULT_BROKER, VARIABLE_PREFIX, Settings, read_tool_environment

_ANSWER_SECONDS: Final = 5
_PROCESSES: Final = Path("/proc")
_APPLICATION: Final = b"workers.celery_app"
_REDIS_VARIABLE: Final = f"{VARIABLE_PREFIX}REDIS_URL=".encode()
_STARTS_PACKAGES: Final = frozenset({schedule.SANDBOX_QUEUE, schedule.RETEST_QUEUE})


class NotReady(Exception):
    """A fleet cannot start here; the message says what was expected, what was found and what to do."""


def check_broker(settings: Settings) -> None:
    """Raise NotReady unless Redis answers."""
    from redis import Redis, RedisError  # noqa: PLC0415  of an extra

    seconds = _ANSWER_SECONDS
    try:
        with Redis.from_url(
            settings.redis_url.reveal(), socket_connect_timeout=seconds, socket_timeout=seconds
        ) as client:
            client.ping()
    except (RedisError, ValueError, OSError) as error:
        raise NotReady(
            f"expected Redis or Valkey to answer at HALLMARK_REDIS_URL, found {type(error).__name__}: "
            f"{_first_line(error)}. Start one, or set the address: redis://HOST:6379/0"
        ) from error


def migrate_database(settings: Settings) -> None:
    """Bring the tables up to date; raise NotReady unless PostgreSQL answers."""
    if not settings.store_url.startswith("postgresql"):
        raise NotReady(
            "expected PostgreSQL, found no HALLMARK_DATABASE_URL of one. Set it: "
            "postgresql+psycopg://USER:PASSWORD@HOST/NAME. Without PostgreSQL, `hallmark run` works on SQLite"
        )
    url = _parse_address(settings.store_url)
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(_ANSWER_SECONDS)})
    store = open_store(url.render_as_string(hide_password=False))
    try:
        store.migrate()
    except StoreError as error:
        raise NotReady(
            f"expected PostgreSQL to answer at HALLMARK_DATABASE_URL, found: {_first_line(error)}. "
            "Start it, create the database, or correct the address"
        ) from error
    finally:
        store.close()


def _parse_address(address: str) -> URL:
    try:
        return make_url(address)
    except (ArgumentError, ValueError):  # their messages quote what follows an @ of the password
        raise NotReady(
            "expected postgresql+psycopg://USER:PASSWORD@HOST:PORT/NAME in HALLMARK_DATABASE_URL, found an address "
            "that cannot be read. Write %40 for @, %3A for : and %2F for / in the password"
        ) from None


def prepare_sandbox(settings: Settings, queues: Sequence[str]) -> str:
    """Build the sandbox unless it exists, and describe it; raise NotReady when a queue needs one and there is none."""
    if not _STARTS_PACKAGES.intersection(queues):
        return "not needed by these queues"
    if settings.sandbox == "off":
        return "switched off by HALLMARK_SANDBOX: every package will be no_sandbox"
    environ = read_tool_environment()
    chosen = sandbox.choose_runtime(settings.sandbox_runtime, partial(sandbox.check_runtime, environ=environ))
    if not isinstance(chosen, str):
        raise NotReady(
            f"expected a sandbox for packages, found none: {chosen.why}. {chosen.fix}. Or set HALLMARK_SANDBOX=off: "
            "then every package is recorded as no_sandbox"
        )
    try:
        asyncio.run(sandbox.build_rootfs(settings.cache, lambda _step: None, environ=environ))
    except sandbox.SandboxError as error:
        raise NotReady(f"the sandbox cannot be built: {error}") from error
    return f"{chosen}, {sandbox.describe_containment()}"


def check_single_beat(settings: Settings) -> None:
    """Raise NotReady when a beat of the same Redis runs on this machine; found only where /proc shows it."""
    if found := find_beats(settings.redis_url.reveal()):
        raise NotReady(
            f"expected no other beat for this Redis on this machine, found process {', '.join(map(str, found))}. "
            "Stop it or the fleet that started it, or start only workers: --no-beat"
        )


def load_code() -> None:
    """Load what all processes run, once; raise NotReady when that fails."""
    try:
        load_template()
    except OSError as error:
        raise NotReady(
            f"expected to load the code of all processes, found: {error.strerror}. What it printed says why; it needs "
            "0.3 GB of memory"
        ) from error


def check_ports(ports: Mapping[str, int]) -> None:
    """Raise NotReady when something listens at the port of an app."""
    for name, port in ports.items():
        try:
            socket.create_server((HOST, port)).close()
        except OSError as error:
            raise NotReady(
                f"expected port {port} of {HOST} to be free for the {name} app, found: {error.strerror}. Stop what "
                f"uses it, or choose another one: --{name}-port N (0 starts none)"
            ) from error


def find_beats(redis_url: str, processes: Path = _PROCESSES) -> list[int]:
    """The ids of the processes that run our beat with this broker and whose environment may be read."""
    return [
        int(folder.name)
        for folder in sorted(processes.glob("[0-9]*"))
        if _is_beat(folder) and _uses_broker(_read_strings(folder / "environ"), redis_url)
    ]


def _is_beat(process: Path) -> bool:
    """True for a beat of a fleet, which has a name only, and for one that was started by hand."""
    words = _read_strings(process / "cmdline")
    return _read_name(process) == name_process(BEAT) or (_APPLICATION in words and BEAT.encode() in words)


def _read_name(process: Path) -> bytes:
    with suppress(OSError):
        return (process / "comm").read_bytes().rstrip(b"\n")
    return b""


def _uses_broker(variables: Sequence[bytes], redis_url: str) -> bool:
    given = [one.removeprefix(_REDIS_VARIABLE) for one in variables if one.startswith(_REDIS_VARIABLE)]
    return bool(variables) and (given or [DEFAULT_BROKER.encode()])[0] == redis_url.encode()


def _read_strings(file: Path) -> list[bytes]:
    with suppress(OSError):
        return file.read_bytes().rstrip(b"\0").split(b"\0")
    return []


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(". ")
