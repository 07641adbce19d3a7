"""A rule, rubric or the engine cannot change its answers without a new version."""

from __future__ import annotations

import textwrap

from scoring.engine.fingerprint import source_fingerprint
from tests.architecture.rules_lock import advice, committed, current, unbumped

RULE = '''
@rule("tool-bad", title="Bad", version=1, good=[tool()], bad=[tool(name="x")])
def tool_bad(tool, minimum=20):
    """Why."""
    if len(tool.name) < minimum:
        yield "short"
'''


def test_no_answer_changes_without_a_new_version() -> None:
    keys = unbumped(committed(), current())
    assert keys == [], advice(keys)


def test_the_lock_names_what_there_is() -> None:
    assert committed() == current(), "run `python -m tests.architecture.rules_lock --write`"


def test_a_forgotten_version_is_noticed() -> None:
    before = {"rule a-b": {"version": 1, "fingerprint": "aa"}, "rule gone": {"version": 1, "fingerprint": "cc"}}
    assert unbumped(before, {"rule a-b": {"version": 1, "fingerprint": "bb"}}) == ["rule a-b"]
    assert unbumped(before, {"rule a-b": {"version": 2, "fingerprint": "bb"}}) == []


def test_layout_words_and_examples_do_not_change_a_fingerprint() -> None:
    reworded = (
        textwrap.dedent(RULE).replace("Why.", "Because.").replace('"Bad"', '"Worse"').replace("version=1", "version=2")
    )
    assert source_fingerprint([reworded + "\n\n# a comment"]) == source_fingerprint([RULE])
    assert source_fingerprint([RULE.replace("good=[tool()]", "good=[tool(), tool()]")]) == source_fingerprint([RULE])


def test_code_parameters_and_messages_change_a_fingerprint() -> None:
    for old, new in (
        ("minimum=20", "minimum=21"),
        ("<", "<="),
        ('"short"', '"too short"'),
        ("tool.name", "tool.title"),
    ):
        assert source_fingerprint([RULE.replace(old, new)]) != source_fingerprint([RULE])
