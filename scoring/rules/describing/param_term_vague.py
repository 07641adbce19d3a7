"""Rule `param-term-vague`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_object
from scoring.text.words import split_tokens, split_words
from scoring.vocabularies import terms

_CONTEXT: Final = terms.CONTEXT - {"to", "from", "set", "type"}


@rule(
    "param-term-vague",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter is named or described by a vague word",
    remedy="State in the `description` which value it is, with a concrete word such as `name`, `path`, `email` or "
    "`message`, for example `Name of the user`.",
    since="2026.1",
    version=1,
    fix=(
        build_param("data", description="The data to process"),
        build_param("data", description="Text of the message to send."),
    ),
    good=[
        build_param(name="userData", description="Profile of the account."),
        build_param(name="data", description="Name of the user."),
    ],
    bad=[build_param(name="data", description="Blob"), build_param(name="record", description="Some value")],
)
def param_term_vague(param: Param, literal: bool = False) -> Iterator[str]:
    """A vague word such as data, value or input needs another word that states its meaning.

    State whose data it is, or which value. `literal` reads as the published reference does: the name is one word, and
    "to", "from" or "id" are context enough.
    """
    if not is_object(param.raw):
        return
    name = param.name_words if literal else frozenset(split_tokens(param.name))
    vague_name, vague_description = not name.isdisjoint(terms.VAGUE), not param.words.isdisjoint(terms.VAGUE)
    if not vague_name and not vague_description:
        return
    described = _company(param.description)
    context = terms.CONTEXT if literal else _CONTEXT
    if vague_name:
        around = described | _company(f"{param.tool.name} {param.name}") if literal else described | name
        if around.isdisjoint(context):
            yield "the name has a vague word, and neither the name nor the description explains it"
    if vague_description and described.isdisjoint(context):
        yield "the description has a vague word and does not explain it"


def _company(text: str) -> frozenset[str]:
    return split_words(text.replace("-", " ").replace("_", " "))
