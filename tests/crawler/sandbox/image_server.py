"""A registry of images on loopback with one image in it: what engines ask for when they pull (OCI distribution 1.1)."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def digest(content: bytes) -> str:
    """The content's name."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class ImageServer:
    """Serves `example/server` as tag `1.0`, made of one layer with the files of `root`."""

    def __init__(self, root: Path, command: Sequence[str], config: Mapping[str, Any], machine: str) -> None:
        layer = _layer(root)
        made = {"Entrypoint": list(command), **config}
        image = {"architecture": machine, "os": "linux", "config": made}
        image["rootfs"] = {"type": "layers", "diff_ids": [digest(layer)]}
        self.config = json.dumps(image).encode()
        self.manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": _described("application/vnd.oci.image.config.v1+json", self.config),
                "layers": [_described("application/vnd.oci.image.layer.v1.tar", layer)],
            }
        ).encode()
        self.blobs = {digest(content): content for content in (layer, self.config)}
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            default_request_version = "HTTP/1.1"  # who tries TLS is answered in a way that clients understand

            def do_GET(self) -> None:
                server.asked.append(self.path)
                what = self.path.rsplit("/", 1)[-1]
                if self.path == "/v2/":
                    self._say(b"{}", "application/json")
                elif "/manifests/" in self.path and what in {"1.0", digest(server.manifest)}:
                    self._say(server.manifest, MANIFEST)
                elif what in server.blobs:
                    self._say(server.blobs[what], "application/octet-stream")
                else:
                    self._say(b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}', "application/json", 404)

            do_HEAD = do_GET

            def _say(self, content: bytes, kind: str, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Docker-Content-Digest", digest(content))
                self.send_header("Docker-Distribution-API-Version", "registry/2.0")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _described(kind: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": digest(content), "size": len(content)}


def _layer(root: Path) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.add(root, arcname=".")
    return made.getvalue()
