"""A rubric reads no other kind of evidence than it declares: its receipts are kept as long as those kinds are equal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from evidence.model import Absent, Dossier, Observed, Reason
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.evidence_kinds import kinds_of_rubric
from scoring.engine.rubric import Rubric
from scoring.receipt import NotAReceipt, encode_scorecard, replace_evidence_digests
from tests.dossiers import captures
from tests.scoring.rich import RICH

RUBRICS = {rubric.name: rubric for rubric in catalogue.list_rubrics()}
DOSSIERS = {**captures(), **{name: make() for name, make in RICH.items()}}
FEW = [*list(captures())[::5], *RICH]


class Guarded(Dossier, frozen=True, kw_only=True):
    """A dossier that may be asked for some kinds only."""

    allowed: frozenset[str] = frozenset()

    def read(self, kind: str) -> Observed | Absent:
        """Refuse every other kind."""
        assert kind in self.allowed, f"{kind} is read and not declared in scoring.engine.evidence_kinds"
        return Dossier.read(self, kind)


def guarded(dossier: Dossier, allowed: frozenset[str]) -> Guarded:
    return Guarded(server=dossier.server, as_of=dossier.as_of, records=dossier.records, allowed=allowed)


def without(dossier: Dossier, kind: str) -> Dossier:
    """The dossier of a night on which a kind could not be seen."""
    if kind not in dossier.records:
        return dossier
    record = replace(dossier.records[kind], content=Absent(Reason.TIMEOUT, "no answer"))
    return replace(dossier, records={**dossier.records, kind: record})


@pytest.mark.parametrize("names", [FEW, pytest.param(list(DOSSIERS), marks=pytest.mark.soak)], ids=["few", "all"])
@pytest.mark.parametrize("rubric", RUBRICS.values(), ids=list(RUBRICS))
def test_a_rubric_reads_only_the_kinds_it_declares(rubric: Rubric, names: list[str]) -> None:
    kinds = kinds_of_rubric(rubric)
    for dossier in map(DOSSIERS.__getitem__, names):
        for missing in ("", *sorted(kinds)):  # the substitute of a missing kind is checked too
            rubric.score(assess_dossier(guarded(without(dossier, missing), kinds), [rubric]))


def test_the_guard_notices_what_is_not_declared() -> None:
    dossier = next(iter(DOSSIERS.values()))
    with pytest.raises(AssertionError, match="listing is read"):
        assess_dossier(guarded(dossier, frozenset({"source"})), [RUBRICS["lint@2"]])


def test_kinds_that_a_rubric_does_not_read_change_the_listed_digests_alone() -> None:
    for dossier in DOSSIERS.values():
        for name, rubric in RUBRICS.items():
            for kind in sorted(dossier.records.keys() - kinds_of_rubric(rubric)):
                other = without(dossier, kind)
                before, after = (
                    encode_scorecard(rubric.score(assess_dossier(one, [rubric]))) for one in (dossier, other)
                )
                digests = {kind: record.digest for kind, record in other.records.items()}
                assert replace_evidence_digests(before, digests) == after, (name, kind)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"evidence":{}}', b'{"a":1,"evidence":{"x"'])
def test_other_bytes_list_no_evidence(data: bytes) -> None:
    with pytest.raises(NotAReceipt):
        replace_evidence_digests(data, {})
