"""Whatever bytes a server sends, the body of its transcript is one that rules can read."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.collectors.protocol.questions.exchanges_body import exchanges_body
from crawler.http.failures import Malformed, TooLarge
from crawler.mcp import jsonrpc
from crawler.mcp.event_stream import EventReader
from crawler.mcp.response_reader import ReceivedResponse
from crawler.mcp.transcript import AnswerForm, Exchange, SessionLink, Transcript
from evidence.canonical import Json
from evidence.kinds.exchanges import Exchanges
from evidence.model import Target, TargetType
from tests.crawler.collectors.protocol.probing import body, collector, records_of, remote, talk
from tests.sampling import examples
from tests.servers.hostile import OPENING, TOOLS, Call, Mcp, serving

TARGET = Target(type=TargetType.STREAMABLE_HTTP, identifier="https://mcp.example/")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "result", "error", "method", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)
BODIES = st.binary(max_size=80) | VALUES.map(lambda value: json.dumps(value).encode())
SESSIONS = st.none() | st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=12)


def transcribed(data: bytes, session: str | None = None, *, stream: bool = False) -> Exchanges:
    received = ReceivedResponse(strict=False)
    try:
        if stream:
            reader = EventReader()
            received._take_events([*reader.feed(data), *reader.finish()], 1)
            received.form = AnswerForm.STREAM
        else:
            received._read_body(data, 1, strict=False)
    except (Malformed, TooLarge):
        return Exchanges("", {}, (), ())
    return Exchanges.parse(written(session, initialize=received, ping=received))


def written(session: str | None = None, **answers: ReceivedResponse) -> bytes:
    """The body of a transcript with these answers by step."""
    transcript = Transcript()
    transcript.connect(SessionLink("streamable-http", "legacy", "2025-11-25", True, "2025-11-25", session))
    for step, received in answers.items():
        transcript.add(
            Exchange(
                transport="streamable-http",
                method="ping",
                request=jsonrpc.encode_request(1, "ping"),
                began=0.0,
                seconds=0.0,
                status=200,
                form=received.form,
                received=tuple(received.pieces),
            )
        )
        transcript.name(len(transcript.exchanges) - 1, step, 0, 0)
    return exchanges_body(TARGET, "full", transcript, {})


def received(message: bytes) -> ReceivedResponse:
    response = ReceivedResponse(strict=False)
    response._read_body(message, 1, strict=False)
    return response


def test_only_an_equal_result_refers_to_the_first_one() -> None:
    first = received(b'{"jsonrpc":"2.0","id":1,"result":{"a":1,"b":2}}')
    other = received(b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}')
    equal = received(b'{"result":{"b":2, "a":1},"jsonrpc":"2.0","id":1}')

    rows = json.loads(written(None, initialize=first, ping=other, discover=equal))["exchanges"]

    assert [row["received"][0].get("same_as") for row in rows] == [None, None, 0]
    assert [row["received"][0]["message"].get("result") for row in rows] == [{"a": 1, "b": 2}, {"a": 1}, None]


@settings(max_examples=examples(400), deadline=None)
@given(data=BODIES, session=SESSIONS)
def test_any_body_can_be_read_again(data: bytes, session: str | None) -> None:
    found = transcribed(data, session)

    assert [one.step for one in found.exchanges] in ([], ["initialize", "ping"])


@settings(max_examples=examples(300), deadline=None)
@given(parts=st.lists(BODIES, max_size=4), session=SESSIONS)
def test_any_stream_can_be_read_again(parts: list[bytes], session: str | None) -> None:
    found = transcribed(b"".join(b"data: " + part + b"\n\n" for part in parts), session, stream=True)

    assert [one.step for one in found.exchanges] in ([], ["initialize", "ping"])


@settings(max_examples=examples(300), deadline=None)
@given(value=VALUES, extra=st.dictionaries(st.sampled_from(["id", "x", "jsonrpc"]), VALUES, max_size=3))
def test_a_result_is_the_same_wherever_it_lies(value: Json, extra: dict[str, Json]) -> None:
    found = transcribed(json.dumps({**extra, "result": value}).encode())

    first, second = found.exchanges
    assert first.result == second.result == value


@pytest.mark.parametrize("session", ["12345678", '"jsonrpc"', '{"jsonrp', "protocolVersion", "\\u0061\\u0062"])
def test_a_session_id_cannot_break_what_holds_it(session: str) -> None:
    message = (
        '{"jsonrpc":"2.0","id":1,"error":{"code":12345678,"message":"\\u0061\\u0062 12345678"},"protocolVersion":1}'
    )

    found = transcribed(message.encode(), session)

    assert [one.code for one in found.exchanges] == [12345678, 12345678]


def test_what_trials_return_and_listed_pages_take_no_room_from_the_rest() -> None:
    listed = [{**TOOLS[0], "name": f"get_note_{n}", "annotations": {"readOnlyHint": True}} for n in range(8)]
    padded = {**TOOLS[1], "description": "x" * 60_000}

    async def tools(call: Call) -> None:
        page = int(call.message["params"].get("cursor", "0"))
        more = {"nextCursor": str(page + 1)} if page < 30 else {}
        await call.result({"tools": [*(listed if page == 0 else []), padded], **more})

    async def called(call: Call) -> None:
        if not call.message["params"]["name"].startswith("get_note_"):
            await call.error(-32602, "y" * 20_000)
        else:
            await call.result({"content": [{"type": "text", "text": "x" * 64_000}]})

    async def ping(call: Call) -> None:
        await call.result({"kept": "z" * 50_000})

    async def run() -> None:
        server = Mcp({"tools/list": tools, "tools/call": called, "ping": ping}, opening={**OPENING})
        async with serving(server) as url:
            found = await records_of(collector(depth="full"), remote(url))
        steps = {one.step: one for one in talk(found).exchanges}
        assert server.asked.count("tools/call") > 8
        assert steps["ping"].fields == {"kept": "z" * 50_000}
        assert steps["call-nonexistent"].code == -32602
        assert len(body(found)) < 400_000

    asyncio.run(run())
