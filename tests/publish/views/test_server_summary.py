"""Rows of tables: the same from receipts as from the evidence they rest on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.model import Absent, Dossier, Reason
from evidence.recorded_capture import dossier_from_capture
from publish.views.server_summary import MeasuredState, make_row_from_receipts, summarize_server
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results.scorecard import Scorecard
from tests.publish import samples

TOOL = {"name": "search", "description": "Searches the catalogue.", "inputSchema": {"type": "object"}}


def capture(tools: list[Any], errors: dict[str, Any]) -> Dossier:
    document = {
        "package": "made-up",
        "version": "1.0.0",
        "initialize": {"capabilities": {"tools": {}, "prompts": {}}, "serverInfo": {"name": "x", "version": "1"}},
        "tools": tools,
        "capture": {"errors": errors},
    }
    return dossier_from_capture(json.dumps(document).encode(), samples.AS_OF)


BROKEN = {"code": -32603, "message": "internal error"}
DOSSIERS = {
    "whole": capture([TOOL, TOOL], {}),
    "empty": capture([], {}),
    "prompts failed": capture([TOOL], {"prompts/list": BROKEN}),
    "tools failed": capture([], {"tools/list": BROKEN}),
    "locked": samples.absent_dossier(Reason.OAUTH_REQUIRED, "401"),
    "ordinary": samples.dossiers(3)[2],
}


def cards(dossier: Dossier) -> list[Scorecard]:
    newest = list({rubric.id: rubric for rubric in catalogue.list_rubrics()}.values())
    assessment = assess_dossier(dossier, newest)
    return [rubric.score(assessment) for rubric in newest]


@pytest.mark.parametrize("name", DOSSIERS)
def test_a_row_from_receipts_is_the_row_from_the_dossier(name: str) -> None:
    dossier = DOSSIERS[name]
    receipts = cards(dossier)
    from_evidence = summarize_server(dossier, receipts)
    content = dossier.read("listing")
    row = make_row_from_receipts(dossier.server, content if isinstance(content, Absent) else None, receipts)
    assert row == from_evidence


def test_tools_are_counted_also_when_another_list_failed() -> None:
    rows = {name: summarize_server(DOSSIERS[name], ()) for name in ("prompts failed", "tools failed")}

    assert {name: (row.state, row.tools) for name, row in rows.items()} == {
        "prompts failed": (MeasuredState.PARTIAL, 1),
        "tools failed": (MeasuredState.PARTIAL, None),
    }
