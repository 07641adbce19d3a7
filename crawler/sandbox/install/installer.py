"""Installs a package in a box whose only network access is the relay; no code of the package runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import Bind, Box
from crawler.sandbox.boxes.egress_relay import AllowedEndpoints, EgressRelay
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.boxes.relay_listener import PROXY_ENVIRONMENT, listen_before, receive_listener
from crawler.sandbox.failure_messages import describe_install_failure, stabilise_line
from crawler.sandbox.install import byte_code
from crawler.sandbox.install.downloads import describe_downloads
from crawler.sandbox.install.install_result import read_installed_top
from crawler.sandbox.kernel.limits import INSTALL, MIB, Limits
from crawler.sandbox.kernel.user_ids import Identity, hold_lock, installer_identity
from crawler.sandbox.layers import layers, trees
from crawler.sandbox.layers.eviction import LOCK
from crawler.sandbox.package_spec import PackageSpec, compute_cutoff
from crawler.sandbox.toolchain.index_credentials import IndexCredentials
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex
from crawler.sandbox.toolchain.rootfs import Rootfs
from evidence.model import Absent, Reason

if TYPE_CHECKING:
    from crawler.sandbox.boxes.private_indexes import PrivateIndexes

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
_PYTHON = "/usr/bin/python3"
POLL = 0.25
POLL_PAUSE = 2.0
"""Seconds after which the written files are measured even if the free disk space did not shrink."""
MAX_OUTPUT = 4000
_FULL = "little that is left of our disk"
_DOWNLOADS = ".hallmark-downloads"
"""In the tree until that is settled, since only files of one mount can be linked. Copies would take twice as many new
files, for each of which ext4 examines the recently deleted ones.
"""
# Messages of bun and uv about an index that is unavailable or refuses us.
_INDEX_UNAVAILABLE = re.compile(
    r"- (?:408|429|5\d\d)\b|server error \(5\d\d|Too Many Requests|ConnectionRefused|ConnectionClosed|ConnectionReset"
    r"|FailedToOpenSocket|Unable to connect|error sending request|connection (?:closed|reset)|timed out|Timeout\b"
)


class InstallCaps(Struct, frozen=True, kw_only=True):
    """Disk limits of one installation: `size` and `files` of the tree; `room` and `room_files` with all downloads.

    `disk_floor`: bytes that must stay free on the disk. Limits of the process are in Limits.
    """

    size: int = 1024 * MIB
    files: int = 100_000
    download: int = 512 * MIB
    room: int = 3072 * MIB
    room_files: int = 300_000
    disk_floor: int = 512 * MIB


class InstallResult(Struct, frozen=True, kw_only=True):
    """An installed layer, and the data of its package. `python`: the interpreter, empty for our own."""

    version: str
    layer: str
    commands: dict[str, list[str]]
    blocked_scripts: list[str]
    engines: str | None
    python: str = ""


class FileChanged(Exception):
    """A package in a file of this machine is not the one whose manifest was read."""


class Installer(Struct, frozen=True, kw_only=True):
    """Installs packages into `store` with the tools of `rootfs`. `bundle`: the certificate bundle.

    `on_phase` gets what an installation does, for the person who waits for it.
    """

    rootfs: Rootfs
    store: layers.Layers
    bundle: Path
    caps: InstallCaps = InstallCaps()
    limits: Limits = INSTALL
    on_phase: Callable[[str], None] | None = None

    async def install(
        self, spec: PackageSpec, newest: str, index: NpmIndex | PythonIndex, endpoints: AllowedEndpoints, now: datetime
    ) -> InstallResult | Absent:
        """Install `spec` as a new layer; Absent explains a failure. `newest`: the version of an unpinned request."""
        try:
            async with self._workshop() as work:
                command = await asyncio.to_thread(_prepare, work, spec, newest, index, now)
                output = await self._run(command, work, endpoints)
                if isinstance(output, Absent):
                    return output
                return await asyncio.to_thread(self._keep, work, spec, now)
        except FileChanged:
            return Absent(Reason.NOT_COLLECTED, "the file changed while it was scanned")
        except OSError as error:  # errors of the unpacked package are handled before: this is our own disk
            return Absent(Reason.NOT_COLLECTED, f"the cache of the sandbox cannot be written ({type(error).__name__})")

    @contextlib.asynccontextmanager
    async def _workshop(self) -> AsyncIterator[Path]:
        work = await asyncio.to_thread(_open_workshop, self.store.cache_dir, installer_identity())
        async with hold_lock(work / LOCK):
            try:
                yield work
            finally:
                await asyncio.to_thread(trees.remove_tree, work)

    async def _run(self, command: Sequence[str], work: Path, endpoints: AllowedEndpoints) -> str | Absent:
        ours, theirs = socket.socketpair()
        private = await asyncio.to_thread(self._open_private, endpoints.credentials, work)
        relay = EgressRelay(endpoints, cap=self.caps.download, private=private)
        with ours:
            with theirs:
                start = listen_before(theirs.fileno(), command)
                box = self._box(work, work / "bundle.pem" if private else self.bundle)
                process = await bubblewrap.start_in_box(box, start, installer_identity(), inherited=(theirs.fileno(),))
            try:
                if listener := await asyncio.to_thread(receive_listener, ours):
                    await relay.serve(listener)
                output = await self._read_output(process, work)
            finally:
                end = await process.stop()
                await relay.close()
        # An installation may end between two looks at the disk.
        if limit := process.stop_reason or await self._exceeded_limit(work):
            return _stopped(limit)
        if relay.received > self.caps.download:
            return Absent(Reason.TOO_LARGE, f"the package needs more than {self.caps.download // MIB} MiB of downloads")
        return output if end.code == 0 else _failed(output + end.stderr, relay)

    def _open_private(self, credentials: IndexCredentials, work: Path) -> PrivateIndexes | None:
        """The private indexes, with the certificates that the box trusts in a file; None if there are none."""
        if not credentials.entries:
            return None
        from crawler.sandbox.boxes.private_indexes import PrivateIndexes  # noqa: PLC0415  it imports cryptography

        private = PrivateIndexes(credentials, self.bundle)
        (work / "bundle.pem").write_bytes(private.trusted_by_box())
        (work / "bundle.pem").chmod(0o644)
        return private

    def _box(self, work: Path, bundle: Path) -> Box:
        environment = {
            **PROXY_ENVIRONMENT,
            **dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"), BUNDLE),
            "BUN_INSTALL_CACHE_DIR": f"/app/{_DOWNLOADS}/bun",
            "UV_CACHE_DIR": f"/app/{_DOWNLOADS}/uv",
            **dict.fromkeys(("PYTHONSAFEPATH", "PYTHONNOUSERSITE", "DO_NOT_TRACK"), "1"),
        }
        binds = (
            Bind(work / "out", "/app", writable=True),
            Bind(self.rootfs.tools, "/opt/tools"),
            Bind(bundle, BUNDLE),
        )
        return Box(root=self.rootfs.root, binds=binds, environment=environment, folder="/app", limits=self.limits)

    async def _read_output(self, process: ContainedProcess, work: Path) -> str:
        """Read the installer's output to its end, and stop it if it uses too much disk space."""
        tasks = [asyncio.create_task(self._guard(process, work))]
        if self.on_phase:
            tasks.append(asyncio.create_task(_follow_downloads(work / "out" / _DOWNLOADS, self.on_phase)))
        output = bytearray()
        try:
            await process.close_stdin()
            while data := await process.read(65536):
                output += data
                del output[:-MAX_OUTPUT]
        finally:
            for task in tasks:
                task.cancel()
        return output.decode("utf-8", "replace")

    async def _guard(self, process: ContainedProcess, work: Path) -> None:
        before, clock = os.statvfs(work), asyncio.get_running_loop().time
        soon = later = 0.0
        while True:
            now = os.statvfs(work)
            if now.f_bavail * now.f_frsize < self.caps.disk_floor:
                process.kill(_FULL)
            if (began := clock()) >= (soon if self._fills(before, now) else later):
                if limit := await self._exceeded_limit(work):
                    process.kill(limit)
                soon, later = clock() + min(POLL_PAUSE, 10 * (clock() - began)), clock() + POLL_PAUSE
            await asyncio.sleep(POLL)

    async def _exceeded_limit(self, work: Path) -> str:
        """The limit of disk space that tree and downloads exceed together; empty for none."""
        size, count = await asyncio.to_thread(trees.measure_usage, work, self.caps.room_files)
        if size > self.caps.room or count > self.caps.room_files:
            return f"size limit of {self.caps.room // MIB} MiB and {self.caps.room_files} files"
        return ""

    def _fills(self, before: os.statvfs_result, now: os.statvfs_result) -> bool:
        """Whether so much disk space was used that the installation may be the cause."""
        taken = (before.f_bavail - now.f_bavail) * now.f_frsize
        return taken > self.caps.size // 2 or before.f_favail - now.f_favail > self.caps.files

    def _keep(self, work: Path, spec: PackageSpec, now: datetime) -> InstallResult | Absent:
        tree = work / "out"
        trees.remove_tree(tree / _DOWNLOADS)
        try:
            size, count = trees.settle_tree(tree)
        except OSError as error:
            return Absent(Reason.INSTALL_FAILED, f"what the package unpacks to cannot be read ({type(error).__name__})")
        if size > self.caps.size or count > self.caps.files:
            most = f"{self.caps.size // MIB} MiB or {self.caps.files} files"
            return Absent(Reason.TOO_LARGE, f"the package unpacks to more than {most}")
        found = read_installed_top(tree, spec)
        if isinstance(found, Absent):
            return found
        return InstallResult(
            version=found.version,
            layer=self.store.adopt(tree, spec.ecosystem, found.lock, (size, count), now),
            commands=found.commands,
            blocked_scripts=found.blocked_scripts,
            engines=found.engines,
        )


