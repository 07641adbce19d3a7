"""Examples of rules are JSON for people who do not know Python."""

from __future__ import annotations

import json
import re

from publish.views.rubrics import format_value
from scoring import rule_examples
from scoring.engine.rule import discover_rules

PYTHON = re.compile(r"\b(True|False|None)\b|\bobject at 0x|mappingproxy|\b[A-Z][A-Za-z]+\([a-z_]*=|\(\'")


def test_no_example_shows_a_python_value() -> None:
    for rule in discover_rules().values():
        for example in (*rule_examples.list_good_examples(rule), *rule_examples.list_bad_examples(rule)):
            texts = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: "" if "(" not in found[0] else found[0], example)
            assert not PYTHON.search(texts), (rule.id, example)


def test_examples_that_are_not_cut_are_json() -> None:
    known = [example for rule in discover_rules().values() for example in rule_examples.list_good_examples(rule)]
    whole = [example for example in known if len(example) < rule_examples.MAX_LENGTH and "\\u{" not in example]
    assert len(whole) > len(known) * 0.8
    for example in whole:
        json.loads(example)


def test_parameters_of_rules_are_json_values() -> None:
    assert [format_value(value) for value in (True, False, 20, "x", ("a", "b"))] == [
        "`true`",
        "`false`",
        "`20`",
        "`x`",
        "`a`, `b`",
    ]
