"""The install phase: resolve, download and unpack in a box whose only door is the relay; nothing of a package runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crawler.wire.sandbox import bubblewrap, entrypoints, layers
from crawler.wire.sandbox.box import Bind, Box
from crawler.wire.sandbox.failure import install_failure
from crawler.wire.sandbox.identity import Identity, installer
from crawler.wire.sandbox.indexes import NpmIndex, PythonIndex
from crawler.wire.sandbox.limits import INSTALL, MIB, Limits
from crawler.wire.sandbox.process import Contained
from crawler.wire.sandbox.relay import PORT, Doors, Relay
from crawler.wire.sandbox.rootfs import Rootfs
from crawler.wire.sandbox.spec import Spec
from evidence.model import Absent, Reason, TargetType

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Opens the door from inside: listens in the box's network namespace and hands the socket to the relay outside.
DOOR = f"""
import os, socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", {PORT}))
listener.listen(256)
channel = socket.socket(fileno=int(sys.argv[1]))
socket.send_fds(channel, [b"x"], [listener.fileno()])
channel.close()
listener.close()
os.execv(sys.argv[2], sys.argv[2:])
"""
POLL = 0.25
ABANDONED = timedelta(hours=1)
SAID = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What one installation may put on the disk; `seconds` and the rest are in its Limits."""

    size: int = 1024 * MIB
    files: int = 100_000
    download: int = 512 * MIB
    disk_growth: int = 3072 * MIB
    disk_floor: int = 512 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A settled layer and what its top package offers."""

    version: str
    layer: str
    commands: dict[str, list[str]]
    blocked_scripts: list[str]
    engines: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """Installs packages into `store` with the tools of `rootfs`."""

    rootfs: Rootfs
    store: layers.Layers
    bundle: Path
    caps: Caps = Caps()
    limits: Limits = INSTALL

    async def install(self, spec: Spec, newest: str, index: NpmIndex | PythonIndex, doors: Doors) -> Result | Absent:
        """Install `spec` as a new layer; Absent says why not. `newest` is what the index calls it without a version."""
        async with self._workshop() as work:
            command = await asyncio.to_thread(_prepare, work / "out", spec, newest, index)
            said = await self._run(command, work, doors)
            if isinstance(said, Absent):
                return said
            return await asyncio.to_thread(self._keep, work, spec)

    @contextlib.asynccontextmanager
    async def _workshop(self) -> AsyncIterator[Path]:
        work = await asyncio.to_thread(_open_workshop, self.store.cache_dir, installer())
        try:
            yield work
        finally:
            await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)

    async def _run(self, command: Sequence[str], work: Path, doors: Doors) -> str | Absent:
        ours, theirs = socket.socketpair()
        relay = Relay(doors, cap=self.caps.download)
        with ours:
            with theirs:
                start = ["/usr/bin/python3", "-I", "-S", "-c", DOOR, str(theirs.fileno()), *command]
                box = self._box(work)
                process = await bubblewrap.start(box, start, installer(), inherited=(theirs.fileno(),))
            listener = await asyncio.to_thread(_receive, ours)
        try:
            server = await relay.serve(listener) if listener else None
            said = await self._attend(process, work)
        finally:
            end = await process.stop()
            if listener and server:
                server.close()
        if process.stopped_for:
            reason = Reason.TOO_LARGE if "size" in process.stopped_for or "disk" in process.stopped_for else None
            return Absent(reason or Reason.INSTALL_FAILED, f"the installation was stopped at the {process.stopped_for}")
        if relay.received > self.caps.download:
            return Absent(Reason.TOO_LARGE, f"the package needs more than {self.caps.download // MIB} MiB of downloads")
        return said if end.code == 0 else install_failure(said + end.stderr)

    def _box(self, work: Path) -> Box:
        proxy = f"http://127.0.0.1:{PORT}"
        environment = {
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
            **dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"), BUNDLE),
            "BUN_INSTALL_CACHE_DIR": "/cache/bun",
            "UV_CACHE_DIR": "/cache/uv",
            "PYC_INVALIDATION_MODE": "UNCHECKED_HASH",
            "DO_NOT_TRACK": "1",
        }
        binds = (
            Bind(work / "out", "/app", writable=True),
            Bind(self.store.cache_dir / "downloads", "/cache", writable=True),
            Bind(self.rootfs.tools, "/opt/tools"),
            Bind(self.bundle, BUNDLE),
        )
        return Box(root=self.rootfs.root, binds=binds, environment=environment, folder="/app", limits=self.limits)

    async def _attend(self, process: Contained, work: Path) -> str:
        """Read what the installer says until it ends, and stop it when it takes too much of the disk."""
        guard = asyncio.create_task(self._guard(process, work))
        said = bytearray()
        try:
            await process.close_stdin()
            while data := await process.read(65536):
                said += data
                del said[:-SAID]
        finally:
            guard.cancel()
        return said.decode("utf-8", "replace")

    async def _guard(self, process: Contained, work: Path) -> None:
        before = os.statvfs(work)
        while True:
            size, count = await asyncio.to_thread(layers.usage, work, self.caps.files)
            now = os.statvfs(work)
            free, taken = now.f_bavail * now.f_frsize, (before.f_bavail - now.f_bavail) * now.f_frsize
            if size > self.caps.size or count > self.caps.files:
                process.kill(f"size limit of {self.caps.size // MIB} MiB and {self.caps.files} files")
            if taken > self.caps.disk_growth or free < self.caps.disk_floor:
                process.kill("disk limit")
            await asyncio.sleep(POLL)

    def _keep(self, work: Path, spec: Spec) -> Result | Absent:
        tree = work / "out"
        size, count = layers.settle(tree)
        if size > self.caps.size or count > self.caps.files:
            return Absent(Reason.TOO_LARGE, f"the package unpacks to more than {self.caps.size // MIB} MiB")
        found = _npm_result(tree, spec) if spec.ecosystem is TargetType.NPM else _pypi_result(tree, spec)
        if found is None:
            return Absent(Reason.INSTALL_FAILED, "the installer ended well but the package is not there")
        version, lock, commands = found
        digest = layers.digest(spec.ecosystem, self.store.abi, lock)
        blocked, engines = _scripts(tree) if spec.ecosystem is TargetType.NPM else [], _engines(tree, spec)
        self.store.adopt(tree, digest)
        return Result(version=version, layer=digest, commands=commands, blocked_scripts=blocked, engines=engines)


def sweep(cache_dir: Path, now: datetime) -> None:
    """Remove the workshops of installations that were killed; none takes an hour."""
    for work in (cache_dir / "work").glob("*"):
        with contextlib.suppress(OSError):
            if now - datetime.fromtimestamp(work.stat().st_mtime, UTC) > ABANDONED:
                shutil.rmtree(work, ignore_errors=True)


def _open_workshop(cache_dir: Path, who: Identity) -> Path:
    folder = cache_dir / "work"
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=folder))
    for path in (work / "out", cache_dir / "downloads"):
        path.mkdir(exist_ok=True)
        if who.uid is not None:
            os.chown(path, who.uid, who.uid)
    return work


def _prepare(out: Path, spec: Spec, newest: str, index: NpmIndex | PythonIndex) -> list[str]:
    if isinstance(index, NpmIndex):
        manifest = {"name": "layer", "private": True, "dependencies": {spec.name: newest}}
        _give(out / "package.json", json.dumps(manifest))
        scopes = "".join(f"{json.dumps(scope)} = {json.dumps(url)}\n" for scope, url in index.scopes)
        _give(out / "bunfig.toml", f"[install]\nregistry = {json.dumps(index.url)}\n[install.scopes]\n{scopes}")
        return ["/opt/tools/bun", "install", "--ignore-scripts", "--no-progress", "--backend=copyfile"]
    wanted = f"{spec.name}{spec.extras}{f'=={spec.version}' if spec.version else ''}"
    extra = [option for url in index.extra for option in ("--index", url)]
    return [
        "/opt/tools/uv", "pip", "install", "--no-config", "--only-binary", ":all:", "--python", "/usr/bin/python3",
        "--no-python-downloads", "--target", "/app", "--link-mode", "copy", "--compile-bytecode", "--no-progress",
        "--refresh-package", spec.name,
        "--color", "never", "--default-index", index.url, *extra, "--", wanted,
    ]  # fmt: skip


def _give(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o644)


def _receive(channel: socket.socket) -> socket.socket | None:
    channel.settimeout(10.0)
    try:
        _, handles, _, _ = socket.recv_fds(channel, 1, 1)
    except OSError:
        return None
    return socket.socket(fileno=handles[0]) if handles else None


def _npm_result(tree: Path, spec: Spec) -> tuple[str, list[str], dict[str, list[str]]] | None:
    version = entrypoints.read_json(tree / "node_modules" / spec.name / "package.json").get("version")
    lock = tree / "bun.lock"
    if not isinstance(version, str) or not lock.is_file():
        return None
    resolved = layers.npm_lock(lock.read_bytes())
    for name in ("bunfig.toml", "package.json", "bun.lock"):  # they name the index
        (tree / name).unlink(missing_ok=True)
    return version, resolved, entrypoints.npm_commands(tree, spec.name)


def _pypi_result(tree: Path, spec: Spec) -> tuple[str, list[str], dict[str, list[str]]] | None:
    info = entrypoints.dist_info(tree, spec.name)
    if info is None:
        return None
    version = info.name.removesuffix(".dist-info").rsplit("-", 1)[1]
    return version, layers.pypi_lock(tree), entrypoints.pypi_commands(tree, spec.name)


def _scripts(tree: Path) -> list[str]:
    """The packages whose install scripts were not run."""
    found = set()
    for manifest in tree.glob("node_modules/**/package.json"):
        if manifest.parent.parent.name != "node_modules" and manifest.parent.parent.parent.name != "node_modules":
            continue
        table = entrypoints.read_json(manifest)
        scripts = table.get("scripts")
        named = isinstance(scripts, dict) and bool({"preinstall", "install", "postinstall"} & scripts.keys())
        if named or (manifest.parent / "binding.gyp").is_file():
            found.add(str(table.get("name") or manifest.parent.name))
    return sorted(found)


def _engines(tree: Path, spec: Spec) -> str | None:
    if spec.ecosystem is not TargetType.NPM:
        return None
    engines = entrypoints.read_json(tree / "node_modules" / spec.name / "package.json").get("engines")
    node = engines.get("node") if isinstance(engines, dict) else None
    return node if isinstance(node, str) else None
