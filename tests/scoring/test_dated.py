"""A score that depends on its date is declared so, because all others are copied from one night to the next."""

from __future__ import annotations

import ast
import json
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

import scoring
from evidence.model import Absent, Dossier, Reason
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.receipt import NotAReceipt, encode_scorecard, replace_moment
from tests.dossiers import AS_OF, captures, cases
from tests.sampling import some
from tests.scoring.dossiers import GOOD_TOOL, dossier, entered, listed

DOSSIERS = {
    **captures(),
    **cases(),
    "locked": dossier(listed=Absent(Reason.OAUTH_REQUIRED, "401"), registered=entered({})),
    "nothing": dossier(),
    "astral": dossier(listed=listed({**GOOD_TOOL, "name": "\U0001f600"}, {**GOOD_TOOL, "name": "\uffee"})),
}
YEARS_LATER = AS_OF + timedelta(days=1000, microseconds=7)

# Modules that may read the date of a dossier: a rubric that comes to depend on one of them has to be `dated`.
DATED_MODULES: set[str] = {"scopes/project.py"}


def bodies(evidence: Dossier) -> dict[str, bytes]:
    assessment = assess_dossier(evidence)
    return {rubric.name: encode_scorecard(rubric.score(assessment)) for rubric in catalogue.list_rubrics()}


@pytest.mark.parametrize("name", some(DOSSIERS, 40, besides=["locked", "nothing", "astral"]))
def test_a_card_of_another_date_is_what_scoring_anew_gives(name: str) -> None:
    evidence = DOSSIERS[name]
    undated = {rubric.name for rubric in catalogue.list_rubrics() if not rubric.dated}
    before, after = bodies(evidence), bodies(replace(evidence, as_of=YEARS_LATER))
    assert {rubric: replace_moment(before[rubric], YEARS_LATER) for rubric in undated} == {
        rubric: after[rubric] for rubric in undated
    }, "a rubric that judges by the date must be declared dated=True"


def test_nothing_but_dated_modules_reads_the_date_of_the_evidence() -> None:
    """A rule that no recorded dossier makes use of would escape the comparison above."""
    root = Path(scoring.__file__).parent
    reading = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if _reads_the_date(path)}
    assert reading - DATED_MODULES == set(), (
        "declare every rubric that depends on these modules dated=True, then name them in DATED_MODULES"
    )
    assert not DATED_MODULES or any(rubric.dated for rubric in catalogue.list_rubrics())


def _reads_the_date(path: Path) -> bool:
    """Whether `as_of` is read otherwise than to be written on the card."""
    tree = ast.parse(path.read_text())
    copied = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "as_of" and ast.unparse(node.value) == "assessment.as_of"
    }
    read = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "as_of"]
    harmless = {"self.dossier.as_of", "card.as_of", "table.as_of"}
    return any(id(node) not in copied and ast.unparse(node) not in harmless for node in read)


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"as_of":', b'{"as_of":"', b'{"as_of":""}', b'{"as_of":"2026', b'"as_of']
)
def test_other_bytes_have_no_date_to_change(data: bytes) -> None:
    with pytest.raises(NotAReceipt):
        replace_moment(data, AS_OF)
    with pytest.raises(NotAReceipt):
        receipt.remove_moment(data)


@pytest.mark.parametrize("name", ["locked", "nothing", "astral"])
def test_a_receipt_without_its_date_is_otherwise_the_same(name: str) -> None:
    for body in bodies(DOSSIERS[name]).values():
        values = json.loads(body)
        assert values.pop("as_of")
        assert json.loads(receipt.remove_moment(body)) == values


def test_only_things_with_a_moment_hold_the_date() -> None:
    """`evidence_kinds.reads_date` tells by this field which questions have to be asked again on another day."""
    calls = 0
    for path in Path(scoring.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        moments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "moment"}
        called = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and "evidence_moment" in ast.unparse(node.func)
        ]
        assert all(id(node) in moments for node in called), path.name
        calls += len(called)
    assert calls > 2, "the function has another name now"
