"""Every question and its answer are recorded, the same every night, over each transport and in both eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from evidence.kinds.exchanges import Exchanges
from evidence.model import Record, Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, module, sdk_server
from tests.crawler.collectors.protocol.probing import body, collector, records_of, remote, talk
from tests.servers.scripted import running
from tests.servers.scripted_answers import Script

SEED, COUNT = 5, 40
SCRIPTED_SERVER = module("tests.servers.scripted_stdio", "--number", "5")  # one of both eras
# What a full probe found is kept for the module: another process would ask everything again.
pytestmark = pytest.mark.xdist_group("exchanges")

CORE = {"discover", "initialize", "initialized", "list-tools", "list-resources", "list-resourceTemplates"} | {
    "list-prompts",
    "sse-open",
    "redirected",
}
COMMON = {"ping", "unknown-method", "call-nonexistent", "read-nonexistent", "prompt-nonexistent", "malformed"}
MODERN = {
    "discover-origin",
    "discover-origin-own",
    "discover-host",
    "discover-version-unknown",
    "discover-version-mismatch",
    "discover-method-mismatch",
    "discover-method-missing",
    "discover-version-missing",
    "discover-session-faked",
    "discover-meta-missing",
    "discover-capabilities-missing",
    "discover-client-missing",
    "discover-headers-uppercase",
    "call-nonexistent",
    "call-name-mismatch",
    "call-name-encoded",
    "unknown-method",
    "removed-ping",
    "removed-logging",
    "removed-subscribe",
    "malformed",
    "read-nonexistent",
    "prompt-nonexistent",
    "list-tools-again",
    "list-tools-elsewhere",
}
LEGACY = COMMON | {
    "initialize-2024-11-05",
    "initialize-2025-03-26",
    "initialize-2025-06-18",
    "initialize-unknown",
    "initialize-origin",
    "initialize-origin-own",
    "initialize-host",
    "stream",
    "version-unknown",
    "version-missing",
    "batch",
    "session-missing",
    "session-random",
    "end",
    "after-end",
}
# A process sees no headers and no sessions, ends by itself, and is sent a broken line in one era only.
OF_HTTP = {
    *(
        step
        for step in MODERN
        if step.endswith(("-mismatch", "-missing", "-uppercase", "-faked", "-encoded", "-origin", "-own", "-host"))
    ),
    *(step for step in LEGACY if step.endswith(("-origin", "-own", "-host", "-missing", "-random", "-end"))),
    *("stream", "version-unknown", "batch", "end"),
} - {"discover-meta-missing", "discover-capabilities-missing", "discover-client-missing"}
PROCESS = {"legacy": LEGACY - OF_HTTP | {"close"}, "modern": MODERN - OF_HTTP - {"malformed"} | {"close"}}
# The scripted server has no resources.
SCRIPTED = {era: known - {"read-nonexistent"} | {"list-resources-undeclared"} for era, known in PROCESS.items()}


# A full probe starts a process a dozen times, and most of that is to import the SDK: tests/conformance/test_controls.py
# does so in every run.
@pytest.fixture(
    scope="module",
    params=[
        "streamable-http",
        pytest.param("streamable-http json", marks=pytest.mark.soak),
        "sse",
        pytest.param("stdio", marks=pytest.mark.soak),
        "scripted stdio",
    ],
)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    if request.param == "scripted stdio":
        yield SCRIPTED_SERVER
        return
    with sdk_server(request.param) as served:
        yield served


@pytest.fixture(scope="module")
def full(target: Target) -> dict[str, Record]:
    """What a full probe of the target found."""
    return probe_server(target)


@pytest.fixture(scope="module")
def fleet() -> Iterator[str]:
    with running(COUNT, SEED) as base:
        yield base


def probe_server(target: Target, depth: str = "full") -> dict[str, Record]:
    return asyncio.run(records_of(collector(launcher=PipeLauncher(), depth=depth), target))


def steps(found: Exchanges, era: str) -> set[str]:
    return {one.step for one in found.exchanges if one.connection.era == era}


def requests(records: dict[str, Record]) -> int:
    """Requests of the probe of the protocol: those of trials and of access have bounds of their own."""
    rows = records["listing"].observation["exchanges"]
    assert isinstance(rows, list)
    return len([row for row in rows if isinstance(row, dict) and row["method"] != "tools/call"])


def test_a_full_probe_asks_everything(target: Target, full: dict[str, Record]) -> None:
    found = talk(full)

    assert found.depth == "full"
    assert not [one.step for one in found.exchanges if one.failure and one.step != "malformed"]
    assert requests(full) <= 70
    if target.type is TargetType.STREAMABLE_HTTP:
        assert steps(found, "modern") - CORE == MODERN
        assert steps(found, "legacy") - CORE == LEGACY
    elif target.type is TargetType.SSE:
        assert steps(found, "legacy") - CORE == COMMON | {"post-origin", "post-origin-own", "post-host"}
    else:
        expected = SCRIPTED if target == SCRIPTED_SERVER else PROCESS
        assert {era: steps(found, era) - CORE for era in PROCESS} == expected


def test_a_core_probe_asks_only_what_is_asked_every_night(target: Target) -> None:
    records = probe_server(target, "core")

    found = talk(records)
    assert found.depth == "core"
    assert {one.step for one in found.exchanges} <= CORE
    assert requests(records) <= 16


def test_an_unchanged_server_leaves_equal_bytes(target: Target, full: dict[str, Record]) -> None:
    assert body(probe_server(target)) == body(full)


def test_results_lie_where_they_are_said_to_lie(full: dict[str, Record]) -> None:
    found = talk(full)

    for step, name in (("list-tools", "tools"), ("list-prompts", "prompts")):
        for one in found.of(step):
            assert [item["name"] for item in one.fields[name]]  # type: ignore[index, union-attr, call-overload]
    for one in found.of("list-tools-again", "list-tools-elsewhere"):
        [first] = [other for other in found.of("list-tools") if other.connection.era == "modern"]
        assert one.result == first.result


def test_string_ids_come_back_as_they_were_sent(full: dict[str, Record]) -> None:
    asked = list(talk(full).of("unknown-method"))

    assert asked
    for one in asked:
        assert one.answer is not None
        assert one.answer.members["id"] == "hallmark-id"
        assert one.code == -32601


def test_a_process_that_exits_at_the_end_of_its_input_has_ended(target: Target, full: dict[str, Record]) -> None:
    expected = [True, True] if target.type is TargetType.COMMAND else []

    assert [one.ended for one in talk(full).of("close")] == expected


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 8, 9, 11, 29])
def test_scripted_servers_are_asked_within_the_budget_and_alike_every_night(fleet: str, number: int) -> None:
    script = Script(SEED, number)
    assert script.fault is None
    target = remote(f"{fleet}/s/{number}/mcp")

    first, second = probe_server(target), probe_server(target)

    found = talk(first)
    assert body(first) == body(second)
    assert requests(first) <= 60
    assert found.eras == {"legacy": {"legacy"}, "modern": {"modern"}, "dual": {"modern", "legacy"}}[script.era]
    assert script.session is None or script.session.encode() not in body(first)


def test_the_tools_are_asked_for_elsewhere_on_a_connection_of_their_own(fleet: str) -> None:
    found = talk(probe_server(remote(f"{fleet}/s/3/mcp")))

    [again], [elsewhere] = found.of("list-tools-again"), found.of("list-tools-elsewhere")
    assert again.connection != elsewhere.connection


def test_exchanges_differ_by_what_was_sent(fleet: str) -> None:
    found = talk(probe_server(remote(f"{fleet}/s/3/mcp")))
    sent = {one.step: one for one in found.exchanges}

    assert sent["discover-version-mismatch"].sent_headers["mcp-protocol-version"] == "1900-01-01"
    assert "2026-07-28" in json.dumps(sent["discover-version-mismatch"].sent)
    assert "mcp-method" not in sent["discover-method-missing"].sent_headers
    assert sent["discover-headers-uppercase"].sent_headers["MCP-METHOD"] == "server/discover"
    assert sent["discover-origin"].sent_headers["origin"] == "https://hallmark-probe.invalid"
    assert sent["call-name-encoded"].sent_headers["mcp-name"].startswith("=?base64?")
    assert sent["malformed"].sent is None


def test_a_page_that_was_invented_is_asked_for_only_where_there_are_pages(fleet: str) -> None:
    asked = {
        number: list(talk(probe_server(remote(f"{fleet}/s/{number}/mcp"))).of("cursor-invented")) for number in (0, 1)
    }

    assert not asked[0]
    assert [one.sent["params"]["cursor"] for one in asked[1]] == ["hallmark-probe-4f1c9a"]  # type: ignore[index, call-overload]
