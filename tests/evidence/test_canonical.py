"""RFC 8785, and the treatment of JSON that has no canonical form."""

from __future__ import annotations

import json
import math
import struct
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import canonical
from evidence.canonical import (
    MAX_DEPTH,
    NotJson,
    NumberTooLong,
    Uncanonicalisable,
    _serialise,
    canonical_digest,
    canonical_json,
    check_bounds,
    parse_json,
    sha256,
)
from tests.durations import cpu_below

# RFC 8785, appendix B: the bits of an IEEE 754 double, and its text.
APPENDIX_B = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

# Keys of every kind: within and beyond the BMP, and those that sort after surrogates by code point only.
KEYS = st.text(
    st.sampled_from('aAz0\r\n"\\\x00\x7f\u00f6\u20ac\ud7ff\ue000\ufb33\uffff\U0001f600\U0010ffff'), max_size=3
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | KEYS
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B)
def test_numbers_are_written_as_the_rfc_shows(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(number) == text.encode()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_numbers_that_are_not_finite_have_no_form(bits: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    values: list[Any] = [number, [number], {"a": number}, {"a": [1, {"b": number}]}]
    for value in values:
        with pytest.raises(Uncanonicalisable):
            canonical_json(value)


def test_sample_of_the_rfc_is_serialised_as_published() -> None:
    source = (
        rb'{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        rb'"string": "\u20ac$\u000F\u000aA' + rb"'" + rb'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}'
    )
    published = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_json(parse_json(source)) == published.encode()
    assert canonical_digest(source) == sha256(published.encode())


def test_keys_sort_by_utf16_unit() -> None:
    """The sample of RFC 8785, section 3.2.3: the emoji's surrogates come before a later letter of the BMP."""
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 0)))) == expected
    for ensure_ascii in (True, False):
        body = json.dumps(dict.fromkeys(keys, 0), ensure_ascii=ensure_ascii).encode()
        assert canonical_digest(body) == sha256(canonical_json(dict.fromkeys(keys, 0)))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740992", "-9007199254740992"),
        ("1152921504606846976", "1152921504606847000"),  # 2**60: JavaScript writes the shortest digits
        ("295147905179352825856", "295147905179352830000"),
        ("46827783774170660", "46827783774170660"),  # the shortest digits of a double that is 4 less
        ("1000000000000000000000", "1e+21"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1.0", "1"),
        ("1e2", "100"),
    ],
)
def test_integers_are_written_as_javascript_writes_them(number: str, text: str) -> None:
    assert canonical_json(parse_json(number.encode())) == text.encode()
    assert canonical_digest(number.encode()) == sha256(text.encode())


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":1}',
        b'[{"b":{"a":1,"a":2}}]',
        rb'["\ud800"]',
        rb'{"\udfff":1}',
        b"9007199254740993",
        b"1" + b"0" * 400,
        b"1e400",
        b"NaN",
        b"[1,]",
        b"",
        b"\xff",
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
    ],
)
def test_body_without_canonical_form_has_no_canonical_digest(body: bytes) -> None:
    assert canonical_digest(body) is None


@given(VALUES)
def test_the_fast_path_writes_what_the_one_that_follows_the_rfc_writes(value: Any) -> None:
    assert canonical_json(value) == _serialise(value).encode()


@pytest.mark.parametrize("text", [":1.5", "[null", ',"a":2e3', '\\"[1.2'])
def test_texts_that_look_like_numbers_or_null_change_nothing(text: str) -> None:
    value = {"a": [text, None, 1], text: {"b": text}}
    assert canonical_json(value) == _serialise(value).encode()


@pytest.mark.parametrize("number", [1e22, 1e-7, -0.0, 1.0])
def test_fractions_between_texts_and_nulls_are_written_as_the_rfc_shows(number: float) -> None:
    value = {"a": [None, number, "x"], "b": {"c": number}}
    assert canonical_json(value) == _serialise(value).encode()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_never_written_as_null(number: float) -> None:
    with pytest.raises(Uncanonicalisable):
        canonical_json({"a": [None, {"b": number}]})


