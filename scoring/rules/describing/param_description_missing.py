"""Rule `param-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_object, is_truthy, trim_whitespace


@rule(
    "param-description-missing",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter has no description",
    remedy="Add a `description` string with the meaning, format and unit to the schema of the parameter. Replace a "
    "`true` or `false` schema with an object.",
    since="2026.1",
    version=1,
    fix=(
        build_param("owner", description=UNDEFINED),
        build_param("owner", description="ID of the user that owns the note."),
    ),
    good=[build_param(description="ID of the user"), build_param(description=5)],
    bad=[build_param(description=UNDEFINED), build_param(description=" "), build_param(raw=True)],
)
def param_description_missing(param: Param, objects_only: bool = False, text_only: bool = False) -> Iterator[str]:
    """A model sets a parameter by its description.

    Without one it must guess format, unit and meaning. With `objects_only`, the schemas `true` and `false` pass; with
    `text_only`, a description that is not a string does not.
    """
    if objects_only and not is_object(param.raw):
        return
    description = param.get("description")
    blank = (
        not trim_whitespace(description) if isinstance(description, str) else text_only or not is_truthy(description)
    )
    if blank:
        yield "no description"
