"""JSON-RPC framing keeps the bytes of results and tolerates what servers send."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.failures import Malformed, TooLarge
from crawler.mcp import jsonrpc

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(value=VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 1, "\t"]), batch=st.booleans())
def test_the_span_is_the_bytes_that_were_sent(value: object, ascii_only: bool, indent: object, batch: bool) -> None:
    try:
        span = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()  # type: ignore[arg-type]
    except UnicodeEncodeError:
        span = json.dumps(value, indent=indent).encode()  # type: ignore[arg-type]
    body = b' {"x": [1, {"result": 2}], "result"\t:\n' + span + b' , "id" :4}\n'

    [message] = jsonrpc.read_messages(b"[" + body + b"]" if batch else body)

    assert message.answer is not None
    assert message.answer.span == span
    assert json.loads(message.answer.span) == message.answer.value


ODD = (
    *(b"1" * 19, b"18446744073709551616", b"9" * 1001, b"-0", b"1e400", b"NaN", b'"\\ud800"', b'"\xff"', b"null"),
    *(
        b"",
        b" 1",
        b"1\n",
        b'{"a":1,"a":2}',
        b'1,"result":2',
        b'{},"error":{}',
        b'1},{"jsonrpc":"2.0","id":2,"result":2',
    ),
)
"""What a server may send in place of a result."""
NUMBERS = (b"0", b"7", b"07", b"999999999", b"1234567890", b"-1", b"1.0", b'"1"', b"null", b"1e3")
LAYOUTS = (b'{"jsonrpc":"2.0","id":%b,"result":%b}', b'{"result":%b,"jsonrpc":"2.0","id":%b}')


def laid_out(layout: bytes, span: bytes, number: bytes) -> bytes:
    return layout % ((span, number) if layout.startswith(b'{"result"') else (number, span))


@pytest.mark.parametrize("body", [laid_out(layout, span, b"7") for layout in LAYOUTS for span in ODD])
@pytest.mark.parametrize("end", [b"", b"\n", b"]", b"}"])
def test_odd_results_in_the_layouts_of_the_sdks_are_read_as_in_any_other(body: bytes, end: bytes) -> None:
    assert outcome(body + end) == outcome(body + end, is_usual=False)
    assert outcome(body[:-1] + end) == outcome(body[:-1] + end, is_usual=False)


@given(value=VALUES, number=st.sampled_from(NUMBERS), layout=st.sampled_from(LAYOUTS))
def test_the_layouts_of_the_sdks_are_read_as_any_other(value: object, number: bytes, layout: bytes) -> None:
    body = laid_out(layout, json.dumps(value).encode(), number)

    assert outcome(body) == outcome(body, is_usual=False)


def outcome(body: bytes, *, is_usual: bool = True) -> object:
    """What a body is read as; with `is_usual` false never in the shorter way."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_usual:
            patch.setattr(jsonrpc, "_read_usual_response", lambda _: None)
        try:
            return repr(jsonrpc.read_messages(body))  # tells 1 from 1.0, which are equal
        except (Malformed, TooLarge) as failure:
            return type(failure), str(failure)


@pytest.mark.parametrize(
    "body",
    [b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}', b'{"result":[],"jsonrpc":"2.0","id":12}'],
)
def test_most_results_are_read_in_the_shorter_way(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "_read_top", None)

    assert jsonrpc.read_messages(body)[0].answer is not None


@pytest.mark.parametrize(
    "body",
    [b"", b" ", b"{", b'{"a"}', b'{"a":}', b'{"a":1,}', b'{"a":1 "b":2}', b"{'a':1}", b"[1,", b"[1 2]", b"[,]", b"nul",
     b'{"a":1}{', b'{"a":1} x', b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":"\x01"}', b"{1:2}", b'{"a":01}', b"\x00"],
)  # fmt: skip
def test_what_is_not_json_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        jsonrpc.read_messages(body)


@given(st.binary(max_size=60))
def test_any_bytes_give_messages_or_a_named_failure(body: bytes) -> None:
    try:
        jsonrpc.read_messages(body)
    except (Malformed, TooLarge):
        return


def test_a_deep_text_is_too_large_also_inside_strings() -> None:
    jsonrpc.read_messages(b'{"a":"' + b"[" * 5_000 + b'"}')
    with pytest.raises(TooLarge):
        jsonrpc.read_messages(b"[" * 300 + b"]" * 300)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"id":3,"result":{}}', True),
        (b'{"id":"3","result":{}}', True),
        (b'{"id":3.0,"result":{}}', True),
        (b'{"id":99,"result":{}}', True),
        (b'{"id":null,"error":{}}', True),
        (b'{"result":{}}', True),
        (b'{"id":2,"result":{}}', False),
        (b'{"id":3,"method":"ping"}', False),
        (b'{"id":3,"method":"ping","result":1}', False),
        (b'{"id":3}', False),
        (b"[]", False),
        (b"[3]", False),
        (b'"text"', False),
    ],
)
def test_an_answer_is_recognised_under_odd_ids_but_never_an_earlier_one(body: bytes, found: bool) -> None:
    assert (jsonrpc.pick_answer(jsonrpc.read_messages(body), 3, spent=2) is not None) is found


def test_a_number_of_too_many_digits_is_too_large_wherever_it_is() -> None:
    for place in (b'"result":%s', b'"id":%s,"result":{}', b'"method":"x","params":[{"a":%s}]'):
        with pytest.raises(TooLarge, match="a number of more than 1000 digits"):
            jsonrpc.read_messages(b'{"jsonrpc":"2.0",' + place % (b"9" * 400_000) + b"}")


def test_of_result_null_and_error_the_error_counts() -> None:
    [message] = jsonrpc.read_messages(b'{"id":1,"result":null,"error":{"code":-1,"message":"no"}}')

    assert message.answer is not None
    assert (message.answer.is_error, message.answer.code, message.answer.message) == (True, -1, "no")


@pytest.mark.parametrize("error", [b"{}", b"null", b'"text"', b'{"code":"5"}', b'{"code":true,"message":7}'])
def test_an_error_of_any_shape_has_no_code(error: bytes) -> None:
    [message] = jsonrpc.read_messages(b'{"id":1,"error":' + error + b"}")

    assert message.answer is not None
    assert (message.answer.code, message.answer.message) == (None, "")
