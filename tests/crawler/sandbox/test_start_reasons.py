"""The recorded reason is the true one: packages of a local index, started in real boxes by a probe."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from crawler.collectors.protocol.session.dialogue import ProbeLimits
from crawler.sandbox import Limits
from crawler.sandbox.install.resolution_cache import REINSTALL_AFTER
from crawler.sandbox.kernel.limits import MIB
from evidence.kinds import listing as listing_kind
from evidence.kinds.listing import Listing
from evidence.model import Absent, Observed, Reason, Record, Target, TargetType
from tests.crawler.collectors.protocol.probing import collector, records_of
from tests.crawler.sandbox.driving import NOON, sandbox
from tests.crawler.sandbox.index_server import IndexServer

pytestmark = pytest.mark.sandbox

LISTENS = """
import socket, time

def main():
    door = socket.create_server(("127.0.0.1", 8123))
    time.sleep(300)
"""
HOARDS = """
import contextlib, socket, time

def main():
    with contextlib.suppress(OSError):
        socket.getaddrinfo("notes.example", 443)
    held = bytearray(120 << 20)
    time.sleep(300)
"""


PYTHON_ANSWERS = """
import json, sys
from notes_helper import listen

def main():
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            result = {"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}]}
            if asked["method"] == "initialize":
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                          "serverInfo": {"name": "notes", "version": "1"}}
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
NODE_ANSWERS = """#!/usr/bin/env node
require("notes-helper/listen.js");
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const asked = JSON.parse(line);
  if (asked.id === undefined) return;
  const opened = {protocolVersion: "2025-06-18", capabilities: {tools: {}}, serverInfo: {name: "notes", version: "1"}};
  const listed = {tools: [{name: "get_note", inputSchema: {type: "object"}}]};
  const result = asked.method === "initialize" ? opened : listed;
  console.log(JSON.stringify({jsonrpc: "2.0", id: asked.id, result}));
});
"""


def publish_broken_by_a_newer_dependency(index: IndexServer) -> None:
    """`notes` 1.0.0 of March 2025 starts with its dependency of then, and not with that of 2026."""
    helper = "notes-helper"
    index.add_wheel(helper, "1.0.0", files={"notes_helper/__init__.py": "listen = 1\n"}, released="2025-01-10")
    index.add_wheel(helper, "2.0.0", files={"notes_helper/__init__.py": ""}, released="2026-01-10")
    files = {"notes/__init__.py": PYTHON_ANSWERS}
    index.add_wheel("notes", "1.0.0", files=files, requires=(helper,), released="2025-03-05")
    index.add_npm(helper, "1.0.0", files={"listen.js": ""}, released="2025-01-10")
    index.add_npm(helper, "2.0.0", released="2026-01-10")
    manifest = {"dependencies": {helper: ">=1"}}
    index.add_npm("notes", "1.0.0", manifest=manifest, files={"server.js": NODE_ANSWERS}, released="2025-03-05")


def visit(cache: Path, index: IndexServer, home: Path, target: Target, **options: object) -> Record:
    async def run() -> Record:
        launcher = await sandbox(cache, index.environ(str(home)), **options)
        patient = collector(launcher=launcher, limits=ProbeLimits(stdio_answer=2.0))
        return (await records_of(patient, target))[listing_kind.KIND]

    return asyncio.run(run())


def pypi(name: str, version: str | None = None) -> Target:
    return Target(type=TargetType.PYPI, identifier=name, version=version)


