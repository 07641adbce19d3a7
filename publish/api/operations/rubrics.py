"""Rubrics: every version of every methodology, with criteria, weights, grades, and settled questions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.contract.models import STRICT, Number
from publish.api.contract.responses import json_response
from publish.api.operations.rules import Citation, make_citation
from publish.api.operations.scorecards import RubricPath, VersionPath
from publish.text.numbers import json_number
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem, show_found
from scoring.engine import catalogue
from scoring.engine.rubric import Dimension as DeclaredDimension
from scoring.engine.rubric import Rubric as Declared


@with_config(STRICT)
class RubricItem(TypedDict):
    """A version of a methodology in short."""

    id: Annotated[str, Field(examples=["adaptive"])]
    version: Annotated[int, Field(description="Hallmark's own version. Every version is still computed.", examples=[1])]
    source_version: Annotated[str, Field(description="Version of the publication that it follows.", examples=["2.1"])]
    title: Annotated[str, Field(examples=["Adaptive quality score"])]
    summary: Annotated[str, Field(examples=["Six weighted dimensions, each of named components."])]
    source: Annotated[
        str, Field(description="Address of the publication.", examples=["https://methods.example/adaptive"])
    ]
    default: Annotated[bool, Field(description="It is shown first.")]
    newest: Annotated[bool, Field(description="There is no newer version of it.")]


@with_config(STRICT)
class RubricComponent(TypedDict):
    """One part of a dimension: its weight among its siblings, and the rules that decide about it."""

    name: Annotated[str, Field(examples=["descriptions"])]
    title: Annotated[str, Field(examples=["Descriptions of tools"])]
    weight: Number
    rules: Annotated[list[str], Field(examples=[["tool-description-missing"]])]


@with_config(STRICT)
class RubricDimension(TypedDict):
    """One weighted part of a score."""

    name: Annotated[str, Field(examples=["schema_quality"])]
    title: Annotated[str, Field(examples=["Schema quality"])]
    weight: Number
    components: list[RubricComponent]


@with_config(STRICT)
class Band(TypedDict):
    """A grade, and its minimum score."""

    grade: Annotated[str, Field(examples=["A"])]
    minimum: Number


@with_config(STRICT)
class Rubric(RubricItem):
    """A version of a methodology as it is declared."""

    dimensions: Annotated[list[RubricDimension], Field(description="Empty where a score is not made of dimensions.")]
    criteria: list[Citation]
    bands: Annotated[list[Band], Field(description="Empty where there are no grades.")]
    settled: Annotated[
        list[str],
        Field(
            description="Our decisions where the publication is unclear; deviations.",
            examples=[["An empty listing is evidence, and scores 0."]],
        ),
    ]


@with_config(STRICT)
class RubricList(TypedDict):
    """Every version of every methodology."""

    rubrics: list[RubricItem]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["rules and methodologies"])

    @router.get("/rubrics", operation_id="listRubrics", summary="All methodologies", response_model=RubricList)
    def list_rubrics() -> Response:
        """Every version of every methodology in short."""
        return json_response({"rubrics": [_item(rubric) for rubric in catalogue.list_rubrics()]}, keep=True)

    @router.get(
        "/rubrics/{rubric}@{version}", operation_id="getRubric", summary="One methodology",
        response_model=Rubric, responses=describe_problems("unknown-rubric"),
    )  # fmt: skip
    def get_rubric(rubric: RubricPath, version: VersionPath) -> Response:
        """A version of a methodology with everything that its scores are made from."""
        try:
            return json_response(_whole(catalogue.get_rubric(rubric, version)), keep=True)
        except LookupError as error:
            detail = f"Found no rubric {show_found(rubric)}@{version}; /api/v1/rubrics lists them."
            raise make_problem("unknown-rubric", detail) from error

    return router


def _item(rubric: Declared) -> dict[str, Any]:
    return {
        "id": rubric.id,
        "version": rubric.version,
        "source_version": rubric.source_version,
        "title": rubric.title,
        "summary": rubric.summary,
        "source": rubric.source,
        "default": rubric.default,
        "newest": catalogue.get_rubric(rubric.id) is rubric,
    }


def _whole(rubric: Declared) -> dict[str, Any]:
    return _item(rubric) | {
        "dimensions": [_dimension(part) for part in rubric.dimensions],
        "criteria": [make_citation(rubric, criterion) for criterion in rubric.criteria],
        "bands": [{"grade": grade, "minimum": json_number(minimum)} for minimum, grade in rubric.bands],
        "settled": list(rubric.settled),
    }


def _dimension(part: DeclaredDimension) -> dict[str, Any]:
    return {
        "name": part.name,
        "title": part.title,
        "weight": json_number(part.weight),
        "components": [
            {
                "name": component.name,
                "title": component.title,
                "weight": json_number(component.weight),
                "rules": sorted({criterion.rule for criterion in component.criteria}),
            }
            for component in part.components
        ],
    }
