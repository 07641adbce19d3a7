"""The Docker catalogue as one file and as a repository, and YAML that wants to hurt."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from crawler.registries.docker import DockerCatalogue, NotYaml, parse_yaml
from crawler.registries.document_client import DocumentClient
from crawler.registries.registry import RegistryUnavailable
from evidence.model import ServerRef, Status, Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput

DIGEST = "sha256:" + "ab" * 32
CATALOGUE: dict[str, Any] = {
    "version": 3,
    "name": "docker-mcp",
    "registry": {
        "notes": {
            "title": "Notes",
            "type": "server",
            "image": f"mcp/notes@{DIGEST}",
            "source": "https://github.com/someone/notes/tree/0123abc",
            "upstream": "https://github.com/someone/notes",
            "command": ["--stdio"],
            "env": [{"name": "MODE", "value": "safe"}, {"name": "URL", "value": "{{notes.url}}"}],
            "secrets": [{"name": "notes.key", "env": "KEY", "example": "abc"}],
        },
        "docs": {
            "type": "remote",
            "remote": {
                "transport_type": "sse",
                "url": "https://docs.example.com/sse",
                "headers": {"X-Client": "catalogue", "Authorization": "Bearer ${TOKEN}"},
            },
        },
        "tenant": {"type": "remote", "remote": {"url": "https://{tenant}.example.com/mcp"}},
        "tools": {"type": "poci", "tools": []},
        "old": {"image": "mcp/old"},
        "bad-type": {"type": "plugin"},
        "bad-image": {"type": "server", "image": "UPPER CASE"},
        "no-image": {"type": "server"},
        "bad-url": {"type": "remote", "remote": {"url": "file:///etc/passwd"}},
        "bad\nname": {"type": "server", "image": "mcp/x"},
        "null": None,
    },
}


def walk(catalogue: DockerCatalogue) -> dict[str, ServerRef]:
    async def collect() -> list[ServerRef]:
        return [ref async for page in catalogue.walk() for ref in page.refs]

    return {ref.name: ref for ref in asyncio.run(collect())}


def of_file(path: Path, value: Any) -> dict[str, ServerRef]:
    file = path / "catalog.json"
    file.write_text(json.dumps(value, indent=1))
    return walk(DockerCatalogue(file))


def test_images_and_remotes_become_targets(tmp_path: Path) -> None:
    found = of_file(tmp_path, CATALOGUE)
    assert found["notes"].targets == (
        Target(
            type=TargetType.OCI,
            identifier="docker.io/mcp/notes",
            version=DIGEST,
            arguments=("--stdio",),
            environment=(("MODE", "safe"),),
            inputs=(
                PackageInput(place=InputPlace.ENVIRONMENT, name="KEY", hint="abc", secret=True),
                PackageInput(place=InputPlace.ENVIRONMENT, name="URL"),
            ),
        ),
    )
    assert (found["notes"].version, found["notes"].repository) == (DIGEST, "https://github.com/someone/notes")
    assert found["docs"].targets == (
        Target(type=TargetType.SSE, identifier="https://docs.example.com/sse", headers=(("X-Client", "catalogue"),)),
    )
    assert [found[name].targets for name in ("tenant", "tools")] == [(), ()]
    assert found["old"].targets[0].identifier == "docker.io/mcp/old"


def test_invalid_entries_are_recorded_with_the_reason(tmp_path: Path) -> None:
    found = of_file(tmp_path, CATALOGUE)
    errors = {ref.name: ref.error for ref in found.values() if ref.status is Status.INVALID}
    unnamed = [name for name in errors if name.startswith("unnamed-")]
    assert errors.pop(unnamed[0]) == 'name: expected a name, found "bad\\nname"'
    assert errors == {
        "bad-type": 'type: expected one of server, poci, remote, found "plugin"',
        "bad-image": "entry: expected an image reference",
        "no-image": "image: expected this member, found none",
        "bad-url": "entry: expected an http or https URL",
        "null": "entry: expected an object, found null",
    }


def test_an_entry_of_the_file_is_kept_as_received(tmp_path: Path) -> None:
    entry = of_file(tmp_path, CATALOGUE)["docs"].entry
    assert json.loads(entry) == CATALOGUE["registry"]["docs"]
    assert b"\n" in entry


def test_a_long_commit_is_no_version(tmp_path: Path) -> None:
    folder = tmp_path / "servers" / "notes"
    folder.mkdir(parents=True)
    for commit, version in (("a" * 255, "a" * 255), ("a" * 256, "1.2")):
        entry = {"name": "notes", "type": "server", "image": "mcp/notes:1.2", "source": {"commit": commit}}
        (folder / "server.yaml").write_text(json.dumps(entry), "utf-8")
        assert walk(DockerCatalogue(tmp_path))["notes"].version == version


def test_the_repository_layout_is_read(tmp_path: Path) -> None:
    def put(name: str, text: str) -> None:
        (tmp_path / "servers" / name).mkdir(parents=True)
        (tmp_path / "servers" / name / "server.yaml").write_text(text)

    put(
        "notes",
        "name: notes\nimage: mcp/notes\ntype: server\nsource:\n  project: https://github.com/someone/notes.git\n"
        "  commit: 0123abc\n  directory: src/notes\nrun:\n  command: [serve]\nabout: {added: 2026-01-02}\n",
    )
    put(
        "docs",
        "name: docs\ntype: remote\nremote:\n  transport_type: streamable-http\n  url: https://d.example.com/mcp\n",
    )
    put("broken", "name: [")
    put("bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n")
    found = walk(DockerCatalogue(tmp_path))
    notes = found["notes"]
    assert notes.targets == (Target(type=TargetType.OCI, identifier="docker.io/mcp/notes", arguments=("serve",)),)
    assert (notes.version, notes.repository) == ("0123abc", "https://github.com/someone/notes#src/notes")
    assert json.loads(notes.entry)["about"] == {"added": "2026-01-02"}
    assert found["docs"].targets[0].identifier == "https://d.example.com/mcp"
    assert found["broken"].status is found["bomb"].status is Status.INVALID
    assert found["bomb"].error == "entry: expected no aliases"


def test_links_out_of_the_repository_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "server.yaml").write_text("name: x\ntype: server\nimage: mcp/x\n")
    servers = tmp_path / "copy" / "servers"
    servers.mkdir(parents=True)
    (servers / "link").symlink_to(outside)
    with pytest.raises(RegistryUnavailable, match="1 to 20000 files"):
        walk(DockerCatalogue(tmp_path / "copy"))


def test_the_catalogue_is_fetched_from_its_address() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "https://catalogue.example/v3.json"
        return httpx.Response(200, json=CATALOGUE)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    fetcher = DocumentClient(client, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert len(walk(DockerCatalogue("https://catalogue.example/v3.json", fetcher=fetcher))) == len(
        CATALOGUE["registry"]
    )


@pytest.mark.parametrize("value", [{}, [], {"registry": []}, {"registry": 7}])
def test_what_is_no_catalogue_is_unavailable(tmp_path: Path, value: Any) -> None:
    with pytest.raises(RegistryUnavailable):
        of_file(tmp_path, value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"a: *b",
        b"a: &x 1\nb: *x",
        b"[" * 100 + b"]" * 100,
        b"a: !!python/object/apply:os.system ['true']",
        b"a: 1\n--- \nb: 2",
        b"\xff\xfe\xfd",
        b"a: \x00",
        b"? [1, 2]\n: x",
        b"a: " + b"x" * 300_000,
    ],
)
def test_yaml_that_is_not_plain_is_refused(text: bytes) -> None:
    with pytest.raises(NotYaml):
        parse_yaml(text)


@pytest.mark.parametrize("text", [b"a: .nan", b"1: 2\n1.5: x", b"a: 0o17", b"a: !!binary aGVsbG8=", b"a: !!set {x}"])
def test_yaml_that_json_cannot_hold_is_invalid_not_an_error(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "server.yaml").write_bytes(text)
    assert walk(DockerCatalogue(tmp_path))["x"].status is Status.INVALID
