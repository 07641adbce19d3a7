"""A public transcript has no text that a server handed out, and every verdict of the whole one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.canonical import NotJson
from evidence.kinds import exchanges
from evidence.kinds.exchanges import Exchanges
from evidence.model import Absent, Dossier, Observed
from publish.datasets.rows.evidence_bodies import HANDED_OUT, BodyState, publish_bodies
from publish.disclosure import redact_record
from publish.handed_out_texts import REMOVED, remove_handed_out_texts
from scoring.engine.assess import ask_rule
from scoring.engine.rule import Rule, discover_rules
from scoring.example_builders.conversation import build_exchanges_body, legacy_exchange, modern_exchange, stdio_exchange
from scoring.scopes.conversation import Conversation
from tests.publish import observed, samples

SECRET = "Quarterly figures of 1234567 pounds"
METHODS = {"call": "tools/call", "read": "resources/read", "prompt": "prompts/get"}
CALLED: dict[str, Any] = {"content": [{"type": "text", "text": SECRET}], "structuredContent": {SECRET: 1234567}}
ANSWERS: dict[str, dict[str, Any]] = {
    "call-nonexistent": {"result": {**CALLED, "isError": False, "_meta": {"note": SECRET}}},
    "read-nonexistent": {"result": {"contents": [{"uri": SECRET, "blob": SECRET}]}},
    "prompt-nonexistent": {"result": {"messages": [{"role": "user", "content": {"type": "text", "text": SECRET}}]}},
    "call-name-encoded": {"error": {"code": -32602, "message": SECRET, "data": {"rows": [SECRET, 1234567]}}},
    "call-name-mismatch": {"result": [SECRET]},
}
LEFT = {
    "call-nonexistent": {"isError": False, "content": [{"type": "text"}]},
    "read-nonexistent": {"contents": [{}]},
    "prompt-nonexistent": {"messages": [{}]},
    "call-name-mismatch": [],
}


def ask(step: str, number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": METHODS[step.partition("-")[0]], "params": {"name": "x"}}


def conversation(*more: dict[str, Any]) -> Dossier:
    """A server that answers every question about what does not exist with its content, and `more`."""
    said = [legacy_exchange(step, sent=ask(step, at), **answer) for at, (step, answer) in enumerate(ANSWERS.items())]
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": SECRET}}
    page = legacy_exchange("call-nonexistent", sent=ask("call", 9), received=[{"text": SECRET}], form="other")
    sent = ask("call", 10)
    streamed = modern_exchange("call-nonexistent", sent=sent, received=[{"message": log, "event": "message"}])
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"ok": 1.0}}
    ping = legacy_exchange("ping", received=[{"message": answer}])
    body = build_exchanges_body(ping, *said, page, streamed, *more)
    return observed.with_kinds(samples.dossiers(1)[0], {exchanges.KIND: body})


def test_no_text_that_a_server_handed_out_is_public() -> None:
    record = conversation().records[exchanges.KIND]
    public = redact_record(record)
    assert isinstance(record.content, Observed) and isinstance(public.content, Observed)

    talk = {one.step: one for one in reversed(Exchanges.parse(public.content.body).exchanges)}

    assert SECRET in record.content.body.decode()
    assert "1234567" not in public.content.body.decode()
    assert {step: talk[step].result for step in LEFT} == LEFT
    assert talk["call-name-encoded"].error == {"code": -32602, "message": REMOVED}
    assert b'"result": {"ok": 1.0}' in public.content.body  # other bytes stay as they are
    assert redact_record(public) is public
    published = publish_bodies({exchanges.KIND: public})[exchanges.KIND]
    assert (published.state, published.why) == (BodyState.REDACTED, HANDED_OUT)


def test_an_answer_that_another_question_had_too_stays() -> None:
    """It is in the transcript of that question, which rules judge."""
    shared = [{"message": {"jsonrpc": "2.0", "id": 3}, "same_as": 1}]
    public = redact_record(conversation(legacy_exchange("ping", received=shared)).records[exchanges.KIND])
    assert isinstance(public.content, Observed)

    called = Exchanges.parse(public.content.body).exchanges[1]

    assert called.fields["structuredContent"] == {SECRET: 1234567}


def test_the_keys_of_meta_in_read_resources_stay() -> None:
    called = legacy_exchange("call-nonexistent", sent=ask("call", 1), result={"content": [{"text": SECRET}]})
    row: dict[str, Any] = {"connection": 0, "uri": "note://1", "keys": ["cost"]}
    public = remove_handed_out_texts(json.dumps({**build_exchanges_body(called), "read": [row]}).encode())

    assert SECRET.encode() not in public
    assert [one.keys for one in Exchanges.parse(public).read] == [("cost",)]


def test_stray_lines_of_a_process_are_no_answer() -> None:
    body = build_exchanges_body(
        stdio_exchange("call-nonexistent", sent=ask("call", 1), received=[{"text": "starting"}])
    )

    assert b'"starting"' in remove_handed_out_texts(json.dumps(body).encode())


@pytest.mark.parametrize(
    "body", [b'"tools/call"', b'{"x":"tools/call"', b'{"exchanges":{"tools/call"', b'\xff"tools/call"']
)
def test_a_transcript_that_cannot_be_read_is_not_published(body: bytes) -> None:
    record = conversation().records[exchanges.KIND]

    with pytest.raises(NotJson):
        remove_handed_out_texts(body)
    assert isinstance(redact_record(replace(record, content=Observed(body))).content, Absent)


@pytest.mark.parametrize(
    "declared", [one for one in discover_rules().values() if one.scope is Conversation], ids=lambda one: one.id
)
def test_every_rule_judges_the_public_transcript_as_the_whole_one(declared: Rule) -> None:
    for example in (*declared.good, *declared.bad, *declared.unjudged):
        assert isinstance(example, Conversation)
        body = json.dumps(write(example.recorded)).encode()
        public = remove_handed_out_texts(body)
        whole, shown = (
            verdict(declared, replace(example, recorded=Exchanges.parse(each, example.listing)))
            for each in (body, public)
        )
        assert whole == shown


def verdict(declared: Rule, example: Conversation) -> object:
    try:
        return [(one.at, one.message, one.tolerated) for one in ask_rule(declared, example, "digest")]
    except Exception as why:
        return repr(why)


def write(talk: Exchanges) -> Mapping[str, Any]:
    """The body of a transcript as it was recorded, with the methods of questions about what does not exist."""
    rows = []
    for one in talk.exchanges:
        about = one.step.partition("-")[0]
        asks = {"method": METHODS[about]} if about in METHODS else {}
        sent = {**one.sent, **asks} if isinstance(one.sent, Mapping) else asks or one.sent
        received: list[Any] = [
            {"message": each.message, "event": each.event, "id": each.has_id}
            if each.message is not None
            else {"text": each.text, "event": each.event, "id": each.has_id}
            for each in one.received
        ]
        failure = {"reason": one.failure, "detail": one.detail} if one.failure else None
        rows.append(
            {name: getattr(one, name) for name in ("step", "page", "verb", "status", "form", "utf8", "batch", "ended")}
            | {"connection": one.connection.index, "sent": {"headers": one.sent_headers, "message": sent}}
            | {"headers": one.headers, "received": received, "failure": failure}
        )
    connections = [
        {name: getattr(one, name) for name in ("transport", "era", "opened", "offered", "negotiated", "session")}
        for one in talk.connections
    ]
    return {"target": talk.target, "depth": talk.depth, "connections": connections, "exchanges": rows}
