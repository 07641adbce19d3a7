"""Rows of tables: the same from receipts as from the evidence they rest on."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from evidence.kinds.capture import dossier_from_capture
from evidence.model import Absent, Dossier, Reason
from publish.overview import Overview, State, row_of_cards
from scoring import catalogue, receipt
from scoring.assess import assess
from scoring.scorecard import Scorecard
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
    "locked": samples.absent_dossier(Reason.OAUTH_REQUIRED, "401"),
    "ordinary": samples.dossiers(3)[2],
}


def cards(dossier: Dossier) -> list[Scorecard]:
    newest = list({rubric.id: rubric for rubric in catalogue.rubrics()}.values())
    assessment = assess(dossier, newest)
    return [rubric.score(assessment) for rubric in newest]


@pytest.mark.parametrize("name", DOSSIERS)
def test_a_row_from_receipts_is_the_row_from_the_dossier(name: str) -> None:
    dossier = DOSSIERS[name]
    receipts = cards(dossier)
    from_evidence = Overview().add(dossier, receipts)
    content = dossier.read("listing")
    heads = [receipt.decode_head(receipt.encode(card)) for card in receipts]
    row = row_of_cards(dossier.server, content if isinstance(content, Absent) else None, heads)
    if from_evidence.state is State.PARTIAL:
        assert (row.state, row.tools) == (State.PARTIAL, None)
    else:
        assert row == from_evidence


def test_a_head_is_the_receipt_without_its_parts() -> None:
    for card in cards(DOSSIERS["ordinary"]):
        head = receipt.decode_head(receipt.encode(card))
        assert (head.lines, head.dimensions) == ((), ())
        assert (head.score, head.floor, head.coverage, head.facts) == (
            card.score,
            card.floor,
            card.coverage,
            card.facts,
        )
        assert isinstance(head.floor, Decimal)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"null", b'{"lines": 1}', b"\xff"])
def test_a_head_of_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(receipt.NotAReceipt):
        receipt.decode_head(data)
