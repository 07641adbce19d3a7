"""Each check of the security lane is one rule or more, counts in the default score, and is explained by its id."""

from __future__ import annotations

import pytest

from scoring.engine import catalogue
from scoring.explain import explain_citation, list_published_ids


@pytest.mark.parametrize("number", range(1, 10))
def test_a_check_of_the_security_lane_is_explained_beside_others_of_that_id(number: int) -> None:
    name = f"SEC-00{number}"
    assert name in list_published_ids()
    explanations = [
        each for each in explain_citation(name.lower()) if f"check {name} of the security lane" in each.summary
    ]
    assert explanations
    for each in explanations:
        assert each.sections[0].heading == "Charged by"
        assert any("adaptive@1" in line for line in each.sections[0].lines)


def test_poisoning_is_judged_by_the_whole_lane() -> None:
    security = next(part for part in catalogue.get_rubric("adaptive").dimensions if part.name == "security")
    poisoning = next(part for part in security.components if part.name == "poisoning")
    asked = [criterion.declared.rationale for check in poisoning.checks for criterion in check.criteria]
    assert all(sum(f"check SEC-00{number} of" in rationale for rationale in asked) == 1 for number in range(1, 10))
    grave, *light = poisoning.checks
    assert grave.weight == 9 * sum(check.weight for check in light), "one grave sign costs nine tenths"
