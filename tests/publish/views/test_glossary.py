"""The glossary defines each term in plain words, and pages link to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from publish.site.templates import environment
from publish.views.glossary import GLOSSARY, anchor, define

TEMPLATES = Path(__file__).parents[3] / "publish" / "site"
USED = re.compile(r"""\bterm\(["']([^"']+)["']""")
CLOSED = re.compile(r"<(a|button|caption|h[1-6]|label|legend|summary|th)\b[^>]*>(?:(?!</\1>).)*?\bterm\(", re.DOTALL)


def test_each_definition_is_one_to_three_short_sentences() -> None:
    for term, meaning in GLOSSARY.items():
        assert meaning.endswith("."), term
        assert len(meaning) <= 200, term
        assert all(len(sentence.split()) <= 30 for sentence in meaning.split(". ")), term
    assert len({anchor(term) for term in GLOSSARY}) == len(GLOSSARY)


def test_pages_explain_terms_that_the_glossary_has() -> None:
    used = {term for path in TEMPLATES.glob("*.j2") for term in USED.findall(path.read_text(encoding="utf-8"))}
    assert len(used) >= 30
    assert used <= GLOSSARY.keys()


def test_no_term_is_in_a_heading_a_link_or_a_control() -> None:
    assert CLOSED.search('<h2 id="x">The {{ term("x") }}</h2>')
    assert not CLOSED.search('<h2>Score</h2><p>{{ term("x") }}</p>')
    broken = {path.name for path in TEMPLATES.glob("*.j2") if CLOSED.search(path.read_text(encoding="utf-8"))}
    assert not broken


def test_a_term_is_a_link_with_its_meaning_as_a_tip() -> None:
    shown = environment().from_string("{{ term('dimension', 'dimensions') }}").render()
    assert shown.startswith('<a class="term" href="/glossary#dimension" title="A part of the score')
    assert shown.endswith(">dimensions</a>")


def test_an_unknown_term_is_an_error() -> None:
    with pytest.raises(KeyError):
        define("no such term")
