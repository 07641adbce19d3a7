"""A tiny package index on loopback: npm's registry shape and the Python simple API, with packages made on the spot."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import unquote

NODE_SERVER = """#!/usr/bin/env node
process.stdin.once("data", (line) => {
  process.stdout.write(JSON.stringify({hello: process.argv.slice(2), name: "%s", you: String(line).trim()}) + "\\n");
});
"""
PYTHON_SERVER = """
import json, sys
import {imports}

def main():
    line = sys.stdin.readline().strip()
    print(json.dumps({{"hello": sys.argv[1:], "name": "{name}", "you": line}}), flush=True)
"""


class IndexServer:
    """Serves what was added; `asked` lists the paths of all requests, `hanging` gives paths no answer to the end."""

    def __init__(self, tls: ssl.SSLContext | None = None, header: str = "") -> None:
        """`header`: the Authorization without which it answers nothing; `refused` lists requests without it."""
        self.asked: list[str] = []
        self.refused: list[str] = []
        self._header = header
        self._scheme = "https" if tls else "http"
        self.npm: dict[str, dict[str, dict[str, object]]] = {}
        self.released: dict[str, dict[str, str]] = {}
        self.simple: dict[str, list[dict[str, object]]] = {}
        self.files: dict[str, bytes] = {}
        self.hanging: set[str] = set()
        self._over = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        host = "localhost" if self._scheme == "https" else "127.0.0.1"
        return f"{self._scheme}://{host}:{self._http.server_address[1]}"

    def environ(self, home: str) -> dict[str, str]:
        """The environment of a user whose tools are configured for this index."""
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "npm_config_registry": f"{self.url}/npm/",
            "UV_DEFAULT_INDEX": f"{self.url}/simple/",
            "PIP_CONFIG_FILE": os.devnull,  # no settings of this machine
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def add_npm(
        self,
        name: str,
        version: str = "1.0.0",
        *,
        manifest: Mapping[str, object] | None = None,
        files: Mapping[str, str] | None = None,
        released: str = "2024-01-01",
    ) -> None:
        """Publish an npm package; by default one with a server named like it."""
        self.released.setdefault(name, {})[version] = f"{released}T10:00:00.000Z"
        short = name.rsplit("/", 1)[-1]
        table = {"name": name, "version": version, "bin": {short: "server.js"}, **(manifest or {})}
        content = {"package.json": json.dumps(table), "server.js": NODE_SERVER % name, **(files or {})}
        tarball = make_tarball(content)
        path = f"/npm/{name}/-/{short}-{version}.tgz"
        self.files[path] = tarball
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        dist = {"tarball": self.url + path, "integrity": integrity, "shasum": hashlib.sha1(tarball).hexdigest()}
        self.npm.setdefault(name, {})[version] = {**table, "dist": dist}

    def add_wheel(
        self,
        name: str,
        version: str = "1.0",
        *,
        scripts: Mapping[str, str] | None = None,
        requires: tuple[str, ...] = (),
        python: str = ">=3.8",
        tag: str = "py3-none-any",
        files: Mapping[str, str] | None = None,
        yanked: bool = False,
        released: str = "2024-01-01",
    ) -> None:
        """Publish a wheel; by default one with a server named like it."""
        module = name.replace("-", "_")
        imports = ", ".join(["os", *(r.replace("-", "_") for r in requires)])
        content = {f"{module}/__init__.py": PYTHON_SERVER.format(name=name, imports=imports), **(files or {})}
        wheel = make_wheel(name, version, content, scripts or {name: f"{module}:main"}, requires, python, tag)
        self._add_file(name, f"{module}-{version}-{tag}.whl", wheel, python)
        self.simple[name][-1] |= {"yanked": yanked, "upload-time": f"{released}T10:00:00Z"}

    def add_sdist(self, name: str, version: str = "1.0") -> None:
        """Publish a source distribution only."""
        tarball = make_tarball({"setup.py": "raise SystemExit(3)"}, top=f"{name}-{version}")
        self._add_file(name, f"{name}-{version}.tar.gz", tarball, ">=3.8")

    def _add_file(self, name: str, filename: str, content: bytes, python: str) -> None:
        path = f"/files/{filename}"
        self.files[path] = content
        entry = {
            "filename": filename,
            "url": self.url + path,
            "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
            "requires-python": python,
            "yanked": False,
            "size": len(content),
        }
        self.simple.setdefault(name, []).append(entry)

    def answer(self, path: str) -> tuple[str, bytes] | None:
        """Content type and body for a path, None for 404."""
        if path in self.files:
            return "application/octet-stream", self.files[path]
        kind, _, rest = path.removeprefix("/").partition("/")
        if kind == "simple" and rest.rstrip("/") in self.simple:
            name = rest.rstrip("/")
            page = {"meta": {"api-version": "1.1"}, "name": name, "files": self.simple[name]}
            return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()
        if kind == "npm":
            return self._npm_answer(rest)
        return None

    def _npm_answer(self, rest: str) -> tuple[str, bytes] | None:
        if rest in self.npm:
            versions = self.npm[rest]
            page = {
                "name": rest,
                "dist-tags": {"latest": list(versions)[-1]},
                "versions": versions,
                "time": self.released.get(rest, {}),
            }
            return "application/json", json.dumps(page).encode()
        name, _, version = rest.rpartition("/")
        versions = self.npm.get(name, {})
        found = versions.get(list(versions)[-1] if version == "latest" and versions else version)
        return ("application/json", json.dumps(found).encode()) if found else None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        index = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = unquote(self.path.split("?", 1)[0])
                index.asked.append(path)
                if path in index.hanging:
                    index._over.wait()
                found = index.answer(path)
                kind, body = found or ("text/plain", b"not found")
                if index._header and self.headers.get("Authorization") != index._header:
                    index.refused.append(path)
                    self.send_response(401)
                else:
                    self.send_response(200 if found else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        return Handler


def make_tarball(content: Mapping[str, str], top: str = "package") -> bytes:
    """An npm tarball, the same bytes for the same content."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, text in sorted(content.items()):
            member = tarfile.TarInfo(f"{top}/{name}")
            data = text.encode()
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=0)


def make_wheel(
    name: str,
    version: str,
    content: Mapping[str, str],
    scripts: Mapping[str, str],
    requires: tuple[str, ...],
    python: str,
    tag: str,
) -> bytes:
    """A wheel with metadata, console scripts and RECORD."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Requires-Python: {python}"]
    files = dict(content)
    files[f"{info}/METADATA"] = "\n".join([*lines, *(f"Requires-Dist: {r}" for r in requires), ""])
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"
    files[f"{info}/entry_points.txt"] = "\n".join(
        ["[console_scripts]", *(f"{k} = {v}" for k, v in scripts.items()), ""]
    )
    rows = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text.encode())}")
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return raw.getvalue()
