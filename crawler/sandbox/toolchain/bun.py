"""Downloads bun, an installer for npm packages: a pinned version with a pinned digest."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import platform
import tarfile
from importlib import resources
from pathlib import Path

import httpx
from msgspec import Struct

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain import index_queries
from crawler.sandbox.toolchain.package_indexes import NpmIndex
from evidence.model import Absent

MEMBER = "package/bin/bun"


class BunPin(Struct, frozen=True):
    """The npm package with bun for a machine, and the required digest of its tarball."""

    name: str
    version: str
    integrity: str


def find_bun_pin(machine: str | None = None, libc: str | None = None, *, avx2: bool | None = None) -> BunPin:
    """The pinned package for this machine, or for the given machine, C library and CPU level."""
    machine = machine or platform.machine()
    libc = libc or ("glibc" if platform.libc_ver()[0] == "glibc" else "musl")
    avx2 = _has_avx2() if avx2 is None else avx2
    level = "-avx2" if machine == "x86_64" and avx2 else ""
    table = json.loads(resources.files(__package__).joinpath("bun.json").read_text("utf-8"))
    found = table["packages"].get(f"linux-{machine}{level}-{libc}")
    if found is None:
        raise SandboxError(f"bun has no pinned build for {machine} with {libc}")
    return BunPin(found["name"], table["version"], found["integrity"])


async def fetch_bun(index: NpmIndex, wanted: BunPin, http: httpx.AsyncClient) -> bytes:
    """Download bun's binary from the user's npm index; raises SandboxError unless the tarball is the pinned one."""
    answer = await index_queries.query_npm_index(index, wanted.name, wanted.version, http)
    if isinstance(answer, Absent) or answer.tarball is None:
        why = answer.detail if isinstance(answer, Absent) else "no tarball"
        raise SandboxError(f"bun ({wanted.name} {wanted.version}) is not to be had from the npm index: {why}")
    tarball = await index_queries.download_file(answer.tarball, http, what="bun")
    verify_tarball(tarball, wanted)
    return unpack_bun(tarball)


def verify_tarball(tarball: bytes, wanted: BunPin) -> None:
    """Raise SandboxError unless the tarball's SHA-512 is the pinned one."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    if found != wanted.integrity:
        raise SandboxError(f"{wanted.name} {wanted.version} is not the pinned one: {found}, not {wanted.integrity}")


def unpack_bun(tarball: bytes) -> bytes:
    """The binary inside bun's platform package."""
    try:
        with tarfile.open(fileobj=io.BytesIO(tarball), mode="r:gz") as archive:
            member = archive.extractfile(MEMBER)
            if member is not None:
                return member.read()
    except (tarfile.TarError, KeyError, OSError, EOFError) as error:
        raise SandboxError(f"bun's package cannot be read: {type(error).__name__}") from error
    raise SandboxError(f"bun's package has no file {MEMBER}")


def _has_avx2() -> bool:
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return False
