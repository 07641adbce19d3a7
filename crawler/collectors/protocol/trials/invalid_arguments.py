"""Arguments that violate a tool's input schema on purpose: one of a wrong type, or a required one left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.collectors.protocol.questions.random_names import draw_word
from crawler.collectors.protocol.trials import schema_validation
from crawler.collectors.protocol.trials.schema_flattening import SchemaFlattener, SchemaNotFlattened
from crawler.mcp.transcript import Reply
from evidence.canonical import Json, parse_json

# Wrong values as the record holds them. A server gets random words in the places of these. No server converts such a
# value to the declared type, not even one that parses numbers in texts.
_KEY: Final = "hallmark"
_WORD: Final = "invalid"
_WRONG_TEXTS: Final[Mapping[str, str]] = {
    "integer": "not-a-number",
    "number": "not-a-number",
    "boolean": "not-a-boolean",
    "array": "not-an-array",
    "object": "not-an-object",
}


class _WrongValue(Struct, frozen=True):
    """A value of a wrong type as it is sent and as it is recorded, and the recorded word for each random one."""

    sent: Json
    recorded: Json
    words: Mapping[str, str]


class InvalidArguments(Struct, frozen=True):
    """Arguments with one mistake, and the parameter that has it.

    `recorded` are the same arguments with fixed words in place of the random ones, so that an unchanged server leaves
    an equal record.
    """

    parameter: str
    arguments: Mapping[str, Json]
    recorded: Mapping[str, Json]
    words: Mapping[str, str] = field(default_factory=dict)

    def restore(self, reply: Reply) -> Reply:
        """The reply with the fixed words where the server repeats the random ones."""
        answer = reply.answer
        if answer is not None and (span := self._restore_bytes(answer.span)) != answer.span:
            answer = replace(answer, span=span, value=parse_json(span))
        return Reply(replace(reply.exchange, body=self._restore_bytes(reply.exchange.body)), answer)

    def _restore_bytes(self, data: bytes) -> bytes:
        for word, fixed in self.words.items():
            data = data.replace(word.encode(), fixed.encode())
        return data


def make_wrong_type_arguments(schema: Json, arguments: Mapping[str, Json]) -> InvalidArguments | None:
    """The arguments with a wrong type for the first required parameter of one plain type; None without such a
    parameter.
    """
    for name, part in _required(schema, arguments):
        wrong = _draw_wrong_value(part.get("type"))
        if wrong is not None and _breaks(schema, mistaken := {**arguments, name: wrong.sent}):
            return InvalidArguments(name, mistaken, {**arguments, name: wrong.recorded}, wrong.words)
    return None


def make_incomplete_arguments(schema: Json, arguments: Mapping[str, Json]) -> InvalidArguments | None:
    """The arguments without the first required parameter that has no default; None when there is none."""
    for name, part in _required(schema, arguments):
        left = {key: value for key, value in arguments.items() if key != name}
        if "default" not in part and _breaks(schema, left):
            return InvalidArguments(name, left, left)
    return None


def _draw_wrong_value(named: Json) -> _WrongValue | None:
    """A value that is not of the named type; None for a type that is not known."""
    word = draw_word("-")
    if named == "string":
        key = draw_word("_")
        return _WrongValue({key: word}, {_KEY: _WORD}, {key: _KEY, word: _WORD})
    fixed = _WRONG_TEXTS.get(named) if isinstance(named, str) else None
    return None if fixed is None else _WrongValue(word, fixed, {word: fixed})


def _required(schema: Json, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    if not isinstance(schema, Mapping):
        return
    flattener = SchemaFlattener(schema, 0)
    try:
        flat = flattener.flatten(schema)
        properties = flat.get("properties")
        required = flat.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name in arguments and isinstance(properties, Mapping) and name in properties:
                yield name, flattener.flatten(properties[name])
    except (SchemaNotFlattened, schema_validation.SchemaNotDecidable):
        return


def _breaks(schema: Json, arguments: Mapping[str, Json]) -> bool:
    try:
        return schema_validation.find_violation(schema, arguments) is not None
    except schema_validation.SchemaNotDecidable:
        return False
