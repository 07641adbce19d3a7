"""A fault that many tools share is one group with its count and total."""

from __future__ import annotations

from decimal import Decimal

from publish.views.line_groups import group_lines
from scoring.engine.rule import discover_rules
from scoring.results.scorecard import Line

RULE = "param-description-missing"


def line(at: str, why: str = "no description", rule: str | None = RULE, points: str = "-0.5") -> Line:
    return Line(cites="documentation.schemas", points=Decimal(points), why=why, rule=rule, at=at)


def test_lines_of_a_rule_are_one_group_with_count_and_total() -> None:
    first, second = group_lines([line("tools/a/x"), line("tools/b", rule="tool-title-missing"), line("tools/a/y")])
    assert (first.rule, first.places, first.points, first.why) == (
        RULE,
        2,
        Decimal("-1.0"),
        "no description",
    )
    assert (second.rule, second.places) == ("tool-title-missing", 1)


def test_different_messages_are_grouped_under_the_title_of_the_rule() -> None:
    (group,) = group_lines([line("tools/a/x"), line("tools/a/y", "only blanks")])
    declared = discover_rules()[RULE]
    assert group.why == declared.title
    assert group.remedy == declared.remedy


def test_lines_without_a_rule_stay_apart_and_no_point_is_lost() -> None:
    lines = [line("", rule=None, points="25"), line("", rule=None, points="10"), line("tools/a")]
    groups = group_lines(lines)
    assert [group.rule for group in groups] == [None, None, RULE]
    assert sum(group.points for group in groups) == sum(one.points for one in lines)
