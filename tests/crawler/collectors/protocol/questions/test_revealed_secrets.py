"""A transcript states what an error revealed, and holds no revealed value."""

from __future__ import annotations

import json

import pytest

from crawler.mcp.response_reader import ReceivedResponse
from evidence.derive.revealed_secrets import CREDENTIAL, VARIABLE
from tests.crawler.collectors.protocol.questions.test_exchanges_body_properties import transcribed, written

KEY = "ghp_" + "a8Kd0Qz3" * 5
VALUE = "hunter2horse"


def answer(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **members}).encode()


def error(text: str) -> bytes:
    return answer(error={"code": -32603, "message": text})


@pytest.mark.parametrize(
    ("data", "revealed"),
    [
        (error(f"bad key\n{KEY}"), CREDENTIAL),
        (error(f"config\nDB_PASSWORD={VALUE}"), VARIABLE),
        (
            answer(error={"code": 1, "message": "x", "data": {"DB_PASSWORD": VALUE}}),
            VARIABLE,
        ),
        (answer(result={"isError": True, "content": [{"type": "text", "text": KEY}]}), CREDENTIAL),
        (f"<html>DB_PASSWORD={VALUE}".encode(), VARIABLE),
        (error("Set DB_PASSWORD=your-password"), ""),
        (answer(result={"content": [{"type": "text", "text": "the key [secret]"}]}), ""),
    ],
)
def test_a_transcript_states_what_an_error_revealed(data: bytes, revealed: str) -> None:
    assert [one.reveals for one in transcribed(data).exchanges[0].received] == [revealed]


@pytest.mark.parametrize("text", [f"config\nDB_PASSWORD={VALUE}\n", f'{{"DB_PASSWORD": "{VALUE}"}}'])
def test_a_transcript_holds_no_revealed_value_and_stays_json(text: str) -> None:
    received = ReceivedResponse(strict=False)
    received._read_body(error(text), 1, strict=False)

    body = written(ping=received)

    assert VALUE not in body.decode()
    assert json.loads(body)["exchanges"][0]["received"][0]["message"]["error"]["message"] == text.replace(
        VALUE, "[secret]"
    )
