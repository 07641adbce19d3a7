"""Builds the read-only root file system of the sandbox: Node, CPython, their libraries, and no file of the user.

`root/` is visible to every server, `tools/` (bun, uv) only to installations.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import certifi
from msgspec import Struct
from msgspec.structs import asdict

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers import trees
from crawler.sandbox.toolchain import bun, host, index_queries, node
from crawler.sandbox.toolchain.host import Interpreter
from crawler.sandbox.toolchain.node import NodeHome

FORMAT = 6  # part of the key; increment it when the built files change
PREFIX = Path("opt/python")
LEFT_OUT = {
    "__pycache__", "dist-packages", "ensurepip", "idlelib", "site-packages", "sitecustomize.py", "test", "tests",
    "tkinter", "turtledemo", "usercustomize.py", "EXTERNALLY-MANAGED", "lib-dynload",
}  # fmt: skip
LEFT_OUT_EXTENSIONS = ("_ctypes_test", "_test", "_tkinter", "_xxtest", "nis", "xxlimited")
# A layer's .pth files are used, as after an ordinary installation, but not while /app is writable: during an
# installation uv starts Python to compile the tree, and no code of a package may run there.
SITE = b"import os, site\n\nif os.path.isdir('/app') and not os.access('/app', os.W_OK):\n    site.addsitedir('/app')\n"
# Version 2 time zone file of UTC without transitions (RFC 8536).
UTC = b"TZif2" + bytes(15) + bytes(16) + b"\0\0\0\1\0\0\0\4" + bytes(6) + b"UTC\0"
UTC += b"TZif2" + bytes(15) + bytes(16) + b"\0\0\0\1\0\0\0\4" + bytes(6) + b"UTC\0\nUTC0\n"
OWN_FILES: Mapping[str, bytes] = {
    "etc/passwd": b"sandbox:x:1000:1000:sandbox:/tmp:/nonexistent\n",
    "etc/group": b"sandbox:x:1000:\n",
    "etc/hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
    "etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
    # Nothing listens there: lookups fail at once, and the monitor sees the names.
    "etc/resolv.conf": b"nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
    "etc/hostname": b"",  # Podman would create this, etc/mtab and run/.containerenv in our folder if they were missing
    "etc/localtime": UTC,
    "run/.containerenv": b"",
    "usr/share/zoneinfo/UTC": UTC,
}
# Servers that read it at start fail with an empty one; installations mount the user's bundle over it.
BUNDLE = "etc/ssl/certs/ca-certificates.crt"
OWN_FACTS = "rootfs.json"
# All folders that the sandbox creates in its cache; they may be deleted while no sandbox runs.
PARTS = ("downloads", "index", "layers", "locks", "rootfs", "seals", "slots", "tools", "uses", "work")
MOUNT_POINTS = ("app", "build", "cache", "dev", "opt/tools", "proc", "project", "run", "sys", "tmp")


class Rootfs(Struct, frozen=True):
    """A finished root file system. `key` names its inputs, `digest` its contents."""

    path: Path
    key: str
    digest: str
    python: str
    node: str
    bun: str
    uv: str
    size: int
    files: int

    @property
    def root(self) -> Path:
        """The folder that is mounted at `/`."""
        return self.path / "root"

    @property
    def tools(self) -> Path:
        """The folder with bun and uv, for installations."""
        return self.path / "tools"


class _Tools(Struct, frozen=True):
    """What is copied into a root file system, besides libraries."""

    python: Interpreter
    node: NodeHome
    bun: Path


async def build_rootfs(
    cache_dir: Path,
    progress: Callable[[str], None] = lambda _: None,
    *,
    environ: Mapping[str, str],
    python: Interpreter | None = None,
) -> Rootfs:
    """The root file system in the cache, built if it is missing; raises SandboxError if that fails.

    Its Python is `python`, by default our own.
    """
    python = python or host.find_own_interpreter()
    node_home = await node.provide_node(cache_dir, environ, progress)
    key = await asyncio.to_thread(compute_inputs_key, python, node_home)
    if found := load_rootfs(cache_dir, key):
        if await asyncio.to_thread(_is_intact, found):
            return found
        progress("the sandbox's files were changed; building them again")
        await asyncio.to_thread(trees.remove_tree, found.path)
    wanted = bun.find_bun_pin()
    kept = cache_dir / "tools" / f"bun-{wanted.integrity[7:23].replace('/', '_')}"
    if not kept.is_file():
        progress(f"fetching bun {wanted.version} from the npm index")
        index = await node.find_npm_index(cache_dir, environ, progress)
        async with index_queries.open_index_client(host.find_certificate_bundle(environ), index.credentials) as http:
            binary = await bun.fetch_bun(index, wanted, http)
        await asyncio.to_thread(_write_new, kept, binary, 0o755)
    progress(f"copying Python {python.version}, Node and the libraries they need")
    return await asyncio.to_thread(_build, cache_dir, key, _Tools(python, node_home, kept), progress)


def load_rootfs(cache_dir: Path, key: str) -> Rootfs | None:
    """The finished root file system for `key` from the cache, or None."""
    path = cache_dir / "rootfs" / key
    try:
        facts = json.loads((path / OWN_FACTS).read_text("utf-8"))
        return Rootfs(path=path, **facts)
    except (OSError, ValueError, TypeError):
        return None


def compute_inputs_key(python: Interpreter, node_home: NodeHome) -> str:
    """Digest of the inputs of the root file system: versions, and sizes and times of the host's files."""
    wanted = bun.find_bun_pin()
    marks: list[object] = [FORMAT, platform.machine(), python.release, list(platform.libc_ver())]
    marks += [node_home.version, host.installed_version("uv"), asdict(wanted)]
    marks.append(host.installed_version("certifi"))
    files = [python.binary, python.stdlib / "os.py", node_home.binary, host.find_uv_binary()]
    for path in [*files, *host.resolve_linked_libraries([python.binary, node_home.binary]).values()]:
        info = path.stat()
        marks.append([path.name, info.st_size, info.st_mtime_ns])
    return hashlib.sha256(json.dumps(marks).encode()).hexdigest()[:32]


