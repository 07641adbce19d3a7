"""Arguments for a tool, made from its input schema: as few as it requires, equal in every run, and harmless."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from crawler.collectors.protocol.trials import change_words, sample_texts, schema_validation
from crawler.collectors.protocol.trials.schema_flattening import SchemaFlattener, SchemaNotFlattened
from evidence.canonical import Json
from evidence.json_members import array_or_empty, object_or_empty, strings_in

_VARIANTS: Final = 4
_DEEPEST: Final = 8
_MOST_ITEMS: Final = 16
_MOST_MEMBERS: Final = 64
_MOST_BYTES: Final = 16 * 1024
_EMPTY: Final[tuple[Json, ...]] = (None, "")
_DRY_RUN: Final = frozenset({"dryrun", "dry", "readonly", "preview", "simulate"})
_WAITING_TIME: Final = re.compile(r"(?i:duration|delay)|^sleep|^wait|_(?:sleep|wait)|Sleep|Wait")
_TYPED: Final = (
    ("object", ("properties", "required", "additionalProperties", "patternProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")),
    ("number", ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")),
)


class NoArguments(Struct, frozen=True):
    """No arguments could be made; `why` in a few stable words."""

    why: str


def make_arguments(schema: Json) -> Mapping[str, Json] | NoArguments:
    """Arguments that fit an untrusted schema.

    They hold the required members, and others for which the author gives a harmless example or default. Values that
    name a place, an address, a command or an action are never taken from the schema.
    """
    if not isinstance(schema, Mapping):
        return NoArguments("the input schema is not an object")
    why = ""
    for variant in range(_VARIANTS):
        try:
            made = _Maker(schema, variant).arguments()
            if len(json.dumps(made)) > _MOST_BYTES:
                return NoArguments("the arguments would be very long")
            if schema_validation.find_violation(schema, made, formats=True) is None:
                return made
        except SchemaNotFlattened as failure:
            why = why or str(failure)
        except schema_validation.SchemaNotDecidable as undecidable:
            return NoArguments(str(undecidable))
        except (OverflowError, RecursionError):
            return NoArguments("the schema holds extreme values")
    return NoArguments(why or "no simple value fits the schema")


class _Maker:
    """Makes the values of one variant: which branch of a union is tried."""

    def __init__(self, root: Mapping[str, Json], variant: int) -> None:
        self._root = root
        self._flattener = SchemaFlattener(root, variant)

    def arguments(self) -> Mapping[str, Json]:
        flat = self._flattener.flatten(self._root)
        return self._object(flat, 0)

    def _value(self, schema: Json, name: str, depth: int, nth: int = 0) -> Json:
        if depth > _DEEPEST:
            raise SchemaNotFlattened("the schema requires itself, or more levels than are made")
        flat = self._flattener.flatten(schema)
        if "const" in flat:
            return self._vetted([flat["const"]], name)
        if isinstance(options := flat.get("enum"), list):
            return self._vetted([*options[nth:256], *options[:nth]], name)
        offered = None if nth else self._offered(flat, name)
        return self._made(flat, name, depth, nth) if offered is None else offered

    def _made(self, flat: Mapping[str, Json], name: str, depth: int, nth: int) -> Json:
        match _type(flat):
            case "object":
                return self._object(flat, depth)
            case "array":
                return self._array(flat, name, depth)
            case "integer" | "number" as kind:
                return _number(flat, nth, whole=kind == "integer")
            case "boolean":
                return _is_dry_run(name) is (nth % 2 == 0)
            case "null":
                return None
        return self._text(flat, name, nth)

    def _object(self, flat: Mapping[str, Json], depth: int) -> dict[str, Json]:
        properties = object_or_empty(flat.get("properties"))
        required = strings_in(flat.get("required"))
        if len(required) > _MOST_MEMBERS:
            raise SchemaNotFlattened("more members are required than are made")
        made = {name: self._member(flat, name, depth) for name in dict.fromkeys(required)}
        for name, schema in islice(properties.items(), _MOST_MEMBERS):
            offered = (
                None
                if name in made or change_words.may_mention_change(name)
                else self._offered(object_or_empty(schema), name)
            )
            if offered is not None:
                made[name] = offered
        fewest = _count(flat.get("minProperties"))
        for name, schema in islice(properties.items(), _MOST_MEMBERS):
            if len(made) < fewest and name not in made and not change_words.may_mention_change(name):
                made[name] = self._value(schema, name, depth + 1)
        for index in range(min(fewest, _MOST_MEMBERS)):
            if len(made) < fewest:
                made[f"{sample_texts.EXAMPLE}{index}"] = self._value(
                    flat.get("additionalProperties", True), "", depth + 1
                )
        return made

    def _member(self, flat: Mapping[str, Json], name: str, depth: int) -> Json:
        properties = object_or_empty(flat.get("properties"))
        schema = properties[name] if name in properties else flat.get("additionalProperties", True)
        if schema is False:
            raise SchemaNotFlattened("a required member is not allowed")
        value = self._value(schema, name, depth + 1)
        if value is True and change_words.mentions_change(name) and not _is_dry_run(name):
            raise SchemaNotFlattened("a required switch asks for a deed")
        return value

    def _array(self, flat: Mapping[str, Json], name: str, depth: int) -> list[Json]:
        fewest, most = _count(flat.get("minItems")), flat.get("maxItems")
        if fewest > _MOST_ITEMS:
            raise SchemaNotFlattened("more items are required than are made")
        room = int(most) if isinstance(most, (int, float)) and 0 <= most < _MOST_ITEMS else _MOST_ITEMS
        ahead = array_or_empty(flat.get("prefixItems")) or (array_or_empty(flat.get("items")))
        rest = flat.get("items", True) if "prefixItems" in flat or not ahead else flat.get("additionalItems", True)
        wanted = min(max(fewest, len(ahead), 1), room)
        made: list[Json] = []
        for nth in range(wanted):
            schema = ahead[nth] if nth < len(ahead) else rest
            try:
                made.append(self._value(schema, name, depth + 1, nth if nth >= len(ahead) else 0))
            except SchemaNotFlattened:
                if len(made) < fewest:
                    raise
                break
        return made

    def _text(self, flat: Mapping[str, Json], name: str, nth: int) -> str:
        found = list(islice(sample_texts.make_sample_texts(name, flat), nth + 1))
        if not found:
            raise SchemaNotFlattened("no harmless text fits format, pattern and length")
        return found[min(nth, len(found) - 1)]

    def _offered(self, flat: Mapping[str, Json], name: str) -> Json:
        """An example or default of the schema's author that is harmless and fits; None when there is none.

        In place of a time to wait it is a shorter one, since a call holds a slot of the sandbox.
        """
        if sample_texts.is_risky_parameter(name):
            return None
        examples = array_or_empty(flat.get("examples"))[:4]
        for value in (*examples, flat.get("example"), flat.get("default")):
            if value not in _EMPTY and _is_harmless(value) and self._fits(flat, value):
                return self._shorten(flat, name, value)
        return None

    def _shorten(self, flat: Mapping[str, Json], name: str, value: Json) -> Json:
        """A simple smaller number in place of a time to wait, if one fits."""
        kind = _type(flat)
        if not _WAITING_TIME.search(name) or kind not in {"integer", "number"} or not isinstance(value, (int, float)):
            return value
        try:
            made = _number(flat, 0, whole=kind == "integer")
        except SchemaNotFlattened:
            return value
        return made if made < value and self._fits(flat, made) else value

    def _fits(self, flat: Mapping[str, Json], value: Json) -> bool:
        shared = {name: self._root[name] for name in ("$schema", "$defs", "definitions") if name in self._root}
        try:
            return schema_validation.find_violation({**flat, **shared}, value, formats=True) is None
        except schema_validation.SchemaNotDecidable:
            return False

    def _vetted(self, options: Sequence[Json], name: str) -> Json:
        """The first harmless option; those without a verb of changing come first."""
        kept = [value for value in options if _is_harmless(value)]
        quiet = [value for value in kept if not (isinstance(value, str) and change_words.may_mention_change(value))]
        if not quiet and (not kept or sample_texts.is_risky_parameter(name) or _is_choice_of_action(name)):
            raise SchemaNotFlattened("every allowed value names a place or a deed")
        return (quiet or kept)[0]


def _is_harmless(value: Json) -> bool:
    waiting: list[Json] = [value]
    for _ in range(200):
        if not waiting:
            return True
        each = waiting.pop()
        if isinstance(each, str) and (len(each) > 500 or not sample_texts.is_harmless_text(each)):
            return False
        if isinstance(each, float) and not math.isfinite(each):
            return False
        if isinstance(each, Mapping):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
    return False


def _is_choice_of_action(name: str) -> bool:
    return name.lower().rstrip("s") in {"action", "command", "method", "mode", "op", "operation", "verb"}


def _is_dry_run(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _DRY_RUN


def _type(flat: Mapping[str, Json]) -> str:
    """The type to make: the first named type that is not null, else the type to which the keywords belong."""
    named = flat.get("type")
    types = [named] if isinstance(named, str) else strings_in(named)
    plain = next((kind for kind in types if kind != "null"), types[0] if types else "")
    return plain or next((kind for kind, words in _TYPED if any(word in flat for word in words)), "string")


def _number(flat: Mapping[str, Json], nth: int, *, whole: bool) -> int | float:
    keywords = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")
    bounds = {name: flat[name] for name in keywords if name in flat}
    if any(isinstance(value, float) and not math.isfinite(value) for value in bounds.values()):
        raise SchemaNotFlattened("the schema holds extreme values")
    left = nth
    for number in _numbers(bounds, whole=whole):
        plain: int | float = int(number) if number.denominator == 1 else float(number)
        if schema_validation.find_violation(bounds, plain) is None:
            if not left:
                return plain
            left -= 1
    raise SchemaNotFlattened("no simple number fits the bounds")


def _numbers(bounds: Mapping[str, Any], *, whole: bool) -> Iterator[Fraction]:
    limits = {name: Fraction(value) for name, value in bounds.items() if not isinstance(value, bool)}
    step = abs(limits.get("multipleOf", Fraction(1))) or Fraction(1)
    if whole and step.denominator != 1:
        step = Fraction(step.numerator)
    low = max((limits[name] for name in ("minimum", "exclusiveMinimum") if name in limits), default=None)
    high = min((limits[name] for name in ("maximum", "exclusiveMaximum") if name in limits), default=None)
    yield from (step * count for count in range(1, _MOST_ITEMS + 1))
    yield Fraction(0)
    if low is not None:
        first = math.ceil(low / step) * step
        yield from (first + step * count for count in range(_MOST_ITEMS + 1))
    if high is not None:
        last = math.floor(high / step) * step
        yield from (last - step * count for count in range(_MOST_ITEMS + 1))
    if low is not None and high is not None and not whole:
        yield (low + high) / 2


def _count(value: Json) -> int:
    return math.ceil(value) if isinstance(value, (int, float)) and 0 <= value < 1e6 else 0
