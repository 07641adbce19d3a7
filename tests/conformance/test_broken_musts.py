"""A server that breaks one MUST fails that check and no other, and the upright server fails none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from crawler.collectors.protocol.trials.call_policy import CallPolicy
from scoring.protocol.conformance import Verdict
from tests.conformance.probing import Probed, look, prober
from tests.crawler.collectors.protocol.probing import remote
from tests.servers.broken_musts import BROKEN, Make
from tests.servers.conforming import LISTS, Upright
from tests.servers.hostile import Behaviour, Call, serving
from tests.servers.hostile_behaviour import says

AT_ONCE = 8


async def probe_all(servers: Mapping[str, Make]) -> Mapping[str, Probed]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def probe(make: Make) -> Probed:
        async with turns, serving(make()) as url:
            return await look(prober(policy=CallPolicy.ANNOTATED), remote(url))

    return dict(zip(servers, await asyncio.gather(*map(probe, servers.values())), strict=True))


def test_each_server_fails_the_one_must_that_it_breaks() -> None:
    found = asyncio.run(probe_all({name: make for name, (_, make) in BROKEN.items()}))

    failed = {name: set(probed.failed()) for name, probed in found.items()}
    assert len(failed) >= 20
    assert failed == {name: {check} for name, (check, _) in BROKEN.items()}


def test_the_upright_server_fails_nothing_and_passes_the_checks_that_the_others_fail() -> None:
    found = asyncio.run(probe_all({"dual": Upright, "legacy": lambda: Upright(modern=False)}))

    assert {name: dict(probed.failed()) for name, probed in found.items()} == {"dual": {}, "legacy": {}}
    passed = {check for probed in found.values() for check in probed.with_verdict(Verdict.PASS)}
    assert {check for check, _ in BROKEN.values()} - passed == {"EXT-01"}  # it declares no extension


def test_a_server_that_refuses_every_origin_does_not_pass_and_one_that_reads_no_host_is_remarked_on() -> None:
    async def without_origins(call: Call) -> None:
        await (says(403) if "origin" in call.headers else upright)(call)

    upright = Upright()
    strict: Make = lambda: without_origins  # noqa: E731
    servers: Mapping[str, Make] = {"upright": Upright, "strict": strict, "hostless": anywhere, "half": half_guarded}
    found = asyncio.run(probe_all(servers))

    verdicts = {name: probed.verdicts() for name, probed in found.items()}
    assert {name: verdict["HTTP-03"].verdict for name, verdict in verdicts.items()} == {
        "upright": Verdict.PASS,
        "strict": Verdict.WARN,
        "hostless": Verdict.PASS,
        "half": Verdict.WARN,
    }
    assert {name: verdict["HTTP-14"].verdict for name, verdict in verdicts.items()} == {
        "upright": Verdict.PASS,
        "strict": Verdict.PASS,
        "hostless": Verdict.WARN,
        "half": Verdict.WARN,
    }
    assert not any(probed.failed() for probed in found.values())


def half_guarded() -> Behaviour:
    """A server of both eras whose legacy side reads no host name and refuses every origin."""
    upright = Upright()

    async def behave(call: Call) -> None:
        if call.method == "initialize" and "origin" in call.headers:
            await call.reply(403)
            return
        if call.method == "initialize":
            call.headers["host"] = "127.0.0.1:80"
        await upright(call)

    return behave


def test_every_list_that_pages_is_asked_for_an_invented_cursor() -> None:
    found = asyncio.run(probe_all({"both refuse": paging(), "prompts ignore it": paging("prompts/list")}))

    results = {name: probed.verdicts()["PAGE-01"] for name, probed in found.items()}
    assert results["both refuse"].verdict is Verdict.PASS
    assert results["prompts ignore it"].verdict is Verdict.WARN
    [finding] = results["prompts ignore it"].findings
    assert finding.at == "exchanges/legacy/cursor-invented-prompts"


def paging(*ignoring: str) -> Make:
    """A server of the legacy era whose tools and prompts come on two pages; `ignoring` lists ignore unknown cursors."""

    def make() -> Behaviour:
        upright = Upright(modern=False)

        async def behave(call: Call) -> None:
            if call.method not in {"tools/list", "prompts/list"}:
                await upright(call)
                return
            cursor = call.message.get("params", {}).get("cursor")
            answer: dict[str, Any] = {"result": {call.method.partition("/")[0]: []}}
            if cursor is None:
                answer = {"result": {**LISTS[call.method], "nextCursor": "second"}}
            elif cursor != "second" and call.method not in ignoring:
                answer = {"error": {"code": -32602, "message": "Unknown cursor"}}
            await upright.send(call, {"jsonrpc": "2.0", "id": call.message["id"], **answer})

        return behave

    return make


def anywhere() -> Behaviour:
    """A server that does not look at the host name under which it is asked."""
    upright = Upright()

    async def behave(call: Call) -> None:
        if "origin" not in call.headers:
            call.headers["host"] = "127.0.0.1:80"
        await upright(call)

    return behave