def _build(cache_dir: Path, key: str, tools: _Tools, progress: Callable[[str], None]) -> Rootfs:
    parent = cache_dir / "rootfs"
    parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{key}-", dir=parent))
    try:
        _fill(work, tools)
        progress("compiling Python's standard library")
        _compile(work / "root", tools.python)
        _settle(work)
        facts = json.dumps(_facts(work, key, tools.python.release, tools.node.version), indent=1)
        _write_new(work / OWN_FACTS, facts.encode(), 0o644)
        work.chmod(0o755)
        _move_into_place(work, parent / key)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    found = load_rootfs(cache_dir, key)
    if found is None:
        raise SandboxError("the sandbox's file system was built but cannot be read back; is the cache writable?")
    return found


def _fill(work: Path, tools: _Tools) -> None:
    root, python = work / "root", tools.python
    uv = host.find_uv_binary()
    extensions = [e for e in sorted(python.extensions.glob("*.so")) if not e.name.startswith(LEFT_OUT_EXTENSIONS)]
    _copy(tools.node.binary, root / "usr/bin/node", 0o755)
    _copy(python.binary, root / PREFIX / "bin" / python.name, 0o755)
    stdlib = root / PREFIX / python.library_dir / python.name
    _copy_stdlib(python.stdlib, stdlib)
    for extension in extensions:
        _copy(extension, stdlib / "lib-dynload" / extension.name, 0o755)
    found = host.find_shared_libraries([python.binary, tools.node.binary, uv, tools.bun, *extensions])
    for name, path in sorted(found.items()):
        _copy(path, root / "usr/lib" / name, 0o755)
    for link, target in (("lib", "usr/lib"), ("lib64", "usr/lib"), ("usr/lib64", "lib")):
        (root / link).symlink_to(target)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/mtab").symlink_to("/proc/mounts")
    for name in ("python3", "python"):
        (root / "usr/bin" / name).symlink_to(f"/{PREFIX}/bin/{python.name}")
    (root / PREFIX / "bin/python3").symlink_to(python.name)
    _write_new(stdlib / "sitecustomize.py", SITE, 0o644)
    for name, content in OWN_FILES.items():
        _write_new(root / name, content, 0o644)
    _copy(Path(certifi.where()), root / BUNDLE, 0o644)
    for name in MOUNT_POINTS:
        (root / name).mkdir(parents=True, exist_ok=True)
    _copy(tools.bun, work / "tools/bun", 0o755)
    _copy(uv, work / "tools/uv", 0o755)


