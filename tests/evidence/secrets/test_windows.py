"""Where a rule may match is the same however its anchors are looked for."""

from __future__ import annotations

from evidence.derive.secrets import build_own_rules
from evidence.derive.secrets.match_windows import Anchors
from evidence.patterns.secrets import PATTERNS
from evidence.patterns.secrets.samples import write_sample

RULES = build_own_rules().rules
TEXT = "\n".join(write_sample(template) for one in PATTERNS for template in (*one.bad, *one.good)).encode()


def test_a_rule_by_itself_has_the_windows_that_it_has_among_all() -> None:
    anchors = Anchors(RULES)
    everything = anchors.windows(TEXT)
    assert len(everything) == len(RULES)
    assert {order: anchors.windows(TEXT, {order})[order] for order in everything} == everything


def test_some_rules_have_the_windows_that_they_have_among_all() -> None:
    some = set(range(0, len(RULES), 7))
    anchors = Anchors(RULES)
    everything = anchors.windows(TEXT)
    assert anchors.windows(TEXT, some) == {order: everything[order] for order in sorted(some)}


def test_no_rule_has_no_window() -> None:
    assert Anchors(RULES).windows(TEXT, set()) == Anchors(()).windows(TEXT) == {}
