from __future__ import annotations

import unicodedata

import pytest

from publish.text.display import make_visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x07", "⟨U+001B⟩[31mred⟨U+0007⟩"),
        ("abc\u202edcba", "abc⟨U+202E⟩dcba"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("hangul\u3164filler", "hangul⟨U+3164⟩filler"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("\u009b31m", "⟨U+009B⟩31m"),
        ("line\nend\ttab", "line end tab"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@pytest.mark.parametrize("text", ["می\u200cخواهم", "👩\u200d🔬", "é ü 漢字 ❤️"])
def test_ordinary_writing_is_left_alone(text: str) -> None:
    assert make_visible(text) == text


def test_no_character_of_a_hidden_category_comes_through() -> None:
    everything = "".join(map(chr, range(0x3000))) + "\u3164\ufeff\ufff9\U000e0001"
    hidden = {unicodedata.category(character) for character in make_visible(everything, limit=10**6)}
    assert hidden.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def test_a_long_text_says_what_was_cut() -> None:
    assert make_visible("x" * 3000, limit=1000) == "x" * 1000 + "… (2,000 more characters)"


def test_prose_keeps_its_lines() -> None:
    assert make_visible("a\r\nb\nc\rd", multiline=True) == "a\nb\nc d"
