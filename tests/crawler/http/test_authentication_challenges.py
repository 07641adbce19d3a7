"""WWW-Authenticate is read by the grammar of RFC 9110, whatever a server puts into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.authentication_challenges import (
    MAX_CHALLENGES,
    MAX_HEADER_BYTES,
    MAX_PARAMETERS,
    Challenge,
    parse_challenges,
)
from tests.durations import cpu_below

Shape = list[tuple[str, str, dict[str, str]]]


def shape(*values: str) -> Shape:
    return [(one.scheme, one.token68, dict(one.parameters)) for one in parse_challenges(values)]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer", [("bearer", "", {})]),
        ('Bearer realm="notes", scope="read write"', [("bearer", "", {"realm": "notes", "scope": "read write"})]),
        ("BEARER Scope=read , REALM = x", [("bearer", "", {"scope": "read", "realm": "x"})]),
        ("Negotiate dG9rZW4=", [("negotiate", "dG9rZW4=", {})]),
        ("Negotiate dG9rZW4==, Basic realm=a", [("negotiate", "dG9rZW4==", {}), ("basic", "", {"realm": "a"})]),
        ("NTLM, Negotiate", [("ntlm", "", {}), ("negotiate", "", {})]),
        (
            'Basic realm="simple", Bearer scope="a, b"',
            [("basic", "", {"realm": "simple"}), ("bearer", "", {"scope": "a, b"})],
        ),
        (r'Bearer realm="say \"hi\", \\ bye"', [("bearer", "", {"realm": r'say "hi", \ bye'})]),
        (
            'Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"',
            [
                ("newauth", "", {"realm": "apps", "type": "1", "title": 'Login to "apps"'}),
                ("basic", "", {"realm": "simple"}),
            ],
        ),
        (', ,Basic realm="a",, ,Bearer,', [("basic", "", {"realm": "a"}), ("bearer", "", {})]),
        ('Bearer realm=""', [("bearer", "", {"realm": ""})]),
    ],
)
def test_challenges_are_read_as_the_grammar_has_them(header: str, expected: Shape) -> None:
    assert shape(header) == expected


def test_several_headers_are_several_lists() -> None:
    assert [one.scheme for one in parse_challenges(['Basic realm="a", Bearer', 'DPoP algs="ES256"', ""])] == [
        "basic",
        "bearer",
        "dpop",
    ]


def test_a_parameter_inside_a_quoted_value_is_part_of_the_value() -> None:
    [bearer] = parse_challenges(['Bearer error_description="need scope=admin", scope="read"'])
    assert bearer.get("scope") == "read"


def test_a_parameter_whose_name_ends_alike_is_another_parameter() -> None:
    [bearer] = parse_challenges(['Bearer x_scope="no", scope="yes"'])
    assert bearer.get("scope") == "yes"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('Bearer realm="a" scope="b"', [("bearer", "", {"realm": "a", "scope": "b"})]),  # a comma is missing
        (
            "Bearer resource_metadata=https://a.example/x?y=z, scope=r",
            [
                ("bearer", "", {"resource_metadata": "https://a.example/x?y=z", "scope": "r"}),
            ],
        ),
        ('scope="lost", Bearer scope="kept"', [("bearer", "", {"scope": "kept"})]),
        ('Bearer "a, b" c=d, Basic realm=x', [("bearer", "", {}), ("basic", "", {"realm": "x"})]),
        ('Bearer realm="never closed, scope=x', [("bearer", "", {"realm": "never closed, scope=x"})]),
        ("Bearer scope=a, scope=b", [("bearer", "", {"scope": "a"})]),
    ],
)
def test_what_breaks_the_grammar_does_not_hide_the_rest(header: str, expected: Shape) -> None:
    assert shape(header) == expected


TOKEN = st.text("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+.^_`|~-", min_size=1, max_size=8)
VALUE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=20)
PARAMETERS = st.dictionaries(TOKEN, VALUE, min_size=1, max_size=4)
TOKEN68 = st.from_regex(r"[A-Za-z0-9._~+/-]{1,20}={0,2}", fullmatch=True)


@st.composite
def challenges(draw: st.DrawFn) -> Challenge:
    scheme = draw(TOKEN)
    kind = draw(st.sampled_from(["bare", "token68", "parameters"]))
    if kind == "token68":
        return Challenge(scheme, token68=draw(TOKEN68))
    return Challenge(scheme, parameters=tuple(draw(PARAMETERS).items()) if kind == "parameters" else ())


def quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(challenge: Challenge) -> str:
    parameters = ", ".join(f"{name}={quoted(value)}" for name, value in challenge.parameters)
    return f"{challenge.scheme} {challenge.token68}{parameters}".rstrip(" " if not parameters else "")


@given(st.lists(challenges(), max_size=4), st.booleans())
def test_what_is_written_is_read_back(known: list[Challenge], together: bool) -> None:
    values = [written(challenge) for challenge in known]
    assert parse_challenges([", ".join(values)] if together else values) == tuple(known)


@given(st.lists(st.text(max_size=60) | st.text('Bearer=",\\ az', max_size=60), max_size=4))
def test_no_text_raises_and_names_are_in_small_letters(values: list[str]) -> None:
    for challenge in parse_challenges(values):
        assert challenge.scheme == challenge.scheme.lower() != ""
        assert all(name == name.lower() for name, _ in challenge.parameters)


@pytest.mark.parametrize(
    "unit", ['"', "a=", 'a="', "\\", "a ", ",", "a,", '="', 'x a="b" ', "a", "=", '\\"', 'a b="c', "a=b   ", "é"]
)
def test_time_is_linear_in_the_length(unit: str) -> None:
    value = 'Bearer x="' + unit * (4 * MAX_HEADER_BYTES // len(unit))
    with cpu_below(3):
        for _ in range(3):
            parse_challenges([value])
            parse_challenges([value[8:]])


def test_numbers_and_bytes_are_capped() -> None:
    assert len(parse_challenges(["a, " * 1000])) == MAX_CHALLENGES
    [many] = parse_challenges(["Bearer " + ", ".join(f"a{index}=b" for index in range(1000))])
    assert len(many.parameters) == MAX_PARAMETERS
    assert parse_challenges([" " * MAX_HEADER_BYTES + "Bearer"]) == ()
    assert parse_challenges([" " * (MAX_HEADER_BYTES // 2)] * 2 + ["Bearer"]) == ()
