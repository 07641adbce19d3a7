"""Files of the host that the sandbox uses: shared libraries, Python interpreters, uv, certificates."""

from __future__ import annotations

import platform
import re
import shutil
import ssl
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

import certifi
from msgspec import Struct

from crawler.sandbox.errors import SandboxError

# Libraries of the host that manylinux wheels may need (PEP 600 policies), besides those of our own binaries.
EXPECTED_LIBRARIES = (
    "libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libutil.so.1", "libresolv.so.2",
    "libnss_files.so.2", "libnss_dns.so.2", "libanl.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libatomic.so.1",
    "libz.so.1", "libexpat.so.1", "libssl.so.3", "libcrypto.so.3", "libffi.so.8",
)  # fmt: skip
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_LDD_LINE = re.compile(r"^\s*(?:(?P<name>\S+) => )?(?P<path>/\S+) \(0x[0-9a-f]+\)$")


class Interpreter(Struct, frozen=True):
    """A CPython. `library_dir`: `lib` or `lib64`; `version`: `3.11`; `release`: `3.11.7`."""

    binary: Path
    stdlib: Path
    extensions: Path
    library_dir: str
    version: str
    release: str

    @property
    def name(self) -> str:
        """The name of the binary and of the library folder, such as `python3.11`."""
        return f"python{self.version}"


def find_own_interpreter() -> Interpreter:
    """The interpreter that runs Hallmark, outside of its virtual environment."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    stdlib = Path(sysconfig.get_path("stdlib", vars=names))
    extensions = Path(sysconfig.get_path("platstdlib", vars=names)) / "lib-dynload"
    binary = Path(sys.executable).resolve()
    return Interpreter(binary, stdlib, extensions, sys.platlibdir, version, platform.python_version())


def find_uv_binary() -> Path:
    """The uv binary of the `uv` wheel."""
    return find_installed_file("uv", "bin/uv")


def installed_version(distribution: str) -> str:
    """The version of a package in our own environment."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  takes 10 ms, and few commands need it

    try:
        return version(distribution)
    except PackageNotFoundError:
        raise SandboxError(f"the package {distribution} is not installed; install it next to hallmark") from None


def find_installed_file(distribution: str, suffix: str) -> Path:
    """The file of a package in our own environment. `suffix`: a path that needs no quotes in CSV."""
    from importlib.metadata import distribution as find_distribution  # noqa: PLC0415

    installed_version(distribution)
    found = find_distribution(distribution)
    # Node's package has thousands of files: `files` of the metadata would make a path of each.
    for line in (found.read_text("RECORD") or "").splitlines():
        name = line.partition(",")[0]
        if name.endswith(suffix) and (path := Path(str(found.locate_file(name)))).is_file():
            return path.resolve()
    raise SandboxError(f"the package {distribution} has no file {suffix}; reinstall it")


def find_shared_libraries(binaries: Iterable[Path]) -> dict[str, Path]:
    """The shared libraries of `binaries` and the expected ones by soname, with the dynamic loader."""
    found = resolve_linked_libraries(binaries)
    places = {path.parent for path in found.values()} | {path.resolve().parent for path in found.values()}
    for name in EXPECTED_LIBRARIES:
        candidate = next((place / name for place in sorted(places) if (place / name).is_file()), None)
        if name not in found and candidate:
            found[name] = candidate
            found = resolve_linked_libraries([candidate]) | found
    return found


def resolve_linked_libraries(binaries: Iterable[Path]) -> dict[str, Path]:
    """The libraries that `ldd` finds for our own, trusted binaries, by soname."""
    ldd = shutil.which("ldd")
    if ldd is None:
        raise SandboxError("ldd is missing; it belongs to the C library's tools (libc-bin or glibc-common)")
    # An empty environment, so that no LD_LIBRARY_PATH changes the result.
    command = [ldd, *map(str, binaries)]
    out = subprocess.run(command, env={}, capture_output=True, text=True, check=False).stdout  # noqa: S603
    found: dict[str, Path] = {}
    for line in out.splitlines():
        if match := _LDD_LINE.match(line):
            path = Path(match["path"])
            found.setdefault(Path(match["name"] or path.name).name, path)
    return found


def find_certificate_bundle(environ: Mapping[str, str]) -> Path:
    """The certificate bundle that the user's own tools trust: SSL_CERT_FILE, else the system's, else certifi's."""
    candidates = [environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *BUNDLES]
    for candidate in candidates:
        if candidate and Path(candidate).is_file():
            return Path(candidate).resolve()
    return Path(certifi.where())
