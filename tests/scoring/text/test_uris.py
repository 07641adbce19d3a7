"""Addresses and templates of addresses by their grammars."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.text.uris import find_uri_flaw, join_reference, list_template_flaws
from tests.sampling import examples


@pytest.mark.parametrize(
    "text",
    ["a:", "file:///x/y.txt", "mailto:a@b.test", "git+ssh://u@[::1]:22/p?q=/?#f", "urn:x:%41", "x:a//b", "h://a_b/~"],
)
def test_a_uri_has_no_flaw(text: str) -> None:
    assert find_uri_flaw(text) is None


@pytest.mark.parametrize(
    "text", ["", "x", "/x", "1a:x", "a b:x", "x: y", "x:{y}", "x:%4", "x:a#b#c", "x:[y]", "x://[y", "x:\n", "C:\\x"]
)
def test_what_is_no_uri_has_a_flaw(text: str) -> None:
    flaw = find_uri_flaw(text)
    assert flaw is not None
    assert not flaw.tolerated
    assert flaw.message.isprintable()


def test_letters_beyond_ascii_are_tolerated() -> None:
    flaw = find_uri_flaw("memo://caf\u00e9/\U0001f600")
    assert flaw is not None
    assert flaw.tolerated


@pytest.mark.parametrize(
    "text", ["", "memo://fixed", "m://{a}/{+b,c*}{#d:3}{/e.f}{;g}{?h}{&%41}", "m://{=reserved}", "m://caf\u00e9/{a_1}"]
)
def test_a_template_has_no_flaw(text: str) -> None:
    assert list(list_template_flaws(text)) == []


@pytest.mark.parametrize(
    "text", ["{", "}", "{}", "{a b}", "{a,}", "{a:0}", "{a:12345}", "{{a}}", "a b", "%4", "{a..b}"]
)
def test_what_is_no_template_has_a_flaw(text: str) -> None:
    assert any(not flaw.tolerated for flaw in list_template_flaws(text))


def test_a_hyphen_in_a_variable_is_tolerated() -> None:
    assert [flaw.tolerated for flaw in list_template_flaws("memo://{user-id}")] == [True]


@pytest.mark.parametrize("base", ["https://a.test/c/d?x=1", "https://a.test", "", "a/b"])
@pytest.mark.parametrize("reference", ["#f", "x", "/x", "//h/p", "?q", "http://z/y", "urn:q", "x/y#z"])
def test_references_mean_what_the_standard_library_says(base: str, reference: str) -> None:
    assert join_reference(base, reference) == urljoin(base, reference)


@settings(derandomize=True, max_examples=examples(200))
@given(st.text(alphabet="a:/%#?[]{}-.,+ \u00e9\ud800\n", max_size=30), st.text(max_size=8))
def test_no_text_breaks_the_grammars(text: str, other: str) -> None:
    for flaw in (find_uri_flaw(text), *list_template_flaws(text)):
        assert flaw is None or flaw.message.isprintable()
    assert isinstance(join_reference(text, other), str)


@pytest.mark.parametrize(
    "text",
    ["a" * 10**6, "{" * 10**5, "{" + "a-" * 10**5 + "}", "%" * 10**5, "/" * 10**6 + " "],
    ids=["letters", "braces", "hyphens", "percents", "slashes"],
)
def test_long_texts_take_linear_time(text: str) -> None:
    assert find_uri_flaw(f"x://{text} ") is not None
    assert list(list_template_flaws(text + "{"))
