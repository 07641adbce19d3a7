"""Servers are compared methodology by methodology, and only what can be compared is."""

from __future__ import annotations

from decimal import Decimal

from msgspec.structs import replace

from publish.disclosure import WITHHELD
from publish.views.comparisons.servers import compare_servers, explain_incomparable
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Line, Scorecard
from tests.publish import samples


def card(**more: object) -> Scorecard:
    return replace(samples.cards(samples.dossiers(1)[0])[1], **{"lines": (), **more})  # type: ignore[arg-type]


def line(rule: str, points: int = -5) -> Line:
    return Line(cites="X-1", points=Decimal(points), why="so", rule=rule)


def test_the_same_methodology_version_and_rules_can_be_compared() -> None:
    assert list(explain_incomparable(card(), card(score=Decimal(3)))) == []


def test_another_version_other_rules_no_score_or_thin_evidence_cannot() -> None:
    assert "lint@1" in "".join(explain_incomparable(card(), card(version=2)))
    assert "ruleset" in "".join(explain_incomparable(card(), card(versions={"ruleset": "other"})))
    assert "no score" in "".join(explain_incomparable(card(), card(score=NotMeasured("timeout", ""))))
    assert "thin" in "".join(explain_incomparable(card(), card(facts={"evidence": "thin"})))


def test_rules_that_do_not_cost_all_servers_are_listed() -> None:
    left = card(lines=(line("tool-description-missing"), line("tool-description-missing"), line("param-type-missing")))
    right = card(lines=(line("param-type-missing"), line("tool-title-missing", 0)))
    third = card(lines=(*left.lines, line("tool-title-missing")))
    (found,) = compare_servers([[left], [right], [third]])
    named = [[(fault.rule, fault.times) for fault in faults] for faults in found.own_faults]
    missing = ("tool-description-missing", 2)
    assert named == [[missing], [], [missing, ("tool-title-missing", 1)]]
    assert found.shared == 1


def test_a_withheld_line_names_no_rule() -> None:
    (found,) = compare_servers([[card(lines=(line(WITHHELD),))], [card()]])
    assert found.own_faults == ((), ())


def test_a_methodology_that_only_one_has_is_there_without_the_other() -> None:
    (found,) = compare_servers([[card()], []])
    assert found.cards[1] is None
    assert found.obstacles == ("one of them has no receipt",)


def test_the_newest_version_is_compared() -> None:
    (found,) = compare_servers([[card(), card(version=2)], [card(version=2)]])
    assert [one.version for one in found.cards if one] == [2, 2]
    assert found.obstacles == ()
