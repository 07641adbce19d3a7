"""Rules: the question about a server, its reason, examples, and the methodologies that cite it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path
from msgspec.structs import asdict
from pydantic import Field, JsonValue, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.contract.models import STRICT, Number
from publish.api.contract.responses import json_response
from publish.disclosure import private_rule_ids
from publish.text.numbers import json_number
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem, show_found
from scoring import rule_examples
from scoring.engine import catalogue
from scoring.engine.rubric import Criterion, Rubric
from scoring.engine.rule import Requirement
from scoring.engine.rule import Rule as Declared
from scoring.engine.snippet import Language
from scoring.explain import list_citations
from scoring.rule_snippets import make_snippet
from scoring.subjects import describe_subject

RulePath: TypeAlias = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9-]{0,80}$", description="Id of a rule.", examples=["tool-description-missing"])
]


@with_config(STRICT)
class RuleItem(TypedDict):
    """A rule in short."""

    id: Annotated[str, Field(examples=["tool-description-missing"])]
    title: Annotated[
        str, Field(description="What is wrong where it finds something.", examples=["Tool has no description"])
    ]
    family: Annotated[str, Field(examples=["describing"])]
    severity: Annotated[str, Field(examples=["error"])]
    reads: Annotated[str, Field(description="The kind of evidence that it reads.", examples=["listing"])]
    version: Annotated[int, Field(description="Goes up when its answers may change.", examples=[1])]
    since: Annotated[str, Field(examples=["2026.1"])]
    withheld: Annotated[
        bool, Field(description="Its findings are reported to the vendor first, and shown when disclosed.")
    ]


@with_config(STRICT)
class Citation(TypedDict):
    """The use of the rule in a methodology."""

    rubric: Annotated[str, Field(examples=["lint@1"])]
    cites: Annotated[str, Field(description="Its id on receipts.", examples=["LLM-001"])]
    severity: Annotated[str, Field(examples=["error"])]
    points: Annotated[Number, Field(description="What one finding costs, or the weight of the criterion.")]
    params: dict[str, JsonValue]


@with_config(STRICT)
class RuleRequirement(TypedDict):
    """A requirement of the specification that the rule checks."""

    id: Annotated[str, Field(examples=["LIST-01"])]
    level: Annotated[str, Field(description="MUST, SHOULD, MAY or info.", examples=["MUST"])]
    link: Annotated[
        str | None,
        Field(
            description="The section of the specification; null where it is not from there.",
            examples=["https://modelcontextprotocol.io/specification"],
        ),
    ]


@with_config(STRICT)
class RuleSnippet(TypedDict):
    """The text that a fix edits."""

    language: Annotated[Language, Field(description="Language of both texts.", examples=["json"])]
    where: Annotated[
        str,
        Field(description="What the text is, with code in backticks.", examples=["Tool in `tools/list`"]),
    ]
    before: Annotated[
        str | None,
        Field(description="Null where the fix adds a text.", examples=['{"name": "list-tags"}']),
    ]
    after: Annotated[
        str,
        Field(
            description="The same text after the fix.",
            examples=['{"name": "list-tags", "description": "Lists the tags of the current user."}'],
        ),
    ]


@with_config(STRICT)
class Rule(RuleItem):
    """A rule as it is declared: this is all that decides about a finding."""

    rationale: Annotated[
        str,
        Field(
            description="Why it matters, for the maintainer of a server.",
            examples=["A model chooses a tool by its description."],
        ),
    ]
    remedy: Annotated[
        str,
        Field(
            description="What to do about a finding, with code in backticks.",
            examples=["Add a `description` to the tool."],
        ),
    ]
    snippet: Annotated[
        RuleSnippet | None,
        Field(description="What to edit, before and after; null where no text shows it."),
    ]
    asks_about: Annotated[str, Field(description="The items that it judges.", examples=["parameter of a tool"])]
    params: dict[str, JsonValue]
    requirements: list[RuleRequirement]
    good: Annotated[
        list[str],
        Field(
            description="Examples that pass.",
            examples=[['{"name": "get_user", "description": "Retrieves a user by ID."}']],
        ),
    ]
    bad: Annotated[list[str], Field(description="Examples that fail.", examples=[['{"name": "get_user"}']])]
    cited_by: list[Citation]


@with_config(STRICT)
class RuleList(TypedDict):
    """All rules, by id."""

    rules: list[RuleItem]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["rules and methodologies"])

    @router.get("/rules", operation_id="listRules", summary="All rules", response_model=RuleList)
    def list_rules() -> Response:
        """Every rule in short."""
        return json_response({"rules": [_item(rule) for rule in catalogue.list_rules()]}, keep=True)

    @router.get(
        "/rules/{rule}", operation_id="getRule", summary="One rule",
        response_model=Rule, responses=describe_problems("unknown-rule"),
    )  # fmt: skip
    def get_rule(rule: RulePath) -> Response:
        """A rule with its rationale, examples, and the methodologies that cite it."""
        try:
            return json_response(_whole(catalogue.get_rule(rule)), keep=True)
        except LookupError as error:
            raise make_problem(
                "unknown-rule", f"Found no rule {show_found(rule)}; /api/v1/rules lists them."
            ) from error

    return router


def _item(rule: Declared) -> dict[str, Any]:
    return {
        "id": rule.id,
        "title": rule.title,
        "family": rule.family,
        "severity": rule.severity.value,
        "reads": rule.reads,
        "version": rule.version,
        "since": rule.since,
        "withheld": rule.id in private_rule_ids(),
    }


def _whole(rule: Declared) -> dict[str, Any]:
    named = [{"id": rule.id, "level": rule.level.value, "link": rule.spec}] if rule.level and not rule.checks else []
    return _item(rule) | {
        "rationale": rule.rationale,
        "remedy": rule.remedy,
        "snippet": asdict(snippet) if (snippet := make_snippet(rule)) else None,
        "asks_about": describe_subject(rule),
        "params": dict(rule.params),
        "requirements": [_requirement(check) for check in rule.checks] or named,
        "good": list(rule_examples.list_good_examples(rule)),
        "bad": list(rule_examples.list_bad_examples(rule)),
        "cited_by": [make_citation(rubric, criterion) for rubric, criterion in list_citations(rule)],
    }


def _requirement(check: Requirement) -> dict[str, Any]:
    return {"id": check.id, "level": check.level.value, "link": check.link or None}


def make_citation(rubric: Rubric, criterion: Criterion) -> dict[str, Any]:
    """A criterion as a Citation."""
    return {
        "rubric": rubric.name,
        "cites": criterion.cites,
        "severity": criterion.severity.value,
        "points": json_number(criterion.points),
        "params": dict(criterion.params),
    }
