"""The checks of `hallmark doctor`: each says what was found, what it is needed for and what to do."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from crawler import sandbox
from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.sandbox.toolchain import bun, host, node, package_indexes
from evidence.store import NotMigrated, StoreError, open_store
from workers.cli.administration.registry import KNOWN
from workers.cli.extras import EXTRAS, FLEET, PACKAGES, Extra
from workers.settings.environment import RegistrySetting, Settings, is_set, read_tool_environment

OLDEST_PYTHON: Final = (3, 11)
_REDIS_SECONDS: Final = 1.0


class CheckStatus(StrEnum):
    """OPTIONAL: missing, but only some uses need it."""

    OK = "ok"
    MISSING = "missing"
    OPTIONAL = "optional"


class Check(Struct, frozen=True):
    """The result of one check."""

    name: str
    verdict: CheckStatus
    found: str
    needed_for: str
    fix: str = ""


def run_checks(settings: Settings) -> Iterator[Check]:
    """Every check, the most important first."""
    yield _python()
    yield _writable("home folder", settings.home, "the database of `hallmark run`", "HALLMARK_HOME")
    yield _writable("cache folder", settings.cache, "the sandbox and installed packages", "HALLMARK_CACHE")
    yield _database(settings)
    yield from _sandbox(settings)
    yield from map(_extra, EXTRAS)
    yield _tool("node", lambda: _describe_node(settings.cache), "npm servers")
    yield _tool("uv", lambda: f"{host.find_uv_binary()} {host.installed_version('uv')}", "PyPI servers")
    yield _tool(
        "bun",
        lambda: f"{bun.find_bun_pin().name} {bun.find_bun_pin().version}, downloaded when needed",
        "npm servers",
    )
    yield _npm_index(settings.cache)
    yield _index(
        "Python index",
        lambda: package_indexes.read_python_index(read_tool_environment()).url,
        "PyPI servers",
        "UV_DEFAULT_INDEX",
    )
    yield from _registries(settings)
    yield _redis(settings)
    yield _postgres(settings)
    yield _contact(settings)
    yield _tokens(settings)
    yield _github(settings)
    yield _advisories(settings)
    yield _hyperscan()


def _python() -> Check:
    ok = sys.version_info >= OLDEST_PYTHON
    fix = "" if ok else "install Python 3.11 or newer"
    return Check("python", CheckStatus.OK if ok else CheckStatus.MISSING, platform.python_version(), "everything", fix)


def _writable(name: str, folder: Path, needed_for: str, variable: str) -> Check:
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        state = "" if folder.exists() else ", created when needed"
        return Check(name, CheckStatus.OK, f"{folder}{state}", needed_for)
    return Check(
        name, CheckStatus.MISSING, f"{existing} is not writable", needed_for, f"set {variable} to another folder"
    )


def _database(settings: Settings) -> Check:
    needed_for = "everything but `scan`"
    if settings.database_url is None and not (settings.home / "hallmark.db").exists():
        return Check("database", CheckStatus.OK, "none yet; `hallmark run` creates it", needed_for)
    kind = settings.store_url.partition(":")[0]
    store = open_store(settings.store_url)
    try:
        newest = store.list_runs(1)
    except NotMigrated:
        return Check("database", CheckStatus.OK, f"{kind}, empty; `hallmark run` creates its tables", needed_for)
    except StoreError as error:
        return Check("database", CheckStatus.MISSING, f"{kind}: {error}", needed_for, "check HALLMARK_DATABASE_URL")
    finally:
        store.close()
    return Check("database", CheckStatus.OK, f"{kind}, newest run {newest[0].run.id if newest else 'none'}", needed_for)


def _sandbox(settings: Settings) -> Iterator[Check]:
    """The runtime for packages and commands, the engine for images, and what other runtimes lack."""
    found = sandbox.check_runtimes(read_tool_environment())
    needed_for = "servers that are packages; without it they are recorded as no_sandbox"
    chosen = sandbox.choose_runtime(settings.sandbox_runtime, found.__getitem__)
    if settings.sandbox == "off":
        yield Check("sandbox", CheckStatus.OPTIONAL, "switched off", needed_for, "unset HALLMARK_SANDBOX")
    elif isinstance(chosen, str):
        yield Check(
            "sandbox",
            CheckStatus.OK,
            f"{chosen} ({found[chosen].detail}), {sandbox.describe_containment()}",
            needed_for,
        )
    else:
        yield Check("sandbox", CheckStatus.MISSING, chosen.why, needed_for, chosen.fix)
    pythons = sandbox.find_interpreters(read_tool_environment(), settings.sandbox_pythons)
    yield Check("pythons", CheckStatus.OK, pythons.describe(), "PyPI servers, each the first that it allows")
    engine = sandbox.choose_image_engine(settings.sandbox_runtime, found.__getitem__)
    needed_for = "servers that are images; without it they are recorded as runtime_unsupported"
    if isinstance(engine, str):
        yield Check("images", CheckStatus.OK, f"{engine} ({found[engine].detail})", needed_for)
    else:
        yield Check("images", CheckStatus.OPTIONAL, engine.why, needed_for, engine.fix)
    for name, state in found.items():
        needed_for = f"HALLMARK_SANDBOX_RUNTIME={name}"
        if state.ok:
            yield Check(f"runtime {name}", CheckStatus.OK, state.detail, needed_for)
        else:
            yield Check(f"runtime {name}", CheckStatus.OPTIONAL, state.why, needed_for, state.fix)


def _tool(name: str, find: Callable[[], str], needed_for: str) -> Check:
    try:
        return Check(name, CheckStatus.OK, find(), needed_for)
    except sandbox.SandboxError as error:
        return Check(name, CheckStatus.MISSING, str(error), needed_for, PACKAGES.install_command)


def _extra(extra: Extra) -> Check:
    missing = extra.find_missing()
    if not missing:
        return Check(f"extra {extra.name}", CheckStatus.OK, "installed", extra.purpose)
    found = f"not installed: {', '.join(missing)}"
    verdict = CheckStatus.MISSING if extra is PACKAGES else CheckStatus.OPTIONAL
    return Check(f"extra {extra.name}", verdict, found, extra.purpose, extra.install_command)


def _describe_node(cache: Path) -> str:
    found = node.find_node(cache)
    return f"{found.path} {found.version}" if found else f"{node.find_node_pin().version}, downloaded when needed"


def _npm_index(cache: Path) -> Check:
    try:
        npm = node.find_npm(cache, read_tool_environment())
    except sandbox.SandboxError as error:
        return Check("npm index", CheckStatus.MISSING, str(error), "npm servers")
    if npm is None:
        return Check("npm index", CheckStatus.OK, "read when Node is downloaded", "npm servers")
    return _index(
        "npm index",
        lambda: package_indexes.read_npm_index(read_tool_environment(), npm).url,
        "npm servers",
        "npm config set registry",
    )


def _index(name: str, find: Callable[[], str], needed_for: str, variable: str) -> Check:
    try:
        address = package_indexes.strip_credentials(find())
    except sandbox.SandboxError as error:
        return Check(name, CheckStatus.MISSING, str(error), needed_for, f"set it with {variable}")
    return Check(name, CheckStatus.OK, address, needed_for, f"from your own tools; {variable} changes it")


def _registries(settings: Settings) -> Iterator[Check]:
    origin = "HALLMARK_REGISTRIES" if is_set("registries") else "the default"
    for item in settings.registries:
        name = item.name if isinstance(item, RegistrySetting) else item
        where = item.url if isinstance(item, RegistrySetting) else KNOWN.get(item, item)
        yield Check(f"registry {name}", CheckStatus.OK, f"{where} (from {origin})", "`hallmark run`")


def _redis(settings: Settings) -> Check:
    needed_for = "Celery workers only"
    if FLEET.find_missing():
        return Check("redis", CheckStatus.OPTIONAL, "no client", needed_for, FLEET.install_command)
    from redis import Redis, RedisError  # noqa: PLC0415  of an extra

    address = settings.redis_url.reveal()
    try:
        with Redis.from_url(address, socket_connect_timeout=_REDIS_SECONDS, socket_timeout=_REDIS_SECONDS) as client:
            client.ping()
    except (RedisError, ValueError, OSError) as error:
        fix = "start one and set HALLMARK_REDIS_URL if you use Celery"
        return Check("redis", CheckStatus.OPTIONAL, f"not reached ({type(error).__name__})", needed_for, fix)
    return Check("redis", CheckStatus.OK, "answers", needed_for)


def _postgres(settings: Settings) -> Check:
    needed_for = "Celery workers only"
    if settings.store_url.startswith("postgresql"):
        return Check("postgres", CheckStatus.OK, "set; see database", needed_for)
    fix = "set HALLMARK_DATABASE_URL=postgresql+psycopg://USER@HOST/NAME if you use Celery"
    return Check("postgres", CheckStatus.OPTIONAL, "not set; SQLite is used", needed_for, fix)


def _contact(settings: Settings) -> Check:
    needed_for = "telling operators of crawled servers how to reach you"
    if settings.contact_url:
        return Check("contact URL", CheckStatus.OK, settings.contact_url, needed_for)
    return Check(
        "contact URL",
        CheckStatus.OPTIONAL,
        "not set",
        needed_for,
        "set HALLMARK_CONTACT_URL before you crawl a registry",
    )


def _tokens(settings: Settings) -> Check:
    held = [item.name for item in settings.registries if isinstance(item, RegistrySetting) and item.headers]
    found = f"headers for {', '.join(held)}" if held else "none"
    return Check(
        "tokens",
        CheckStatus.OK if held else CheckStatus.OPTIONAL,
        found,
        "registries that require a key",
        "" if held else "add `headers` to the registry in HALLMARK_REGISTRIES",
    )


def _github(settings: Settings) -> Check:
    needed_for = "repositories of more than six servers an hour"
    count = len(settings.github_tokens)
    if count:
        return Check("GitHub tokens", CheckStatus.OK, f"{count}, for {settings.github_api}", needed_for)
    fix = "set HALLMARK_GITHUB_TOKENS; a token without any rights is enough"
    return Check("GitHub tokens", CheckStatus.OPTIONAL, "none", needed_for, fix)


def _advisories(settings: Settings) -> Check:
    needed_for = "known vulnerabilities of dependencies; without it OSV's API is used"
    refresh = "hallmark advisories refresh"
    try:
        states = Mirror(settings.advisories_file).states()
    except MirrorUnreadable as error:
        return Check("advisories", CheckStatus.OPTIONAL, str(error), needed_for, refresh)
    if not states:
        return Check("advisories", CheckStatus.OPTIONAL, "no mirror", needed_for, refresh)
    oldest = min(state.refreshed_at for state in states)
    found = f"{sum(state.records for state in states):,} of {len(states)} ecosystems, as of {oldest:%Y-%m-%d %H:%M}"
    return Check("advisories", CheckStatus.OK, found, needed_for)


def _hyperscan() -> Check:
    needed_for = "a faster search for secrets, with the same results"
    if find_spec("hyperscan"):
        return Check("hyperscan", CheckStatus.OK, "installed", needed_for)
    return Check("hyperscan", CheckStatus.OPTIONAL, "not installed", needed_for, "pip install 'mcp-hallmark[fast]'")
