"""An index that refuses, breaks off, sends us round in circles, or leads elsewhere."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NoReturn

import pytest

from crawler.collectors.package import PackageCollector, PackageLimits
from crawler.collectors.package.index_client import IndexRetryPolicy
from crawler.collectors.package.indexes import IndexGuard
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.failures import BlockedAddress
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain import node
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.model import Absent, Reason, Server
from tests.crawler.collectors.package.local_indexes import NOON, Bench, absent, body, dossier, npm
from tests.servers.indexes import Answer, PackageIndex, packument


def away(location: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status, b"", {"Location": location})


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, Reason.FORBIDDEN),
        (403, Reason.FORBIDDEN),
        (408, Reason.TIMEOUT),
        (418, Reason.UNREACHABLE),
        (429, Reason.RATE_LIMITED),
        (502, Reason.UNREACHABLE),
        (300, Reason.UNREACHABLE),
        (204, Reason.UNREACHABLE),
    ],
)
def test_a_refusal_is_absent_with_its_reason(index: PackageIndex, bench: Bench, status: int, reason: Reason) -> None:
    index.script("/npm/one", Answer(status))
    assert absent(bench.look(npm())) == Absent(reason, f"the npm index answered HTTP {status}")


def test_what_may_pass_is_tried_again_with_growing_waits(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    index.script("/npm/one", Answer(503), Answer(500), Answer.of(index.npm["one"]))
    assert body(bench.look(npm()))["exists"] is True
    assert bench.slept == [1.0, 2.0]


def test_tries_are_few(index: PackageIndex, bench: Bench) -> None:
    index.script("/npm/one", Answer(503))
    absent(bench.look(npm()))
    assert (len(index.asked), bench.slept) == (3, [1.0, 2.0])


@pytest.mark.parametrize(
    ("wait", "slept"),
    [
        ("7", [7.0, 7.0]),
        ("16", []),
        ("Sun, 22 Nov 2026 12:00:09 GMT", [9.0, 9.0]),
        ("soon", [1.0, 2.0]),
        ("-5", [1.0, 2.0]),
    ],
)
def test_the_index_says_when_to_come_back(index: PackageIndex, bench: Bench, wait: str, slept: list[float]) -> None:
    index.script("/npm/one", Answer(429, b"", {"Retry-After": wait}))
    assert absent(bench.look(npm())).reason is Reason.RATE_LIMITED
    assert bench.slept == slept


def test_a_few_redirects_are_followed(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    index.script("/npm/one", away("/moved", 301))
    index.script("/moved", away(f"{index.url}/npm/two", 307))
    index.script("/npm/two", Answer.of(index.npm["one"]))
    assert body(bench.look(npm()))["name"] == "one"


def test_an_etag_is_not_shown_to_another_host(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    with PackageIndex() as other:
        other.npm["one"] = packument("one", "1.0.0", "2.0.0")
        index.script("/npm/one", away(f"{other.url}/npm/one"))
        bench.guard = AddressGuard(allow_private=True)
        assert body(bench.look(npm(), earlier=first))["latest"] == "2.0.0"
        assert [asked.etag for asked in other.asked] == [""]


def test_redirects_in_circles_end(index: PackageIndex, bench: Bench) -> None:
    index.script("/npm/one", away("/npm/one"))
    assert absent(bench.look(npm())) == Absent(Reason.UNREACHABLE, "the npm index redirects in circles")
    assert len(index.asked) == 4


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", Reason.UNREACHABLE),
        ("javascript:alert(1)", Reason.UNREACHABLE),
        ("http://[bad", Reason.UNREACHABLE),
        ("https://user:secret@127.0.0.1/x", Reason.UNREACHABLE),
        ("http://169.254.169.254/latest/meta-data", Reason.BLOCKED_ADDRESS),
        ("http://127.0.0.1:1/x", Reason.BLOCKED_ADDRESS),
    ],
)
def test_a_redirect_leads_to_nothing_that_the_guard_does_not_open(
    index: PackageIndex, bench: Bench, location: str, reason: Reason
) -> None:
    index.script("/npm/one", away(location))
    found = absent(bench.look(npm()))
    assert found.reason is reason
    assert "secret" not in found.detail


def test_an_index_that_never_answers_ends_in_time(index: PackageIndex, bench: Bench) -> None:
    index.script("/npm/one", Answer(hold=True))
    bench.limits = PackageLimits(seconds=0.2)
    assert absent(bench.look(npm())) == Absent(Reason.TIMEOUT, "the npm index took longer than 0.2 seconds")


def test_an_index_that_is_down_is_unreachable(index: PackageIndex, bench: Bench) -> None:
    bench.index = PackageIndex()
    gone = bench.index.url
    bench.index.__enter__()
    bench.index.__exit__(None, None, None)
    found = absent(bench.look(npm()))
    assert found == Absent(Reason.UNREACHABLE, "the npm index could not be read: connection refused")
    assert gone not in found.detail


def test_a_body_that_breaks_off_is_unreachable(index: PackageIndex, bench: Bench) -> None:
    index.script("/npm/one", Answer(200, b'{"name":', {"Content-Encoding": "gzip"}))
    assert absent(bench.look(npm())).reason is Reason.UNREACHABLE


def test_no_configured_index_is_absent(tmp_path: Path) -> None:
    engine = HttpEngine(user_agent="hallmark-test")
    indexes = ConfiguredIndexes(
        {"PATH": "/nonexistent", "npm_config_registry": "ftp://user:secret@127.0.0.1:1/"}, tmp_path
    )
    collector = PackageCollector(engine, indexes, lambda: NOON, retries=IndexRetryPolicy(attempts=1))
    server = Server(ref="test:1", name="1", targets=(npm(),))
    (record,) = asyncio.run(collector.collect(server, dossier(server)))
    assert absent(record).reason is Reason.NOT_COLLECTED
    assert "secret" not in absent(record).detail


def test_the_users_tools_are_asked_once_even_when_they_know_nothing(tmp_path: Path) -> None:
    asked, npm_program = tmp_path / "asked", tmp_path / "npm"
    npm_program.write_text(f"#!/bin/sh\necho asked >> {asked}\nexit 1\n", "utf-8")
    npm_program.chmod(0o755)
    indexes = ConfiguredIndexes({"PATH": f"{tmp_path}:/usr/bin:/bin"}, tmp_path)

    async def several_times() -> None:
        for _ in range(3):
            with pytest.raises(SandboxError):
                await indexes.npm()

    asyncio.run(several_times())
    assert asked.read_text("utf-8") == "asked\n"


def test_a_failed_download_of_node_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0

    async def fail(*_: object) -> NoReturn:
        nonlocal tried
        tried += 1
        raise SandboxError("the connection was lost")

    monkeypatch.setattr(node, "find_npm", lambda *_: None)
    monkeypatch.setattr(node, "provide_node", fail)
    indexes = ConfiguredIndexes({}, tmp_path)
    for _ in range(2):
        with pytest.raises(SandboxError, match="the connection was lost"):
            asyncio.run(indexes.npm())
    assert tried == 2


def test_the_guard_opens_the_doors_of_the_index_and_nothing_beside_them() -> None:
    guard = IndexGuard(endpoints=frozenset({("10.0.0.5", 4873)}))
    assert guard.vet(["10.0.0.5"], 4873) == ("10.0.0.5",)
    assert guard.vet(["10.0.0.5", "1.1.1.1"], 4873) == ("10.0.0.5", "1.1.1.1")
    for addresses, port in ((["10.0.0.5"], 6379), (["10.0.0.6"], 4873), (["10.0.0.5", "10.0.0.6"], 4873)):
        with pytest.raises(BlockedAddress):
            guard.vet(addresses, port)
    with pytest.raises(BlockedAddress):
        AddressGuard().vet(["10.0.0.5"], 4873)


@pytest.mark.parametrize("address", ["http://169.254.169.254/", "http://100.100.100.200/", "http://0.0.0.0/"])
def test_a_metadata_service_is_no_index_even_when_it_is_configured(bench: Bench, address: str) -> None:
    bench.npm_at = address
    assert absent(bench.look(npm())).reason is Reason.BLOCKED_ADDRESS
