"""Every rule's own examples, and what a declaration has to have."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from scoring.engine import catalogue
from scoring.engine.assess import ask_rule
from scoring.engine.rule import InvalidRule, Rule, discover_rules, rule
from scoring.example_builders.listing import build_param, build_tool
from scoring.protocol import conformance
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.base import Tool


@pytest.mark.parametrize("declared", catalogue.list_rules(), ids=lambda declared: declared.id)
def test_bad_examples_have_findings_good_ones_none_and_unjudged_ones_no_verdict(declared: Rule) -> None:
    assert [index for index, example in enumerate(declared.good) if ask_rule(declared, example, "digest")] == []
    for index, example in enumerate(declared.bad):
        findings = ask_rule(declared, example, "digest")
        assert findings, f"bad example {index}"
        assert all(finding.rule == declared.id and finding.message for finding in findings), f"bad example {index}"
    for example in declared.unjudged:
        with pytest.raises((Inapplicable, Undecided)):
            ask_rule(declared, example, "digest")


def test_the_checks_of_the_protocol_have_ids_of_their_own() -> None:
    ids = [check.requirement.id for check in conformance.list_checks()]
    assert len(ids) == len(set(ids))


def test_a_rule_lives_in_a_file_of_its_name_in_a_described_family() -> None:
    rules = catalogue.list_rules()
    assert [one.id for one in rules if one.module.rpartition(".")[2] != one.id.replace("-", "_")] == []
    families = {one.family for one in rules}
    assert {name for name in families if not importlib.import_module(f"scoring.rules.{name}").__doc__} == set()


def test_every_rule_is_cited() -> None:
    cited = {criterion.rule for rubric in catalogue.list_rubrics() for criterion in rubric.criteria}
    assert {declared.id for declared in catalogue.list_rules()} == cited, "cite it in a rubric: ARCHITECTURE.md"


def declare(**changes: Any) -> Rule:
    def judge(tool: Tool, minimum: int = 1) -> Iterator[str]:
        """Because."""
        if len(tool.name) < minimum:
            yield "short"

    defaults: dict[str, Any] = {
        "scope": Tool,
        "reads": "listing",
        "severity": Severity.INFO,
        "title": "A title",
        "remedy": "Name the tool by a verb and the thing that it acts on.",
        "since": "2026.1",
        "version": 1,
        "good": [build_tool()],
        "bad": [build_tool(name="")],
    }
    function = changes.pop("judge", judge)
    return rule(changes.pop("rule_id", "tool-example"), **{**defaults, **changes})(function)


def test_a_complete_declaration_is_accepted() -> None:
    declared = declare()
    assert (declared.rationale, dict(declared.params)) == ("Because.", {"minimum": 1})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"good": []}, "one good and one bad"),
        ({"bad": []}, "one good and one bad"),
        ({"title": ""}, "no title"),
        ({"remedy": ""}, "the remedy is not"),
        ({"remedy": "Name the tool by a verb and the thing that it acts on"}, "the remedy is not"),
        ({"remedy": "Name the tool by a verb. " * 10 + "End."}, "the remedy is not"),
        ({"rule_id": "Tool_Example"}, "kebab-case"),
        ({"rule_id": "tool"}, "two words"),
        ({"reads": "registration"}, "comes from 'listing'"),
        ({"good": [build_param()]}, "an example is a Param"),
        ({"version": 0}, "versions start at 1"),
        ({"judge": lambda tool: iter(())}, "no docstring"),
        ({"judge": lambda: iter(())}, "takes no argument"),
        ({"judge": lambda tool, minimum: iter(())}, "minimum has no default"),
    ],
)
def test_an_incomplete_declaration_raises_at_once(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidRule, match=complaint):
        declare(**changes)


def test_a_rubric_cannot_cite_a_parameter_that_a_rule_does_not_have() -> None:
    with pytest.raises(InvalidRule, match="has no parameter maximum"):
        discover_rules()["tool-description-short"].with_defaults({"maximum": 3})


def test_defaults_are_part_of_the_question() -> None:
    short = discover_rules()["tool-description-short"]
    assert short.with_defaults({}) == short.with_defaults({"minimum": 20})
