"""Servers of every provenance, and the local worlds that tell of them: what a night of this installation meets."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.functional.further.projects import abandoned, archive, well_kept
from tests.functional.processes import CLOCK
from tests.servers.conforming import Upright
from tests.servers.github.server import Local, serve
from tests.servers.github.world import Account, Commit, Discussion, Said, World
from tests.servers.github.world import Repository as Held
from tests.servers.hostile import Behaviour, serving
from tests.servers.indexes import PackageIndex, file, packument, project_json
from tests.servers.osv.records import CRITICAL, MEDIUM, advisory, fixed_in
from tests.servers.osv.serving import running as osv_running
from tests.servers.osv.world import OsvWorld

OURS = "the-token-of-this-installation"
NPM_FILE = "/files/notes-1.0.0.tgz"
PYPI_FILE = "/files/noted-2.0.tar.gz"
NPM_DOCUMENT = "/npm/@example/notes"

KEPT, ABANDONED, GONE = "example/kept", "example/left", "example/gone"


@dataclass
class Town:
    """The worlds, which a test may change between two nights, and the addresses that settings need."""

    folder: Path
    mcp: str
    github: Local
    index: PackageIndex
    osv: OsvWorld
    osv_url: str

    @property
    def registry(self) -> Path:
        """The folder of server.json documents."""
        return self.folder / "registry"

    @property
    def settings(self) -> dict[str, str]:
        """What an operator would set."""
        return {
            "HALLMARK_REGISTRIES": json.dumps([str(self.registry)]),
            "HALLMARK_SOURCES": json.dumps(["package", "repository", "source", "advisories"]),
            "HALLMARK_GITHUB_API": self.github.api,
            "HALLMARK_GITHUB_TOKENS": OURS,
            "HALLMARK_OSV_EXPORT": self.osv_url,
            "HALLMARK_OSV_API": self.osv_url,
            "HALLMARK_ECOSYSTEMS": json.dumps(["npm", "PyPI"]),
            "npm_config_registry": f"{self.index.url}/npm/",
            "UV_DEFAULT_INDEX": f"{self.index.url}/simple/",
            "PIP_INDEX_URL": f"{self.index.url}/simple/",
        }

    def register(self, name: str, *, remote: bool = True, repository: str | None = None, **members: Any) -> None:
        """Write the server.json of one more server."""
        document: dict[str, Any] = {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": f"io.example/{name}",
            "description": "Keeps notes.",
            "version": "1.0.0",
            **members,
        }
        if remote:
            document["remotes"] = [{"type": "streamable-http", "url": self.mcp.replace("/mcp", f"/{name}/mcp")}]
        if repository:
            host = "gitlab" if "gitlab" in repository else "github"
            document["repository"] = {"url": repository, "source": host}
        self.registry.mkdir(exist_ok=True)
        (self.registry / f"{name}.json").write_text(json.dumps(document))

    def mend(self) -> None:
        """Everything is as it was in the beginning, and nothing fails."""
        world = self.github.world
        world.faults.clear()
        world.refused.clear()
        world.quotas.clear()
        world.repositories.clear()
        self.index.forget()
        self.osv.faults.clear()
        self.osv.batches.clear()
        _furnish(self)

    def downloads(self) -> list[str]:
        """Paths of the archives that were sent so far."""
        sent = [one.path for one in self.github.world.asked if one.path.startswith("/_archive/")]
        return sent + [path for path in self.index.paths if path.endswith((".tgz", ".tar.gz"))]


@contextmanager
def town(folder: Path) -> Iterator[Town]:
    """All of it, in threads of this process."""
    world, osv = World(clock=datetime.fromisoformat(CLOCK).timestamp), OsvWorld()
    with ExitStack() as stack:
        built = Town(
            folder=folder,
            mcp=stack.enter_context(_mcp(Upright())),
            github=stack.enter_context(serve(world)),
            index=stack.enter_context(PackageIndex()),
            osv=osv,
            osv_url=stack.enter_context(osv_running(osv)),
        )
        _furnish(built)
        yield built


def npm_package(kind: str, identifier: str, version: str) -> dict[str, Any]:
    """A package of a server.json document."""
    return {"registryType": kind, "identifier": identifier, "version": version, "transport": {"type": "stdio"}}


def publish_npm(index: PackageIndex, name: str, version: str, content: bytes) -> None:
    """Put a package and its archive into the npm index."""
    document = packument(name, version)
    table = document["versions"][version]
    where = f"/files/{name.rpartition('/')[2]}-{version}.tgz"
    table["dist"] |= {"tarball": f"{index.url}{where}", "shasum": hashlib.sha1(content).hexdigest()}
    del table["dist"]["integrity"]
    index.npm[name] = document
    index.files[where] = content


def publish_python(index: PackageIndex, name: str, version: str, content: bytes) -> None:
    """Put a project and its source distribution into the Python index."""
    filename = f"{name}-{version}.tar.gz"
    digest = {"sha256": hashlib.sha256(content).hexdigest()}
    index.add_project(name, file(filename, hashes=digest, size=len(content)))
    index.projects[name] = project_json(name, version)
    index.files[f"/files/{filename}"] = content


def kept(name: str = KEPT, project: Mapping[str, str] | None = None) -> Held:
    """An active repository whose issues get answers."""
    ann, bob = _accounts()
    return Held(
        name,
        archive=archive(project or well_kept()),
        commits=[Commit(f"2026-11-{day:02}T09:00:00Z", "Ann", ann) for day in range(20, 8, -1)]
        + [Commit(f"2026-10-{day:02}T09:00:00Z", "Bob", bob) for day in range(20, 8, -1)],
        contributors=[{"login": "ann", "type": "User", "contributions": 30}, {"login": "bob", "contributions": 28}],
        pushed="2026-11-20T09:00:00Z",
        releases=[("v1.0.0", "2026-11-01T00:00:00Z"), ("v0.9.0", "2026-09-01T00:00:00Z")],
        issues=[_answered(f"2026-10-{day:02}") for day in range(1, 9)],
        pulls=[_answered(f"2026-09-{day:02}", merged=True) for day in range(1, 5)],
        files=["README.md", "LICENSE", "SECURITY.md", "CHANGELOG.md", ".github/workflows/test.yml"],
        health=100,
        security_policy=True,
        verified=True,
    )


def left(name: str = ABANDONED, project: Mapping[str, str] | None = None) -> Held:
    """A repository without commits for years, archived by its owner."""
    return Held(
        name,
        archive=archive(project or abandoned()),
        archived=True,
        created="2022-01-01T00:00:00Z",
        pushed="2023-02-01T00:00:00Z",
        commits=[Commit("2023-02-01T00:00:00Z", "Cid")],
        licence=None,
        files=["README.md"],
        releases=[("v0.1.0", "2022-02-01T00:00:00Z")],
        issues=[Discussion(f"2026-01-{day:02}T00:00:00Z", _accounts()[1]) for day in range(1, 9)],
        health=14,
        verified=False,
        website=None,
        owner_type="User",
    )


@dataclass
class Pushed(Held):
    """A repository with another head: its archive is another one, whatever was read before."""

    pushed_head: str = "ab" * 20

    @property
    def head(self) -> str | None:
        return self.pushed_head


def push(around: Town, name: str, content: bytes | None) -> None:
    """Push something to a repository: its archive is new."""
    held = around.github.world.repositories[name]
    known = {member.name: getattr(held, member.name) for member in fields(Held)}
    around.github.world.add(Pushed(**known | {"archive": content, "pushed": "2026-11-21T08:00:00Z"}))


def _furnish(one: Town) -> None:
    one.github.world.add(kept(), left())
    publish_npm(one.index, "@example/notes", "1.0.0", archive(well_kept()))
    publish_python(one.index, "noted", "2.0", archive({**well_kept(), "PKG-INFO": "Name: noted\nVersion: 2.0\n"}))
    one.osv.add(
        advisory("GHSA-1111-1111-1111", fixed_in("npm", "steady", "1.5.0"), aliases=["CVE-2026-0001"],
                 severity=[{"type": "CVSS_V3", "score": CRITICAL}]),
        advisory("GHSA-2222-2222-2222", fixed_in("npm", "shaky", "0.2.0"),
                 severity=[{"type": "CVSS_V3", "score": MEDIUM}]),
        advisory("PYSEC-2026-1", fixed_in("PyPI", "elsewhere", "1.0")),
    )  # fmt: skip
    one.register("kept", repository=f"https://github.com/{KEPT}")
    one.register("left", repository=f"https://github.com/{ABANDONED}")
    one.register("gone", repository=f"https://github.com/{GONE}")
    one.register("bare")
    one.register("npm", remote=False, packages=[npm_package("npm", "@example/notes", "1.0.0")])
    one.register(
        "python",
        remote=False,
        repository="https://gitlab.com/example/noted",
        packages=[npm_package("pypi", "noted", "2.0")],
    )


def _answered(day: str, *, merged: bool = False) -> Discussion:
    ann, bob = _accounts()
    done = f"{day}T20:00:00Z"
    said = [Said(f"{day}T12:00:00Z", ann, "OWNER")]
    return Discussion(
        f"{day}T10:00:00Z",
        bob,
        comments=said,
        closed=done,
        merged=done if merged else None,
        merged_by=ann if merged else None,
    )


def _accounts() -> tuple[Account, Account]:
    return Account("ann"), Account("bob")


@contextmanager
def _mcp(behaviour: Behaviour) -> Iterator[str]:
    """An MCP server that answers at every path, in a thread of this process; yields the address of its `/mcp`."""
    started, stop = threading.Event(), asyncio.Event()
    state: dict[str, Any] = {}

    async def main() -> None:
        async with serving(behaviour) as url:
            state.update(loop=asyncio.get_running_loop(), url=url)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    if not started.wait(300):
        raise RuntimeError("the MCP server did not start within 300 s")
    try:
        yield state["url"]
    finally:
        state["loop"].call_soon_threadsafe(stop.set)
        thread.join(10)