@given(VALUES)
def test_canonical_form_is_a_fixed_point(value: Any) -> None:
    form = canonical_json(value)
    assert canonical_json(json.loads(form)) == form


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_digest_does_not_depend_on_how_the_body_is_written(value: Any, ensure_ascii: bool, indent: int | None) -> None:
    """Also holds the fast path of canonical_digest to the serialiser that follows the RFC."""
    body = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent).encode()
    assert canonical_digest(body) == sha256(canonical_json(value))


@given(st.dictionaries(KEYS, st.integers(0, 9), min_size=2))
def test_digest_does_not_depend_on_member_order(value: dict[str, int]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_digest(json.dumps(value).encode()) == canonical_digest(json.dumps(turned).encode())


@given(st.binary(max_size=60) | st.text('[]{}"\\:,0e-.ntf ', max_size=60).map(str.encode))
def test_arbitrary_bytes_never_crash_the_parser(body: bytes) -> None:
    try:
        parse_json(body)
    except NotJson:
        assert canonical_digest(body) is None


def test_parser_keeps_big_integers_and_lone_surrogates() -> None:
    assert parse_json(b"18446744073709551616") == 2**64
    assert parse_json(rb'"\ud800"') == "\ud800"
    assert parse_json(b'{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize("body", [b"", b"nul", b"{} {}", b"Infinity", b"\xef\xbb\xbf{}", b"1" * 5000, b'"\n"'])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(NotJson):
        parse_json(body)


def test_depth_is_bounded_and_brackets_in_strings_do_not_count() -> None:
    at_the_limit = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    parse_json(at_the_limit)
    assert canonical_digest(at_the_limit) is not None
    parse_json(json.dumps(["[{" * 400, '\\"' + "[" * 300]).encode())
    with pytest.raises(NotJson, match="deep"):
        parse_json(b"[" + at_the_limit + b"]")


@pytest.mark.parametrize("part", [b"[1],", b'[""],', b'{"a":1},'])
def test_the_depth_of_many_small_values_takes_a_few_times_the_text(part: bytes) -> None:
    data = b"[" + part * 100_000 + b"1]"
    tracemalloc.start()
    check_bounds(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(data)


def test_brackets_count_behind_any_number_of_strings() -> None:
    strings = b'"[\\"",' * 3_000
    check_bounds(b"[" + strings + b"[" * (MAX_DEPTH - 1))
    with pytest.raises(NotJson, match="deep"):
        check_bounds(b"[" + strings + b"[" * MAX_DEPTH)


NESTED = st.recursive(
    st.text(st.sampled_from('[]{}"\\\u20aca'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from('[{"\\'), max_size=3), inner),
)


def depth_of(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


@given(NESTED, st.sampled_from([1, 2, 3, 1000]), st.booleans())
def test_the_depth_is_exact_whatever_strings_hold(value: Any, marks: int, is_ascii: bool) -> None:
    data = json.dumps(value, ensure_ascii=is_ascii).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_MARKS", marks)
        check_bounds(data, max_depth=depth_of(value))
        if depth_of(value):
            with pytest.raises(NotJson, match="deep"):
                check_bounds(data, max_depth=depth_of(value) - 1)


def test_a_number_of_400_000_digits_is_refused_before_it_is_converted() -> None:
    """Converting costs the square of the digits: 4 MB of numbers just below Python's own limit took a second."""
    numbers = b"[" + b",".join([b"9" * 4_300] * 900) + b"]"

    with cpu_below(0.5):
        for body in (b"9" * 400_000, b'{"a":-%s}' % (b"1" * 1001), numbers):
            with pytest.raises(NumberTooLong, match="a number of more than 1000 digits"):
                parse_json(body)
            assert canonical_digest(body) is None
    assert parse_json(b"9" * 1000) == 10**1000 - 1
    assert parse_json(b"0." + b"1" * 400_000) == pytest.approx(1 / 9)


def test_size_is_bounded() -> None:
    check_bounds(b"[]", max_bytes=2)
    with pytest.raises(NotJson, match="3 bytes, at most 2"):
        check_bounds(b"[ ]", max_bytes=2)


def test_unterminated_string_full_of_quotes_is_examined_in_one_pass() -> None:
    """Found by this test's author: 40 kB of it once took 15 seconds."""
    hostile = b"[" * 300 + b'"' + rb"\"" * 2_000_000
    with cpu_below(10), pytest.raises(NotJson):
        check_bounds(hostile)
