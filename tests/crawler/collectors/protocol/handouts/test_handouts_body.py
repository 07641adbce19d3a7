"""What a full probe keeps of resources and results: texts, cut, without secrets, and only what may be read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from crawler.collectors.protocol.handouts.handouts_body import bounded_texts, tool_result_row
from crawler.collectors.protocol.handouts.resource_reader import choose_resources
from evidence.derive.secret_scrubbing import scrub_text
from evidence.kinds import exchanges, handouts
from evidence.kinds.exchanges import Exchanges
from evidence.kinds.handouts import MAX_RESOURCE_BYTES, MAX_RESOURCES, MAX_RESULT_BYTES, Handouts
from evidence.model import Absent, Observed, Reason, Record
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probing import absent, collector, records_of, remote
from tests.servers.hostile import Behaviour, serving
from tests.servers.poisoned import ORDER, Poisoned

KEY = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"


def probe_server(
    server: Behaviour, *, depth: str = "full", earlier: dict[str, Record] | None = None, **options: Any
) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(server) as url:
            return await records_of(collector(depth=depth, **options), remote(url), earlier=earlier)

    return asyncio.run(run())


def view(records: dict[str, Record]) -> Handouts:
    content = records[handouts.KIND].content
    assert isinstance(content, Observed), content
    return Handouts.parse(content.body)


def listed(*resources: Any) -> bytes:
    return json.dumps({"resources": resources}).encode()


@pytest.mark.parametrize("modern", [False, True])
def test_a_full_probe_reads_resources_and_keeps_results(modern: bool) -> None:
    server = Poisoned(modern=modern)
    seen = view(probe_server(server))

    assert [(each.name, each.why) for each in seen.resources] == [
        ("note://welcome", ""),
        ("note://gone", "code -32602" if modern else "code -32002"),
        ("note://picture", ""),
    ]
    assert ORDER in seen.resources[0].text
    assert (seen.resources[2].text, seen.resources[2].binary) == ("", 1)
    assert [(each.name, ORDER in each.text) for each in seen.results] == [("get_note", True)]
    assert (seen.unread, seen.untried) == (0, "")


META = [{"uri": "note://a", "text": "A secret note.", "_meta": {"@cost 7": "A secret value.", KEY: 1, "x" * 81: 1}}]


def read_meta_keys(records: dict[str, Record]) -> list[tuple[str, str, tuple[str, ...]]]:
    content = records[exchanges.KIND].content
    assert isinstance(content, Observed), content
    assert b"A secret" not in content.body
    assert KEY.encode() not in content.body
    return [(one.connection.era, one.uri, one.keys) for one in Exchanges.parse(content.body).read]


def test_of_the_meta_of_read_resources_only_keys_are_public() -> None:
    read = read_meta_keys(probe_server(Poisoned(modern=False, contents=META)))

    assert read == [("legacy", f"note://{name}", ("@cost 0",)) for name in ("welcome", "gone", "picture")]
    assert read_meta_keys(probe_server(Poisoned(modern=False))) == []


@pytest.mark.parametrize("changed", [False, True])
def test_a_core_probe_keeps_the_keys_that_the_last_full_one_read(changed: bool) -> None:
    async def twice() -> list[dict[str, Record]]:
        server = Poisoned(contents=META)
        async with serving(server) as url:
            full = await records_of(collector(depth="full"), remote(url))
            server.more = int(changed)
            return [full, await records_of(collector(depth="core"), remote(url), earlier=full)]

    full, core = asyncio.run(twice())
    assert (core[exchanges.KIND].content == full[exchanges.KIND].content) is not changed
    assert read_meta_keys(core) == read_meta_keys(full) != []


def test_a_core_probe_reads_nothing() -> None:
    server = Poisoned()
    records = probe_server(server, depth="core")

    assert absent(records[handouts.KIND]).reason is Reason.NOT_COLLECTED
    assert "resources/read" not in server.asked


def test_a_core_probe_keeps_what_the_last_full_one_read() -> None:
    server = Poisoned()
    first = probe_server(server)
    server.asked.clear()

    async def again() -> dict[str, Record]:
        async with serving(server) as url:
            full = await records_of(collector(depth="full"), remote(url))
            server.asked.clear()
            return full | {"again": (await records_of(collector(depth="core"), remote(url), earlier=full))["handouts"]}

    records = asyncio.run(again())

    assert "resources/read" not in server.asked
    assert records["again"].content == records["handouts"].content == first["handouts"].content
    assert records["again"].observation == {"carried_from": records["handouts"].observed_at.isoformat()}


def test_of_a_server_that_opted_out_nothing_is_read_nor_kept() -> None:
    server = Poisoned()
    before = probe_server(server)
    server.read.clear()
    for depth in ("full", "core"):
        records = probe_server(server, depth=depth, earlier=before, opted_out=["test"])
        assert absent(records[handouts.KIND]).reason is Reason.OPTED_OUT
    assert "note://welcome" not in server.read


def test_at_most_five_resources_are_read_and_the_budget_holds() -> None:
    server = Poisoned(more=40)
    seen = view(probe_server(server))

    assert len(seen.resources) == MAX_RESOURCES
    assert seen.unread == 38
    assert len([uri for uri in server.read if uri.startswith("note://")]) == MAX_RESOURCES
    assert len([one for one in server.asked if one != "tools/call"]) <= 105


def test_a_server_that_is_asked_for_too_much_is_asked_no_more() -> None:
    server = Poisoned(more=3, limit_reads=True)
    seen = view(probe_server(server))

    assert [each.why for each in seen.resources] == ["rate_limited"]
    assert seen.unread == 5
    assert server.asked[-1] == "resources/read"


def test_two_visits_of_an_unchanged_server_leave_equal_bodies() -> None:
    server = Poisoned()

    assert probe_server(server)[handouts.KIND].content == probe_server(server)[handouts.KIND].content


def test_a_process_is_read_like_a_remote() -> None:
    prober = collector(depth="full", launcher=PipeLauncher())
    seen = view(asyncio.run(records_of(prober, module("tests.servers.leaking"))))

    [resource], [result] = seen.resources, seen.results
    assert resource.text.startswith("# Settings")
    assert not resource.whole
    assert result.name == "search_notes"


def test_resources_are_taken_in_order_and_text_before_pictures() -> None:
    pages = [
        listed(
            {"uri": "a://1", "mimeType": "image/png"},
            {"uri": "a://2"},
            "no resource",
            {"uri": "a://2"},
            {"uri": 7},
            {"uri": "x" * 3_000},
            {"uri": "\ud800"},
        ),
        listed(*({"uri": f"b://{at}", "mimeType": "text/plain"} for at in range(5))),
        b"[]",
    ]
    wanted, left = choose_resources(pages)

    assert [one.uri for one in wanted] == ["a://2", "b://0", "b://1", "b://2", "b://3"]
    assert [one.index for one in wanted] == [1, 7, 8, 9, 10]
    assert left == 2


def test_texts_of_all_kinds_of_content_are_kept_and_nothing_binary() -> None:
    row = tool_result_row(
        "t",
        0,
        {
            "content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a://1", "text": "two"}},
                {"type": "resource", "resource": {"uri": "a://1", "blob": "aGVsbG8="}},
                {"type": "resource_link", "uri": "a://1", "title": "three", "description": "four"},
                None,
                {"type": "text", "text": 7},
            ],
            "structuredContent": {"five": ["six", {"seven": "one"}]},
        },
    )

    assert row == {
        "tool": "t",
        "index": 0,
        "text": "one\ntwo\nthree\nfour\nfive\nsix\nseven",
        "whole": True,
        "binary": 2,
    }


def test_a_text_is_cut_and_says_so() -> None:
    row = bounded_texts(["é" * MAX_RESULT_BYTES], 0, limit=MAX_RESULT_BYTES)

    assert len(str(row["text"]).encode()) == MAX_RESULT_BYTES
    assert row["whole"] is False
    assert bounded_texts(["é" * 10], 0, limit=MAX_RESULT_BYTES)["whole"] is True


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_no_secret_is_kept_nor_half_of_one(shift: int) -> None:
    text = "a word " * 3_000
    at = MAX_RESOURCE_BYTES - shift
    row = bounded_texts([f"{text[:at]} {KEY} {text}"], 0, limit=MAX_RESOURCE_BYTES)

    assert KEY[:12] not in str(row["text"])
    assert scrub_text(str(row["text"])) == row["text"]


def test_a_hundred_secrets_before_the_cut_bring_no_half_one_in() -> None:
    text = f"{KEY} " * 2_000
    row = bounded_texts([text], 0, limit=MAX_RESULT_BYTES)

    assert "ghp_" not in str(row["text"])


@pytest.mark.parametrize(
    "contents", [None, [], {}, "text", [None], [{"text": 1}], [{"blob": 7}], [{"uri": "x"}, {"text": "\ud800 alone"}]]
)
def test_any_answer_is_recorded(contents: Any) -> None:
    records = probe_server(Poisoned(contents=contents))

    assert not isinstance(records[handouts.KIND].content, Absent)
    assert len(view(records).resources) == 3
