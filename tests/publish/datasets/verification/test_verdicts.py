"""A stranger without the private evidence recomputes value, grade, bounds and caps of `adaptive@2`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import advisories
from evidence.model import Dossier, Observed, Server
from evidence.patterns.secrets.samples import write_sample
from evidence.store import Disclosure, FindingState, Store, open_store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.verification import verify as verifying
from publish.datasets.verification.problems import ProblemKind
from publish.datasets.verification.rescoring import ReceiptVerdict
from publish.disclosure import WITHHELD_CAP
from publish.findings.identity import find_private_findings
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results import arithmetic
from scoring.rubrics.adaptive_verdict import BANDS
from tests.publish import capped
from tests.publish.datasets import nights
from tests.scoring import rich

verify = partial(verifying.verify_snapshot, processes=0)
NAME = "adaptive@2"
Row = dict[str, Any]


def named(dossier: Dossier, name: str, **members: Any) -> Dossier:
    server: Server = replace(dossier.server, ref=f"npm:{name}", name=name, **members)
    records = {kind: replace(record, server=server.id) for kind, record in dossier.records.items()}
    return replace(dossier, server=server, records=records)


def with_token(dossier: Dossier) -> Dossier:
    """The dossier with a token in its advisories, so that the published body is masked."""
    (group,) = json.loads(observed(dossier, advisories.KIND).body)["groups"]
    return rich.changed(dossier, advisories.KIND, groups=[{**group, "summary": write_sample("ghp_<w36>")}])


def observed(dossier: Dossier, kind: str) -> Observed:
    content = dossier.read(kind)
    assert isinstance(content, Observed)
    return content


SERVERS = {
    "clean": named(capped.clean(), "clean"),
    "poisoned": named(capped.poisoned(), "poisoned"),
    "leaking": named(capped.leaking(), "leaking"),
    "fallen": named(capped.fallen(), "fallen"),
    "published": named(capped.fallen(), "published"),
    "masked": named(with_token(capped.flawed()), "masked"),
    "broken": named(capped.broken(), "broken"),
    "unsearched": named(capped.unsearched(), "unsearched", repository="https://git.example/notes"),
    "dark": named(capped.dark(), "dark"),
    "closed": named(capped.closed(), "closed"),
}


def publish_fall(store: Store, dossier: Dossier) -> None:
    """Record the fall of a server, and publish it."""
    card = catalogue.get_rubric(NAME).score(assess_dossier(dossier))
    (finding,) = find_private_findings(dossier, [card])
    store.put_findings([finding], nights.RUN.as_of)
    states = {"before": FindingState.PRIVATE_TRIAGE, "after": FindingState.PUBLIC_DISCLOSED}
    store.transition_finding(finding.id, Disclosure(at=nights.RUN.as_of, who="ana", **states))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("verdicts")
    store: Store = open_store(f"sqlite:///{folder}/night.db")
    store.migrate()
    nights.fill(store, list(SERVERS.values()))
    publish_fall(store, SERVERS["published"])
    export_snapshot(store, ExportOrder(run=nights.RUN.id), folder / "snapshot")
    store.close()
    yield folder / "snapshot"


@pytest.fixture
def snapshot(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "snapshot"))


def is_verdict(row: Row, name: str) -> bool:
    return (row["server"], row["rubric"], row["version"]) == (SERVERS[name].server.id, "adaptive", 2)


def forge(folder: Path, table: str, name: str, change: Callable[[Row], None]) -> None:
    """Change the rows of one verdict in a table."""
    nights.forge(folder, table, lambda row: change(row) if is_verdict(row, name) else None)


def rows(folder: Path, table: str, name: str) -> list[Row]:
    return [row for row in nights.rows(folder, table) if is_verdict(row, name)]


def is_caught(folder: Path, name: str) -> bool:
    found = {(one.fault, one.server, one.rubric) for one in verify(folder).problems}
    return (ProblemKind.SCORE, SERVERS[name].server.id, NAME) in found


def uncap(folder: Path, name: str, cites: str) -> None:
    """Take the effect of a cap from the sum and the score, as a forger does who can add."""
    (lost,) = (Decimal(row["points"]) for row in rows(folder, "lines", name) if row["cites"] == cites)

    def free(row: Row) -> None:
        if row["cites"] == cites:
            row["points"] = "0"
        if row["cites"] == "rounding":
            row["points"] = "0"

    def raised(row: Row) -> None:
        total = sum(Decimal(line["points"]) for line in rows(folder, "lines", name) if line["component"] is None)
        row |= {"score": format(total, "f"), "floor": format(total, "f"), "grade": "A"}

    assert lost < 0
    forge(folder, "lines", name, free)
    forge(folder, "scorecards", name, raised)


def test_every_verdict_is_verified_without_the_private_evidence(written: Path) -> None:
    report = verify(written)
    assert report.problems == []
    verdicts = {verdict for (name, verdict), _ in report.judged.verdicts.items() if name == NAME}
    assert verdicts <= {ReceiptVerdict.RECOMPUTED, ReceiptVerdict.SPLICED}
    for name, cites in (("leaking", WITHHELD_CAP), ("fallen", WITHHELD_CAP), ("published", "cap.fell_over")):
        assert cites in {row["cites"] for row in rows(written, "lines", name)}


def test_a_fall_is_verified_also_where_no_code_could_hold_a_credential(written: Path) -> None:
    """No credential explains the cap there, since the same receipt says that there is no code."""
    cited = {row["cites"] for row in rows(written, "lines", "closed")}
    assert {WITHHELD_CAP, "cap.closed_code"} <= cited
    assert not is_caught(written, "closed")


@pytest.mark.parametrize(
    ("name", "cap"),
    [
        ("poisoned", WITHHELD_CAP),
        pytest.param("leaking", WITHHELD_CAP, marks=pytest.mark.soak),
        pytest.param("fallen", WITHHELD_CAP, marks=pytest.mark.soak),
        ("closed", WITHHELD_CAP),
        ("masked", "cap.critical_advisory"),
    ],
)
def test_a_cap_whose_points_were_removed_is_caught(snapshot: Path, name: str, cap: str) -> None:
    uncap(snapshot, name, cap)
    assert is_caught(snapshot, name)


def remove_cap(folder: Path, name: str, cites: str) -> None:
    """Make the receipt that a server without the cap would have: its line becomes the line of rounding."""
    of_verdict = [row for row in rows(folder, "lines", name) if row["component"] is None]
    total = sum(Decimal(row["points"]) for row in of_verdict if row["cites"] not in {cites, "rounding"})
    value = arithmetic.round_half_up(total)
    (scale,) = (row for row in of_verdict if row["cites"] == "scale")

    def forged(row: Row) -> None:
        if row["cites"] == cites:
            words = {name: scale[name] for name in scale.keys() - {"cites", "points", "why", "line"}}
            row |= words | {"cites": "rounding", "points": format(value - total, "f"), "why": "Rounded once, half up"}

    grade = arithmetic.find_band(value, BANDS, "F")
    forge(folder, "lines", name, forged)
    head = {"score": format(value, "f"), "floor": format(value, "f"), "grade": grade}
    forge(folder, "scorecards", name, lambda row: row.update(head))


def test_a_cap_whose_line_was_removed_is_caught_by_the_outcome_of_its_rule(snapshot: Path) -> None:
    remove_cap(snapshot, "masked", "cap.critical_advisory")
    assert is_caught(snapshot, "masked")


def test_an_outcome_that_was_removed_with_its_cap_is_caught(snapshot: Path) -> None:
    def remove(row: Row) -> None:
        if (row["server"], row["rule"]) == (SERVERS["masked"].server.id, "dependency-critical"):
            row.clear()

    remove_cap(snapshot, "masked", "cap.critical_advisory")
    nights.forge(snapshot, "rule_outcomes", remove)
    found = {(one.server, one.at) for one in verify(snapshot).problems}
    assert found == {(SERVERS["masked"].server.id, "dependency-critical")}


def test_a_cap_on_code_that_was_not_searched_cannot_be_removed(snapshot: Path) -> None:
    uncap(snapshot, "unsearched", "cap.unsearched_code")
    assert is_caught(snapshot, "unsearched")


def test_a_cap_that_is_renamed_to_a_milder_one_is_caught(snapshot: Path) -> None:
    def change(row: Row) -> None:
        if row["cites"] == "cap.unsearched_code":
            row["cites"] = "cap.closed_code"

    forge(snapshot, "lines", "unsearched", change)
    assert is_caught(snapshot, "unsearched")


def test_a_cap_that_was_added_to_harm_a_server_is_caught(snapshot: Path) -> None:
    def change(row: Row) -> None:
        if row["cites"] == "scale":
            row["points"] = format(Decimal(row["points"]) - 30, "f")

    def lowered(row: Row) -> None:
        value = format(Decimal(row["score"]) - 30, "f")
        row |= {"score": value, "floor": value, "grade": "D"}

    forge(snapshot, "lines", "clean", change)
    forge(snapshot, "scorecards", "clean", lowered)
    assert is_caught(snapshot, "clean")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("score", "90"),
        ("floor", "60"),
        *(pytest.param(*one, marks=pytest.mark.soak) for one in (("grade", "B"), ("ceiling", "99"), ("coverage", "1"))),
    ],
)
def test_a_forged_head_of_a_verdict_is_caught(snapshot: Path, column: str, value: str) -> None:
    forge(snapshot, "scorecards", "poisoned", lambda row: row.update({column: value}))
    assert is_caught(snapshot, "poisoned")


def test_a_score_that_is_given_to_a_server_without_evidence_is_caught(snapshot: Path) -> None:
    head = {"score": "0", "not_measured": None, "detail": None, "grade": "F"}
    forge(snapshot, "scorecards", "dark", lambda row: row.update(head))
    assert is_caught(snapshot, "dark")


def test_a_forged_guarantee_of_a_component_is_caught(snapshot: Path) -> None:
    def change(row: Row) -> None:
        if row["component"] == "conformance":
            row["floor"] = row["result"]

    forge(snapshot, "dimension_scores", "poisoned", change)
    assert is_caught(snapshot, "poisoned")


def test_a_gate_that_is_declared_clean_beside_its_cap_is_caught(snapshot: Path) -> None:
    def change(row: Row) -> None:
        if row["component"] == "secrets":
            row |= {"result": "10", "not_measured": None, "detail": None, "status": "measured"}

    forge(snapshot, "dimension_scores", "unsearched", change)
    assert is_caught(snapshot, "unsearched")
