"""A value that we sent in confidence does not come back, in whatever spelling and in however many pieces."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.redaction import MASK, Redaction
from tests.durations import cpu_below
from tests.sampling import some

SECRET = 'p"ss/wörd&<1234>'
SECRETS = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="\\"), min_size=8, max_size=40
)


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        "".join(f"\\u{ord(letter):04X}" for letter in SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        html.escape(SECRET),
        "".join(f"&#{ord(letter)};" for letter in SECRET),
        "".join(f"&#x{ord(letter):x};" for letter in SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
    ],
    ids=range(12),
)
def test_every_common_spelling_is_replaced(spelled: str) -> None:
    cleaned = Redaction([SECRET]).clean_text(f"before {spelled} after")
    assert cleaned.removesuffix("= after").removesuffix(" after") == f"before {MASK}"


def test_headers_are_cleaned_in_name_and_value() -> None:
    cleaned = Redaction(["abcdefgh"]).clean_headers([("x-abcdefgh", "1"), ("location", "/?t=abcdefgh")])
    assert cleaned == ((f"x-{MASK}", "1"), ("location", f"/?t={MASK}"))


def test_of_two_secrets_the_longer_is_replaced_whole() -> None:
    assert Redaction(["abcdefgh", "abcdefghijkl"]).clean(b"abcdefghijkl") == MASK.encode()


def test_without_secrets_nothing_changes() -> None:
    stream = Redaction().stream()
    assert (stream.feed(b"a\nb"), stream.finish(), bool(Redaction())) == (b"a\nb", b"", False)


def test_the_secret_is_not_shown() -> None:
    assert SECRET not in repr(Redaction([SECRET]))


@given(SECRETS, st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(1, 20), max_size=12))
def test_pieces_are_cleaned_like_the_whole(secret: str, before: bytes, after: bytes, cuts: list[int]) -> None:
    whole = before + secret.encode() + b"\n" + after + secret.encode() + b"\r" + before
    stream, released, rest = Redaction([secret]).stream(), b"", whole
    for cut in cuts:
        released += stream.feed(rest[:cut])
        rest = rest[cut:]
    released += stream.feed(rest) + stream.finish()
    assert secret.encode() not in released
    assert released == Redaction([secret]).clean(whole)


def test_a_finished_line_is_released_at_once() -> None:
    stream = Redaction(["abcdefgh"]).stream()
    assert stream.feed(b'data: {"a": 1}\n\nda') == b'data: {"a": 1}\n\n'
    assert stream.feed(b"ta: abcd") + stream.feed(b"efgh") == b""
    assert stream.feed(b"\n") == b"data: " + MASK.encode() + b"\n"


def test_json_within_json_is_cleaned_too() -> None:
    spelled = json.dumps(json.dumps(json.dumps(SECRET)))
    assert "1234" not in Redaction([SECRET]).clean_text(spelled)


@pytest.mark.parametrize("letter", some(["a", "%", '"', "/", "&"], 2))
def test_time_is_linear(letter: str) -> None:
    redaction = Redaction([letter * 40 + "b", letter * 7 + "b"])
    spellings = [letter, "\\", f"\\u{ord(letter):04x}", f"%{ord(letter):02x}", f"&#x00{ord(letter):x};", "%25", "&amp;"]
    with cpu_below(20):
        for spelling in spellings:
            redaction.clean_text(spelling * (200_000 // len(spelling)))
