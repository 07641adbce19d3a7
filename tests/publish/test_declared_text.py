"""The texts of all declarations can be laid out, and nothing of them is lost."""

from __future__ import annotations

import re

from publish.declared_text import Shape, blocks, inline
from publish.rubric_pages import formula
from scoring import catalogue

TEXT = """First `one`
goes on.

- An item with `code`
  of two lines.
- Another one.

    score = 10 x
    (a + b)

A lone ` stays."""


def test_paragraphs_lists_and_code_are_told_apart() -> None:
    found = blocks(TEXT)
    assert [block.shape for block in found] == [Shape.PARAGRAPH, Shape.LIST, Shape.CODE, Shape.PARAGRAPH]
    assert found[0].lines == ((("First ", False), ("one", True), (" goes on.", False)),)
    assert found[1].lines == (
        (("An item with ", False), ("code", True), (" of two lines.", False)),
        (("Another one.", False),),
    )
    assert found[2].lines == ((("score = 10 x\n(a + b)", True),),)
    assert found[3].lines == ((("A lone ` stays.", False),),)


def test_every_declared_text_keeps_its_words() -> None:
    texts = [rule.rationale for rule in catalogue.rules()]
    texts += ["\n".join(formula(rubric)) for rubric in catalogue.rubrics()]
    for text in texts:
        kept = " ".join(piece for block in blocks(text) for line in block.lines for piece, _ in line)
        assert re.findall(r"\w+", kept) == re.findall(r"\w+", text)


def test_an_empty_line_has_no_pieces() -> None:
    assert inline("") == ()
    assert blocks("") == ()
