"""Rule `prompt-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_prompt
from scoring.results.outcome import Severity
from scoring.scopes.base import Prompt


@rule(
    "prompt-description-missing",
    scope=Prompt,
    reads="listing",
    severity=Severity.ERROR,
    title="Prompt has no description",
    remedy="Add a `description` to the prompt in `prompts/list` that states what the prompt does, for example "
    "`Summarises the notes of one day`.",
    since="2026.1",
    version=1,
    fix=(build_prompt(description=UNDEFINED), build_prompt()),
    bad=[build_prompt(description=None)],
)
def prompt_description_missing(prompt: Prompt) -> Iterator[str]:
    """Users choose a prompt from a menu, and without a description they see only its name."""
    if not prompt.description:
        yield "no description"