def _copy_stdlib(source: Path, target: Path) -> None:
    for folder, names, files in os.walk(source):
        names[:] = sorted(n for n in names if n not in LEFT_OUT and not n.startswith("config-"))
        for name in sorted(set(files) - LEFT_OUT):
            path = Path(folder) / name
            if path.is_file() and not name.endswith((".pyc", ".a", ".exe")):
                _copy(path, target / path.relative_to(source), 0o644)


def _compile(root: Path, python: Interpreter) -> None:
    """Byte-compile with hashes instead of times, so that the result depends on the sources only."""
    import_root = root / PREFIX
    command = [
        str(python.binary), "-I", "-S", "-m", "compileall", "-q", "-j", "2",
        "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/", str(import_root),
    ]  # fmt: skip
    subprocess.run(command, env={}, capture_output=True, check=False)  # noqa: S603


def _settle(work: Path) -> None:
    """Set fixed modes without write and setuid bits, independent of the umask."""
    for path in _list_paths(work):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if path.is_dir() else 0o555 if executable else 0o444)
    (work / "root/tmp").chmod(0o1777)  # an engine gives the memory file system there the mode of this folder


def _is_intact(found: Rootfs) -> bool:
    """Whether the files are unchanged since the build; they are hashed again if the stored stamp differs."""
    seal = found.path.with_name(f"{found.key}.seal")
    try:
        stamp = trees.metadata_digest(found.path)
        if seal.is_file() and seal.read_text("ascii") == stamp:
            with contextlib.suppress(PermissionError):
                os.utime(seal)  # the time of its last use, by which it is evicted
            return True
        if _facts(found.path, found.key, found.python, found.node)["digest"] != found.digest:
            return False
        _write_new(seal, stamp.encode(), 0o600)
    except (OSError, ValueError) as error:
        raise SandboxError(
            f"the sandbox's files cannot be read: {error}; hallmark sandbox clean removes them"
        ) from error
    return True


def _facts(work: Path, key: str, python: str, node_version: str) -> dict[str, object]:
    digest, size, count = hashlib.sha256(), 0, 0
    for path in sorted(_list_paths(work)):
        name = str(path.relative_to(work))
        if name == OWN_FACTS:
            continue
        if path.is_symlink():
            digest.update(f"{name} -> {path.readlink()}\n".encode())
        elif path.is_file():
            content = path.read_bytes()
            size, count = size + len(content), count + 1
            digest.update(f"{name} {path.stat().st_mode:o} {hashlib.sha256(content).hexdigest()}\n".encode())
    return {
        "key": key,
        "digest": digest.hexdigest(),
        "python": python,
        "node": node_version,
        "bun": bun.find_bun_pin().version,
        "uv": host.installed_version("uv"),
        "size": size,
        "files": count,
    }


def _list_paths(top: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(top):
        yield from (Path(folder) / name for name in (*names, *files))


def _move_into_place(work: Path, target: Path) -> None:
    try:
        work.rename(target)
    except OSError:  # another process has built the same tree
        if not (target / OWN_FACTS).is_file():
            raise


def _copy(source: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def _write_new(target: Path, content: bytes, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).chmod(mode)
    Path(name).replace(target)
