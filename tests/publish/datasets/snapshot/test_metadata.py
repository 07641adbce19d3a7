"""Tools that know nothing of us read a snapshot: mlcroissant, frictionless, pyarrow."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from publish.datasets.format.methodology import describe_methodology, methodology_version
from publish.datasets.format.tables import TABLES, render_reference
from publish.datasets.snapshot.metadata import LICENCE_URL, render_readme
from scoring.engine import catalogue
from tests.publish.datasets import nights

GUIDE = Path(__file__).resolve().parents[4] / "docs" / "schemas" / "dataset.md"


def test_mlcroissant_accepts_the_metadata_and_reads_rows(written: Path, caplog: pytest.LogCaptureFixture) -> None:
    import mlcroissant  # here, since it takes a second that every process of a run would wait for

    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(jsonld=str(written / "croissant.json"))
    assert not caplog.records
    assert dataset.metadata.ctx.issues.errors == set()
    assert dataset.metadata.ctx.issues.warnings == set()
    read = list(dataset.records("scorecards"))
    assert [one["scorecards/server"].decode() for one in read] == [
        row["server"] for row in nights.rows(written, "scorecards")
    ]


def test_frictionless_accepts_the_package_and_every_row(written: Path) -> None:
    from frictionless import system, validate

    with system.use_context(trusted=True):
        report = validate(str(written / "datapackage.json"))
    assert report.valid, report.flatten(["title", "rowNumber", "fieldName", "message"])
    assert sum(task.stats["rows"] for task in report.tasks) == sum(
        len(nights.rows(written, table.name)) for table in TABLES if not table.bulky
    )


def test_frictionless_notices_a_wrong_type(written: Path, tmp_path: Path) -> None:
    """The package really says what the columns are."""
    document = json.loads((written / "datapackage.json").read_bytes())
    fields = {field["name"]: field["type"] for one in document["resources"] for field in one["schema"]["fields"]}
    assert (fields["score"], fields["as_of"], fields["version"]) == ("number", "datetime", "integer")


def test_the_guide_has_every_column_as_it_is_declared() -> None:
    assert render_reference() in GUIDE.read_text(encoding="utf-8")


def test_the_folder_explains_itself(written: Path) -> None:
    assert (written / "README.md").read_text() == render_readme()
    assert LICENCE_URL in (written / "LICENSE.txt").read_text()
    for table in TABLES:
        assert f"`{table.name}.parquet`" in render_readme()


def test_the_methodology_has_every_weight_and_criterion() -> None:
    document = describe_methodology(nights.RUN.pins)
    known = {rubric.name: rubric for rubric in catalogue.list_rubrics()}
    assert [one["name"] for one in document["rubrics"]] == sorted(known)
    for one in document["rubrics"]:
        rubric = known[one["name"]]
        assert [part["weight"] for part in one["dimensions"]] == [str(part.weight) for part in rubric.dimensions]
        assert len(one["criteria"]) == len(rubric.criteria)
    assert methodology_version(document) != methodology_version(
        describe_methodology({**nights.RUN.pins, "ruleset": "0" * 16})
    )


def test_a_run_of_other_rules_names_its_rubrics_and_describes_none() -> None:
    document = describe_methodology({**nights.RUN.pins, "ruleset": "0" * 16})
    assert {one["known"] for one in document["rubrics"]} == {False}
    assert document["rules"] == []