async def _follow_downloads(downloads: Path, on_phase: Callable[[str], None]) -> None:
    while True:
        on_phase(await asyncio.to_thread(describe_downloads, downloads))
        await asyncio.sleep(POLL)


def _stopped(limit: str) -> Absent:
    """Why an installation was stopped: for a limit of the package, or for lack of our own disk space."""
    detail = f"the installation was stopped at the {limit}"
    if limit == _FULL:
        return Absent(Reason.NOT_COLLECTED, detail)
    if limit.startswith("time"):
        return Absent(Reason.TIMEOUT, detail)
    return Absent(Reason.TOO_LARGE if limit.startswith("size") else Reason.INSTALL_FAILED, detail)


def _failed(output: str, relay: EgressRelay) -> Absent:
    """Why an installer failed: from its output, unless the relay knows of a refused or unreachable host."""
    why = describe_install_failure(output)
    if why.reason is not Reason.INSTALL_FAILED:
        return why
    if relay.refused:
        hosts = ", ".join(sorted(set(relay.refused))[:3])
        return Absent(Reason.INSTALL_FAILED, f"it needs something that no package index holds: {stabilise_line(hosts)}")
    if relay.failed or _INDEX_UNAVAILABLE.search(output):
        return Absent(Reason.NOT_COLLECTED, "the package index could not be reached by the installer")
    return why


