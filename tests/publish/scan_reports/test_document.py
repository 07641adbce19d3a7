"""What `hallmark scan --json` prints is what its published schema promises."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import jsonschema_rs
import pytest

from evidence.model import Dossier
from evidence.recorded_capture import dossier_from_capture
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.schema import SCAN_SCHEMA
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from tests.publish import samples

ROOT = Path(__file__).resolve().parents[3]
CAPTURES = sorted((ROOT / "tests" / "dossiers" / "captures").glob("*.json"))
VALIDATOR = jsonschema_rs.Draft202012Validator(json.loads(json.dumps(SCAN_SCHEMA)))


def printed(dossier: Dossier, *names: str) -> dict:
    rubrics = [catalogue.get_rubric(name) for name in names] or list(catalogue.list_rubrics())
    assessment = assess_dossier(dossier, rubrics)
    return json.loads(json.dumps(make_scan_document(dossier, [rubric.score(assessment) for rubric in rubrics])))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_every_capture_is_valid_under_every_rubric(path: Path) -> None:
    VALIDATOR.validate(printed(dossier_from_capture(path.read_bytes(), samples.AS_OF)))


@pytest.mark.parametrize(
    "dossier",
    [samples.hostile_dossier(), samples.absent_dossier(samples.Reason.OAUTH_REQUIRED, "401"), samples.dossiers(1)[0]],
    ids=["hostile", "absent", "ordinary"],
)
def test_hostile_and_absent_servers_are_valid_too(dossier: Dossier) -> None:
    VALIDATOR.validate(printed(dossier))


def test_the_schema_refuses_what_it_should() -> None:
    good = printed(samples.dossiers(1)[0], "lint@1")
    for damage in ({"format": 2}, {"scorecards": None}, {"server": "x"}):
        assert not VALIDATOR.is_valid({**good, **damage})
    (card,) = good["scorecards"]
    for damage in ({"score": "71"}, {"version": 1}, {"coverage": 2}, {"lines": [{"cites": "x"}]}):
        assert not VALIDATOR.is_valid({**good, "scorecards": [{**card, **damage}]})


def test_a_locked_server_has_no_score_and_the_reason() -> None:
    (card,) = printed(samples.absent_dossier(samples.Reason.OAUTH_REQUIRED, "401"), "lint@1")["scorecards"]
    assert (card["score"], card["grade"], card["reason"]) == (None, None, "oauth_required")
    assert (card["floor"], card["ceiling"], card["coverage"]) == (0, 100, 0)


def test_the_document_has_the_shape_that_was_promised() -> None:
    capture = next(path for path in CAPTURES if path.stem == "arxiv-mcp-server")
    (card,) = printed(dossier_from_capture(capture.read_bytes(), samples.AS_OF), "lint@1")["scorecards"]
    assert (card["rubric"], card["version"], card["score"], card["grade"]) == ("lint", "1", 71, "C")
    line = next(line for line in card["lines"] if line["cites"] == "tool-long-description")
    assert (line["at"], line["points"]) == ("tools/search_papers", "-5")
    assert 100 + sum(Decimal(line["points"]) for line in card["lines"]) == card["score"]


def test_the_score_of_each_tool_is_a_member_of_its_own() -> None:
    capture = next(path for path in CAPTURES if path.stem == "arxiv-mcp-server")
    design, lint = printed(dossier_from_capture(capture.read_bytes(), samples.AS_OF), "tool_design@1", "lint@1")[
        "scorecards"
    ]
    assert (design["score"], design["grade"]) == (80, "mature")
    assert design["tools"][0] == {"name": "search_papers", "score": 49}
    assert len(design["tools"]) == int(lint["facts"]["tools"]) == 19
    assert "tools" not in lint
    assert "tools" not in design["facts"]