def test_a_package_that_listens_on_a_port_is_said_to(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("notes", files={"notes/__init__.py": LISTENS})
    found = visit(cache, index, tmp_path, pypi("notes")).content
    words = "it listens on port 8123 instead of stdio, and speaks no MCP there"
    assert found == Absent(Reason.TRANSPORT_UNSUPPORTED, words)


def test_a_package_that_fails_on_our_node_and_asks_for_another_one_says_which(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    manifest = {"engines": {"node": ">=18 <20"}}
    index.add_npm("notes", manifest=manifest, files={"server.js": "throw new Error('this Node is too new')"})
    found = visit(cache, index, tmp_path, Target(type=TargetType.NPM, identifier="notes")).content
    assert isinstance(found, Absent)
    assert found.reason is Reason.START_FAILED
    words = r"exit code 1: it asks for Node >=18 <20, and there is 2\d\.\d+\.\d+: Error: this Node is too new"
    assert re.search(words, found.detail), found.detail


def test_a_package_that_takes_too_much_memory_is_not_cut_off(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("notes", files={"notes/__init__.py": HOARDS})
    found = visit(cache, index, tmp_path, pypi("notes"), limits=Limits(memory=80 * MIB)).content
    assert found == Absent(Reason.SANDBOX_RESTRICTED, "the sandbox stopped it at the memory limit of 80 MiB")


@pytest.mark.parametrize("kind", [TargetType.NPM, TargetType.PYPI])
def test_a_package_that_a_newer_dependency_breaks_starts_with_those_of_its_release(
    cache: Path, index: IndexServer, tmp_path: Path, kind: TargetType
) -> None:
    publish_broken_by_a_newer_dependency(index)
    found = visit(cache, index, tmp_path, Target(type=kind, identifier="notes", version="1.0.0")).content
    assert isinstance(found, Observed), found
    listed = Listing.parse(found.body)
    assert [tool.name for tool in listed.tools.items] == ["get_note"]
    assert listed.installed == {"version": "1.0.0", "dependenciesOf": "2025-03-05"}


def test_the_dependencies_are_those_of_the_release_of_the_version_that_was_installed(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    publish_broken_by_a_newer_dependency(index)
    index.add_wheel("notes", "2.0.0", requires=("in-no-index",), released="2026-03-05")
    found = visit(cache, index, tmp_path, pypi("notes")).content
    assert isinstance(found, Observed), found
    assert Listing.parse(found.body).installed == {"version": "1.0.0", "dependenciesOf": "2025-03-05"}


def test_settings_that_the_older_dependencies_get_to_ask_for_are_given(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    helper, demand = "notes-helper", "import os\nlisten = int(os.environ['NOTES_PORT'])\n"
    index.add_wheel(helper, "1.0.0", files={"notes_helper/__init__.py": demand}, released="2025-01-10")
    index.add_wheel(helper, "2.0.0", files={"notes_helper/__init__.py": ""}, released="2026-01-10")
    files = {"notes/__init__.py": PYTHON_ANSWERS}
    index.add_wheel("notes", "1.0.0", files=files, requires=(helper,), released="2025-03-05")
    index.add_wheel("notes", "2.0.0", requires=("in-no-index",), released="2026-03-05")
    for now in (NOON, NOON + REINSTALL_AFTER):  # then what was installed at first is forgotten between two starts
        found = visit(cache, index, tmp_path, pypi("notes"), now=lambda now=now: now)  # type: ignore[misc]
        assert isinstance(found.content, Observed), found.content
        assert Listing.parse(found.content.body).installed == {"version": "1.0.0", "dependenciesOf": "2025-03-05"}
        assert "NOTES_PORT" in str(found.observation["placeholders"])


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        (TargetType.NPM, "1.0.0"),
        (TargetType.PYPI, None),
        pytest.param(TargetType.NPM, None, marks=pytest.mark.soak),
        pytest.param(TargetType.PYPI, "1.0.0", marks=pytest.mark.soak),
    ],
)
def test_a_package_whose_dependency_was_repaired_is_measured_with_those_of_today(
    cache: Path, index: IndexServer, tmp_path: Path, kind: TargetType, version: str | None
) -> None:
    publish_broken_by_a_newer_dependency(index)
    target = Target(type=kind, identifier="notes", version=version)
    visit(cache, index, tmp_path, target)
    index.add_wheel("notes-helper", "2.0.1", files={"notes_helper/__init__.py": "listen = 1\n"})
    index.add_npm("notes-helper", "2.0.1", files={"listen.js": ""})
    later = NOON + REINSTALL_AFTER
    found = visit(cache, index, tmp_path, target, now=lambda: later).content
    assert isinstance(found, Observed), found
    assert Listing.parse(found.body).installed == {}


def test_a_package_that_fails_with_all_dependencies_fails_with_those_of_today(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    index.add_wheel("notes", files={"notes/__init__.py": "from nowhere import gone\n"})
    found = visit(cache, index, tmp_path, pypi("notes")).content
    assert isinstance(found, Absent)
    assert (found.reason, "No module named 'nowhere'" in found.detail) == (Reason.START_FAILED, True)


def test_a_listing_of_the_newest_version_names_the_declared_one(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    index.add_npm("notes-helper", files={"listen.js": ""})
    manifest = {"dependencies": {"notes-helper": ">=1"}}
    index.add_npm("notes", "1.2.0", manifest=manifest, files={"server.js": NODE_ANSWERS})
    found = visit(cache, index, tmp_path, Target(type=TargetType.NPM, identifier="notes", version="9.9.9")).content
    assert isinstance(found, Observed), found
    assert Listing.parse(found.body).installed == {"version": "1.2.0", "declared": "9.9.9"}


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("throw new Error('no disk')", Reason.START_FAILED),
        (
            "console.error('Error: NOTES_API_KEY environment variable is required'); process.exit(1)",
            Reason.CREDENTIALS_REQUIRED,
        ),
    ],
)
def test_a_reason_of_the_newest_version_names_the_declared_one(
    cache: Path, index: IndexServer, tmp_path: Path, server: str, reason: Reason
) -> None:
    index.add_npm("notes", "1.2.0", files={"server.js": f"#!/usr/bin/env node\n{server}\n"})
    found = visit(cache, index, tmp_path, Target(type=TargetType.NPM, identifier="notes", version="9.9.9")).content
    assert isinstance(found, Absent)
    assert found.reason is reason
    assert found.detail.startswith("the index has no version 9.9.9; of 1.2.0: ")
    assert found.detail.count("the index has no version") == 1
