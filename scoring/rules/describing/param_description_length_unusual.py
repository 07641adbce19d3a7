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
    since="2026.1",
    version=1,
    good=[build_param(description="ID of the user."), build_param(description=" ")],
    bad=[build_param(description="ID"), build_param(description="x" * 201)],
)
def param_description_length_unusual(param: Param, minimum: int = 10, maximum: int = 200) -> Iterator[str]:
    """A word or two leave format and unit open, and a long text hides what matters."""
    length = utf16_length(param.description)
    if length and not minimum <= length <= maximum:
        yield f"{length} characters, {minimum} to {maximum} expected"