def _open_workshop(cache_dir: Path, identity: Identity) -> Path:
    cache_dir.joinpath("work").mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=cache_dir / "work"))
    for folder in (work / "out", work / "out" / _DOWNLOADS):
        folder.mkdir()
        if identity.uid is not None:
            os.chown(folder, identity.uid, identity.uid)
    return work


def _prepare(work: Path, spec: PackageSpec, newest: str, index: NpmIndex | PythonIndex, now: datetime) -> list[str]:
    out, place = work / "out", _copy_file(spec, work / "out" / _DOWNLOADS)
    cutoff = compute_cutoff(spec.as_of) if spec.as_of else None
    if isinstance(index, NpmIndex):
        manifest = {"name": "layer", "private": True, "dependencies": {spec.name: f"file:{place}" if place else newest}}
        _write_readable(out / "package.json", json.dumps(manifest))
        scopes = "".join(f"{json.dumps(scope)} = {json.dumps(url)}\n" for scope, url in index.scopes)
        _write_readable(
            out / "bunfig.toml", f"[install]\nregistry = {json.dumps(index.url)}\n[install.scopes]\n{scopes}"
        )
        age = [f"--minimum-release-age={int((now - cutoff).total_seconds())}"] if cutoff else []
        return ["/opt/tools/bun", "install", "--ignore-scripts", "--no-progress", "--backend=hardlink", *age]
    wanted = place or f"{spec.name}{spec.extras}{f'=={spec.version}' if spec.version else ''}"
    extra = [option for url in index.extra for option in ("--index", url)]
    before = ["--exclude-newer", cutoff.isoformat()] if cutoff else []
    return [
        _PYTHON, "-I", "-S", "-c", Path(byte_code.__file__).read_text("utf-8"), spec.name,
        "/opt/tools/uv", "pip", "install", "--no-config", "--only-binary", ":all:", "--python", _PYTHON,
        "--no-python-downloads", "--target", "/app", "--link-mode", "hardlink", "--no-progress",
        "--refresh-package", spec.name,
        "--color", "never", "--default-index", index.url, *extra, *before, "--", wanted, *spec.requirements,
    ]  # fmt: skip


def _copy_file(spec: PackageSpec, downloads: Path) -> str:
    """Copy the file of a package beside the downloads; its path in the box, empty for a package of an index."""
    if spec.file is None:
        return ""
    copy = downloads / spec.file.path.name
    shutil.copyfile(spec.file.path, copy)
    if trees.file_digest(copy).hex() != spec.file.digest:
        raise FileChanged
    copy.chmod(0o644)
    return f"/app/{_DOWNLOADS}/{copy.name}"


def _write_readable(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o644)
