"""The texts of all declarations can be laid out, and nothing of them is lost."""

from __future__ import annotations

import re

from publish.text.markup import BlockShape, parse_blocks, parse_inline
from publish.views.rubrics import describe_formula
from scoring.engine import catalogue

TEXT = """First `one`
goes on.

- An item with `code`
  of two lines.
- Another one.

    score = 10 x
    (a + b)

A lone ` stays."""


def test_paragraphs_lists_and_code_are_distinguished() -> None:
    found = parse_blocks(TEXT)
    assert [block.shape for block in found] == [
        BlockShape.PARAGRAPH,
        BlockShape.LIST,
        BlockShape.CODE,
        BlockShape.PARAGRAPH,
    ]
    assert found[0].lines == ((("First ", False), ("one", True), (" goes on.", False)),)
    assert found[1].lines == (
        (("An item with ", False), ("code", True), (" of two lines.", False)),
        (("Another one.", False),),
    )
    assert found[2].lines == ((("score = 10 x\n(a + b)", True),),)
    assert found[3].lines == ((("A lone ` stays.", False),),)


def test_every_declared_text_keeps_its_words() -> None:
    texts = [rule.rationale for rule in catalogue.list_rules()]
    texts += ["\n".join(describe_formula(rubric)) for rubric in catalogue.list_rubrics()]
    for text in texts:
        kept = " ".join(piece for block in parse_blocks(text) for line in block.lines for piece, _ in line)
        assert re.findall(r"\w+", kept) == re.findall(r"\w+", text)


def test_an_empty_line_has_no_pieces() -> None:
    assert parse_inline("") == ()
    assert parse_blocks("") == ()
