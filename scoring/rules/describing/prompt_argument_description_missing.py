"""Rule `prompt-argument-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_prompt_arg
from scoring.results.outcome import Severity
from scoring.scopes.base import PromptArg


@rule(
    "prompt-argument-description-missing",
    scope=PromptArg,
    reads="listing",
    severity=Severity.WARNING,
    title="Prompt argument has no description",
    remedy="Add a `description` to the argument in `prompts/list` that states which value the user must enter.",
    since="2026.1",
    version=1,
    fix=(
        build_prompt_arg(description=UNDEFINED),
        build_prompt_arg(description="Day to summarise, such as 2026-07-28."),
    ),
    good=[build_prompt_arg(description="Day to summarise.")],
    bad=[build_prompt_arg(description=None)],
)
def prompt_argument_description_missing(argument: PromptArg) -> Iterator[str]:
    """The user who runs a prompt fills in its arguments and needs to know the expected values."""
    if not argument.description:
        yield "no description"
