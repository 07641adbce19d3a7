"""Packages of private indexes are installed with the user's credentials, which never enter the box."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import certifi
import httpx
import pytest

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.private_indexes import PrivateIndexes
from crawler.sandbox.install import installer
from crawler.sandbox.toolchain.index_credentials import IndexCredential, IndexCredentials
from crawler.sandbox.toolchain.index_queries import open_index_client
from crawler.sandbox.toolchain.package_indexes import Endpoint
from evidence.canonical import Json
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import greet, sandbox
from tests.crawler.sandbox.index_server import IndexServer
from tests.crawler.wire.certificates import Authority

SECRET = "t0psecret"
PAIR = base64.b64encode(f"me:{SECRET}".encode()).decode()
BASIC = f"Basic {PAIR}"
CORP = ("https", "corp.example", 443)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    (tmp_path / "authority").mkdir()
    return Authority(tmp_path / "authority")


@pytest.fixture(params=["https", "http"])
def index(request: pytest.FixtureRequest, authority: Authority) -> Iterator[IndexServer]:
    tls = authority.serving("localhost") if request.param == "https" else None
    with IndexServer(tls, BASIC) as server:
        server.add_npm("@corp/server", manifest={"dependencies": {"library": "1.0.0"}})
        server.add_npm("library")
        server.add_wheel("library")
        server.add_wheel("server", requires=("library",))
        yield server


def environ(index: IndexServer, home: Path, authority: Authority, *, known: bool = True) -> dict[str, str]:
    """A user whose npm and uv have the password in their configuration."""
    host = index.url.partition("://")[2]
    with_password = index.url.replace("://", f"://me:{SECRET}@") if known else index.url
    (home / ".npmrc").write_text(f"//{host}/npm/:_auth={PAIR}\n" if known else "")
    return {
        **index.environ(str(home)),
        "UV_DEFAULT_INDEX": f"{with_password}/simple/",
        "SSL_CERT_FILE": str(authority.file),
    }


@dataclass
class Boxes:
    """Everything that was given to the boxes of installations: command, environment and files."""

    seen: list[str]


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> Boxes:
    found, start = Boxes([]), bubblewrap.start_in_box

    async def spy(box: Any, command: Any, *given: Any, **others: Any) -> Any:
        files = [path for bind in box.binds for path in (bind.source, *bind.source.rglob("*")) if bind.source.is_dir()]
        texts = [
            path.read_bytes().decode("latin-1") for path in files if path.is_file() and path.stat().st_size < 1 << 20
        ]
        bundle = [bind.source.read_text() for bind in box.binds if bind.source.is_file()]
        found.seen += [repr(command), repr(box), *texts, *bundle]
        return await start(box, command, *given, **others)

    monkeypatch.setattr(installer.bubblewrap, "start_in_box", spy)
    return found


@pytest.mark.sandbox
@pytest.mark.parametrize("kind", [TargetType.NPM, TargetType.PYPI])
def test_a_package_of_a_private_index_starts_and_no_box_sees_the_password(
    cache: Path, index: IndexServer, authority: Authority, tmp_path: Path, boxes: Boxes, kind: TargetType
) -> None:
    name = "@corp/server" if kind is TargetType.NPM else "server"

    async def run() -> Json:
        box = await sandbox(cache, environ(index, tmp_path, authority))
        launched = await box.launch(Target(type=kind, identifier=name))
        assert not isinstance(launched, Absent), launched
        return await greet(launched)

    said = asyncio.run(run())
    assert isinstance(said, dict)
    assert said["name"] == name
    assert index.refused == []
    assert len(boxes.seen) > 3
    kept = [path for folder in ("index", "layers") for path in (cache / folder).rglob("*") if path.is_file()]
    texts = [*boxes.seen, *(path.read_bytes().decode("latin-1") for path in kept)]
    assert not [text[:200] for text in texts if SECRET in text or PAIR in text]


@pytest.mark.sandbox
def test_without_the_password_the_index_is_not_held_against_the_package(
    cache: Path, index: IndexServer, authority: Authority, tmp_path: Path
) -> None:
    async def run() -> object:
        box = await sandbox(cache, environ(index, tmp_path, authority, known=False))
        return await box.launch(Target(type=TargetType.PYPI, identifier="server"))

    assert asyncio.run(run()) == Absent(Reason.NOT_COLLECTED, "the package index answered HTTP 401")


def private(tmp_path: Path) -> PrivateIndexes:
    entries = (IndexCredential(CORP, "/npm/", BASIC), IndexCredential(CORP, "/npm/other/", "Bearer other"))
    return PrivateIndexes(IndexCredentials(entries), tmp_path)


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("/npm/x", BASIC),
        ("/npm", BASIC),
        ("/npm/other/x?y", "Bearer other"),
        ("/npmx", None),
        ("/", None),
    ],
)
def test_credentials_are_added_to_requests_below_their_path_only(tmp_path: Path, path: str, header: str | None) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: corp.example\r\nauthorization: Basic theirs\r\nAccept: x\r\n\r\n".encode()
    made = private(tmp_path).authorise(head, Endpoint(*CORP))
    assert made is not None
    added = f"Authorization: {header}\r\n" if header else ""
    assert (
        made.decode() == f"GET {path} HTTP/1.1\r\nHost: corp.example\r\nAccept: x\r\n{added}Connection: close\r\n\r\n"
    )


def test_a_redirect_takes_no_credentials_to_another_path_or_host(tmp_path: Path) -> None:
    moves = {"/npm/x": "https://corp.example/other/x", "/other/x": "https://evil.example/x"}
    seen: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((str(request.url), request.headers.get("Authorization")))
        moved = moves.get(request.url.path)
        return httpx.Response(302, headers={"Location": moved}) if moved else httpx.Response(200)

    async def ask() -> None:
        credentials = IndexCredentials((IndexCredential(CORP, "/npm/", "Bearer secret"),))
        async with open_index_client(Path(certifi.where()), credentials) as http:
            http._transport = httpx.MockTransport(answer)
            await http.get("https://corp.example/npm/x")

    asyncio.run(ask())
    assert seen == [
        ("https://corp.example/npm/x", "Bearer secret"),
        ("https://corp.example/other/x", None),
        ("https://evil.example/x", None),
    ]


@pytest.mark.parametrize(
    "head",
    [
        "POST /npm/x HTTP/1.1\r\nHost: corp.example",
        "PUT /npm/x HTTP/1.1\r\nHost: corp.example",
        "GET https://evil.example/npm/x HTTP/1.1\r\nHost: corp.example",
        "GET /npm/x HTTP/1.1\r\nHost: evil.example",
        "GET /npm/x HTTP/1.1\r\nHost: corp.example\r\nHost: evil.example",
        "GET /npm/x HTTP/1.1\r\nHost: corp.example:8443",
        "GET /npm/x HTTP/1.1\r\nAccept: x",
        "GET /npm/x HTTP/1.1\r\nHost: corp.example\r\nAccept: x\nHost: evil.example",
        "GET /npm/../other HTTP/1.1\r\nHost: corp.example",
        "GET /npm/%2E%2e/other HTTP/1.1\r\nHost: corp.example",
        "GET /npm/..%2fother HTTP/1.1\r\nHost: corp.example",
    ],
)
def test_a_request_that_changes_something_or_leads_elsewhere_is_not_passed_on(tmp_path: Path, head: str) -> None:
    assert private(tmp_path).authorise(f"{head}\r\n\r\n".encode(), Endpoint(*CORP)) is None
