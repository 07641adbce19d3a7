"""Rule `param-description-length-unusual`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import utf16_length


@rule(
    "param-description-length-unusual",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter description is very short or very long",
    remedy="Write a `description` of 10 to 200 characters for the parameter that states its meaning, format and unit.",
    since="2026.1",
    version=2,
    fix=(
        build_param("owner", description="ID"),
        build_param("owner", description="ID of the user that owns the note."),
    ),
    good=[build_param(description="ID of the user."), build_param(description="")],
    bad=[build_param(description="ID"), build_param(description="x" * 201), build_param(description=" ")],
)
def param_description_length_unusual(
    param: Param, minimum: int = 10, maximum: int = 200, skip_blank: bool = False
) -> Iterator[str]:
    """A description of a word or two does not state format and unit, and a long one hides the essentials.

    White space counts as text of length 0, unless `skip_blank` is set; an empty description is judged by other rules.
    """
    text = param.get("description")
    length = utf16_length(param.description)
    skipped = not length if skip_blank else not isinstance(text, str) or not text
    if not skipped and not minimum <= length <= maximum:
        yield f"{length} characters, {minimum} to {maximum} expected"
