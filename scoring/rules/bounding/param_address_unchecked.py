"""Rule `param-address-unchecked`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.words import split_tokens
from scoring.vocabularies import parameters

_WORDS: Final = {*parameters.ADDRESSES, "urls", "uris", "links", "hyperlink", "endpoints"}
_FORMS: Final = ("uri-reference", "uri-template", "iri", "iri-reference")


@rule(
    "param-address-unchecked",
    scope=Param,
    reads="listing",
    severity=Severity.ERROR,
    title="Address parameter is not declared as a URI",
    remedy='Add `"format": "uri"` to the schema of the value. Rename the parameter if its value is not a URI.',
    since="2026.1",
    version=1,
    fix=(
        build_param("webhook_url", description="Address that gets each new note."),
        build_param("webhook_url", description="Address that gets each new note.", format="uri"),
    ),
    good=[build_param(name="webhookUrl", format="uri"), build_param(name="security"), build_param(name="curly")],
    bad=[build_param(name="webhookUrl"), build_param(name="base_url", type=["string", "null"])],
)
def param_address_unchecked(param: Param, literal: bool = False) -> Iterator[Answer]:
    """With `"format": "uri"` clients can reject a value that is not a URI before the server fetches it.

    `literal` judges only the parameter itself and finds the words anywhere in its name, as the published reference
    does, so that `security` (uri) counts; and it accepts no other format than `uri`.
    """
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _is_unchecked(place, literal)):
        yield suffix, 'an address without "format": "uri"'


def _is_unchecked(place: ValueSchema, literal: bool) -> bool:
    return "string" in place.types and _names_address(place.name, literal) and not _checked(place.schema, literal)


def _names_address(name: str, literal: bool) -> bool:
    if literal:
        lowered = name.lower()
        return any(word in lowered for word in parameters.ADDRESSES)
    return not _WORDS.isdisjoint(split_tokens(name))


def _checked(schema: Mapping[str, Json], literal: bool) -> bool:
    form = schema.get("format")
    return form == "uri" or (not literal and (form in _FORMS or "enum" in schema or "const" in schema))
