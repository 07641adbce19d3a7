"""What fixing something brings is what the rubric says when it is fixed: clamps, bonus and redistribution included."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evidence.model import Reason
from evidence.recorded_capture import dossier_from_capture
from publish.views.server_summary import receipt_lines
from scoring import remedy
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.explain import explain_citation, explain_fix_plan, explain_rule, list_published_ids
from scoring.remedy import FixPlan, plan_fixes
from scoring.rule_snippets import make_snippet
from tests.publish import samples
from tests.sampling import some

CAPTURES = sorted((Path(__file__).parents[1] / "dossiers" / "captures").glob("*.json"))
WELL = "Searches the catalogue by words in the title."


def judged(tools: list[dict[str, Any]], rubric: str = "lint@1") -> FixPlan:
    capture = {
        "package": "made-up",
        "version": "1.0.0",
        "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": "made-up", "version": "1.0.0"}},
        "tools": tools,
    }
    found = catalogue.get_rubric(rubric)
    dossier = dossier_from_capture(json.dumps(capture).encode(), samples.AS_OF)
    return plan_fixes(assess_dossier(dossier, [found]), found)


def tool(name: str, **members: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}, "required": []}
    return {"name": name, "description": WELL, "inputSchema": schema, **members}


def test_a_finding_under_the_clamp_brings_nothing_alone_and_much_together() -> None:
    outlook = judged([tool(f"search_{number}", description="") for number in range(12)])
    (missing,) = [found for found in outlook.remedies if found.rule == "tool-description-missing"]
    assert outlook.card.score == 0
    assert {spot.alone.points for spot in missing.spots if spot.alone} == {Decimal(0)}
    assert missing.gain.points == 100
    assert (missing.gain.score, missing.gain.grade) == (100, "A")


def test_the_bonus_counts_with_the_last_description() -> None:
    outlook = judged([tool("search"), tool("find", description="Finds one thing", inputSchema=None)])
    (short,) = [found for found in outlook.remedies if found.rule == "tool-description-short"]
    assert short.gain.points == 5, "no line charges for 15 characters, but the bonus asks for 20"


@pytest.mark.parametrize("rubric", ["lint@1", "adaptive@1"])
@pytest.mark.parametrize("path", some(CAPTURES[:6], 3), ids=lambda path: path.stem)
def test_fixing_everything_leaves_nothing_to_fix(path: Path, rubric: str) -> None:
    found = catalogue.get_rubric(rubric)
    outlook = plan_fixes(assess_dossier(dossier_from_capture(path.read_bytes(), samples.AS_OF), [found]), found)
    assert outlook.everything is not None
    assert outlook.everything.score == 100
    assert remedy.exact_score(outlook.card) + outlook.everything.points == 100
    gains = [part.gain.points for part in outlook.remedies]
    assert gains == sorted(gains, reverse=True)
    assert all(gain >= 0 for gain in gains)


def test_small_gains_survive_the_rounding_of_the_score() -> None:
    outlook = judged([tool(f"search_{number}") for number in range(60)], "adaptive@1")
    alone = [spot.alone.points for part in outlook.remedies for spot in part.spots if spot.alone]
    assert any(0 < points < Decimal("0.5") for points in alone)


def test_many_places_are_weighed_up_to_a_bound() -> None:
    outlook = judged([tool(f"search_{number}", description="") for number in range(150)])
    (missing,) = [found for found in outlook.remedies if found.rule == "tool-description-missing"]
    weighed = [spot for part in outlook.remedies for spot in part.spots if spot.alone]
    assert (len(missing.spots), len(weighed)) == (150, remedy.MAX_PLACES)


def test_a_server_without_a_score_has_nothing_to_gain() -> None:
    lint = catalogue.get_rubric("lint@1")
    locked = samples.absent_dossier(Reason.OAUTH_REQUIRED)
    outlook = plan_fixes(assess_dossier(locked, [lint]), lint)
    assert (outlook.remedies, outlook.everything) == ((), None)
    assert "no score" in explain_fix_plan(outlook).summary


def test_words_name_place_change_and_points() -> None:
    text = str(explain_fix_plan(judged([tool("search", description="")])))
    assert "+15 points (to 100, grade A) for one place: Tool has no description" in text
    assert "(+15) tools/search" in text
    assert "After: Tool in `tools/list`\n    {" in text


def test_every_rule_is_explained_with_an_example_of_each_kind() -> None:
    for rule in catalogue.list_rules():
        headings = {section.heading: section.lines for section in explain_rule(rule.id).sections}
        assert headings["Good"]
        assert headings["Bad"]
        assert all(len(line) <= 400 and "object at 0x" not in line for line in headings["Good"] + headings["Bad"])


def test_a_rule_is_explained_with_its_snippet() -> None:
    for rule in catalogue.list_rules():
        sections = [(section.heading, "\n".join(section.lines)) for section in explain_rule(rule.id).sections]
        snippet = make_snippet(rule)
        shown = {text for heading, text in sections if heading.startswith(("Before: ", "After: "))}
        assert shown == (set(filter(None, (snippet.before, snippet.after))) if snippet else set())


def test_a_published_id_leads_to_its_rule_and_price() -> None:
    (explanation,) = explain_citation("TOOL-no-description")
    assert "tool-description-missing" in explanation.title
    assert any("lint@1" in line and "15 points" in line for line in explanation.sections[0].lines)
    with pytest.raises(LookupError, match="no rubric cites"):
        explain_citation("SEC-999")


def test_every_id_on_a_receipt_is_explained() -> None:
    (path,) = [path for path in CAPTURES if path.stem == "arxiv-mcp-server"]
    assessment = assess_dossier(dossier_from_capture(path.read_bytes(), samples.AS_OF))
    own = {"rounding", "scale", "clamp", "empty", "floor", "server-grade-f", "grade", "description", "schema"}
    for rubric in catalogue.list_rubrics():
        for cites in {line.cites for line in receipt_lines(rubric.score(assessment))}:
            assert cites in list_published_ids() | own, f"{rubric.name} cites {cites}"
            assert cites in own or explain_citation(cites)
    explanation, *_ = explain_citation("documentation.descriptions")
    assert "tool-description-missing" in str(explanation)
