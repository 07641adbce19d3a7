"""Snippets of rules as Markdown, and through what hides secrets."""

from __future__ import annotations

from publish.text.display import make_visible
from publish.text.redaction import redact_json
from publish.text.snippets import render_snippet
from scoring.engine import catalogue
from scoring.engine.snippet import Language, write_snippet
from scoring.rule_snippets import make_snippet

SHOWN = [snippet for rule in catalogue.list_rules() if (snippet := make_snippet(rule))]


def test_both_texts_stand_below_their_place() -> None:
    snippet = write_snippet(Language.JSON, "Tool in `tools/list`", before="{}", after="[]")
    before, after = "```json\n{}\n```", "```json\n[]\n```"
    assert render_snippet(snippet) == (
        f"Before, tool in `tools/list`:\n\n{before}\n\nAfter, tool in `tools/list`:\n\n{after}"
    )


def test_a_text_that_is_added_has_no_before() -> None:
    snippet = write_snippet(Language.MARKDOWN, "`README.md`", after="# Notes")
    assert render_snippet(snippet) == "After, `README.md`:\n\n```markdown\n# Notes\n```"


def test_code_blocks_in_a_snippet_do_not_end_it() -> None:
    text = render_snippet(write_snippet(Language.MARKDOWN, "`README.md`", after="```sh\nls\n```"))
    assert text.endswith("````markdown\n```sh\nls\n```\n````")


def test_nothing_in_a_snippet_is_taken_for_a_secret_or_a_hidden_character() -> None:
    texts = [text for snippet in SHOWN for text in (snippet.before, snippet.after) if text is not None]
    assert [text for text in texts if make_visible(text, multiline=True) != text] == []
    assert redact_json(texts) == texts
