"""The server: npm below /npm/, the Python simple API below /simple/, its JSON below /pypi/; ETags; scripted answers."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from tests.servers.indexes.documents import shortened

SHORT = "application/vnd.npm.install-v1+json"
SIMPLE = "application/vnd.pypi.simple.v1+json"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it goes out. `hold` keeps the client waiting until the server stops."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    hold: bool = False

    @staticmethod
    def of(document: Any, media: str = "application/json") -> Answer:
        """A JSON document."""
        return Answer(200, json.dumps(document).encode(), {"Content-Type": media})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    path: str
    accept: str
    etag: str


class PackageIndex:
    """Serves what was put into `npm`, `attestations`, `simple`, `projects` and `files`.

    `script` puts answers for a path before that, one per request; the last one stays. `as_html` serves the simple API
    as HTML, `etags` whether answers have one.
    """

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self.forget()
        self._http = _Quiet(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def forget(self) -> None:
        """Be as new."""
        self._stopping.set()
        self._stopping = threading.Event()
        self.npm: dict[str, dict[str, Any]] = {}
        self.attestations: dict[str, dict[str, Any]] = {}
        self.simple: dict[str, dict[str, Any]] = {}
        self.projects: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.api = "1.3"
        self.as_html = False
        self.etags = True
        self.asked: list[Asked] = []
        self._scripted: dict[str, list[Answer]] = defaultdict(list)

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        """Paths of all requests, in order."""
        return [asked.path for asked in self.asked]

    def script(self, path: str, *answers: Answer) -> None:
        """Answer the next requests for a path so; the last one for ever."""
        self._scripted[path] = list(answers)

    def add_project(self, name: str, *files: Mapping[str, Any], **members: Any) -> None:
        """Put a project into the simple API."""
        self.simple[name] = {"files": list(files), **members}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, path: str, accept: str) -> Answer:
        """The answer to a GET."""
        if scripted := self._scripted.get(path):
            return scripted.pop(0) if len(scripted) > 1 else scripted[0]
        kind, _, rest = path.removeprefix("/").partition("/")
        if kind == "npm":
            return self._npm(rest, accept)
        if kind == "simple" and (name := rest.rstrip("/")) in self.simple:
            return self._simple(name)
        if kind == "pypi" and rest.removesuffix("/json") in self.projects:
            return Answer.of(self.projects[rest.removesuffix("/json")])
        if path in self.files:
            return Answer(200, self.files[path], {"Content-Type": "application/octet-stream"})
        return Answer(404, b'{"error":"Not found"}')

    def _npm(self, rest: str, accept: str) -> Answer:
        if rest.startswith("-/npm/v1/attestations/"):
            found = self.attestations.get(rest.removeprefix("-/npm/v1/attestations/"))
            return Answer.of(found) if found else Answer(404, b'{"error":"Not found"}')
        if rest in self.npm:
            short = SHORT in accept
            return Answer.of(shortened(self.npm[rest]), SHORT) if short else Answer.of(self.npm[rest])
        name, _, version = rest.rpartition("/")
        table = self.npm.get(name, {}).get("versions", {}).get(version)
        return Answer.of(table) if table else Answer(404, b'"Not Found"')

    def _simple(self, name: str) -> Answer:
        project = self.simple[name]
        if not self.as_html:
            known = {"meta": {"api-version": self.api}, "name": canonicalize_name(name)}
            return Answer.of({**known, **project}, SIMPLE)
        links = "".join(_anchor(entry) for entry in project["files"])
        head = f'<head><meta name="pypi:repository-version" content="{self.api}"></head>'
        page = f"<!DOCTYPE html><html>{head}<body><h1>{name}</h1>{links}</body></html>"
        return Answer(200, page.encode(), {"Content-Type": "text/html"})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        index = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = unquote(self.path)
                asked = Asked(path, self.headers.get("Accept", ""), self.headers.get("If-None-Match", ""))
                index.asked.append(asked)
                answer = index.answer(path, asked.accept)
                if answer.hold:
                    index._stopping.wait()
                    self.close_connection = True
                    return
                etag = f'W/"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
                same = index.etags and answer.status == 200 and asked.etag == etag
                self.send_response(304 if same else answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if index.etags and answer.status == 200:
                    self.send_header("ETag", etag)
                if not same:
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if not same:
                    self.wfile.write(answer.body)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        return Handler


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no error; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _anchor(entry: Mapping[str, Any]) -> str:
    digest = entry["hashes"]["sha256"]
    python = re.sub(">", "&gt;", entry["requires-python"])
    yanked = f' data-yanked="{entry["yanked"]}"' if entry["yanked"] else ""
    provenance = f' data-provenance="{entry["provenance"]}"' if entry["provenance"] else ""
    metadata = ' data-core-metadata="true"' if entry["core-metadata"] else ""
    attributes = f'data-requires-python="{python}"{yanked}{provenance}{metadata}'
    return f'<a href="{entry["url"]}#sha256={digest}" {attributes}>{entry["filename"]}</a><br/>\n'
