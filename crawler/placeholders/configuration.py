"""Makes a declared target startable: placeholders replace the values that only a user could provide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.placeholders.accepted_values import find_accepted_for, find_accepted_values
from crawler.placeholders.missing_inputs import find_named_inputs
from crawler.placeholders.values import PlaceholderKind, make_placeholder
from evidence.canonical import Json
from evidence.model import Target
from evidence.package_inputs import InputPlace, PackageInput

MAX_PLACEHOLDERS: Final = 60
"""Placeholders of one target."""


class GivenInput(Struct, frozen=True):
    """The name of an input and the kind of its placeholder. `declared` False: only an error message named it."""

    place: InputPlace
    name: str
    kind: PlaceholderKind
    declared: bool


class Configured(Struct, frozen=True):
    """A target with the complete `environment` and `arguments` of its process, and the inputs with placeholders."""

    target: Target
    given: tuple[GivenInput, ...]

    @property
    def facts(self) -> Mapping[str, Json]:
        """Names and kinds of the placeholders for a record, never values; empty when there are none."""
        if not self.given:
            return {}
        rows = [(each.place, each.name[:_LONGEST_NAME], each.kind.value) for each in self.given]
        return {
            "placeholders": {
                "environment": {name: kind for place, name, kind in rows if place is InputPlace.ENVIRONMENT},
                "arguments": [
                    {"name": name, "kind": kind} for place, name, kind in rows if place != InputPlace.ENVIRONMENT
                ],
                "undeclared": [each.name[:_LONGEST_NAME] for each in self.given if not each.declared],
            }
        }


_LONGEST_NAME: Final = 80
_FREE: Final = frozenset({PlaceholderKind.TEXT, PlaceholderKind.CHOICE, PlaceholderKind.REGION})


def configure_target(target: Target, named: Sequence[PackageInput] = ()) -> Configured:
    """The target with placeholders for its required inputs and for those that an error message named.

    A named input that is also declared is provided as declared; an input with a declared value keeps it. Deterministic.
    """
    asked = _chosen(target, named)
    values = [make_placeholder(each, target.identifier) for each in asked]
    declared = {_key(each) for each in target.inputs}
    given = tuple(
        GivenInput(each.place, each.name, kind, declared=_key(each) in declared)
        for each, (kind, _) in zip(asked, values, strict=True)
    )
    texts = [(each, value) for each, (_, value) in zip(asked, values, strict=True)]
    return Configured(
        replace(target, environment=_environment(target, texts), arguments=_arguments(target, texts), inputs=()), given
    )


def find_still_missing_inputs(target: Target, given: Sequence[GivenInput], output: str) -> Sequence[PackageInput]:
    """The inputs that the output of a server started with `given` reports as missing; when it names none, all other
    declared
    ones.
    """
    keys = {(each.place, each.name) for each in given}
    known = {*dict(target.environment), *target.arguments}
    new = [
        each
        for each in find_named_inputs(output)
        if (each.place, each.name) not in keys and known.isdisjoint({each.name, *each.choices})
    ]
    return new or [each for each in target.inputs if (each.place, each.name) not in keys]


def find_refused_inputs(target: Target, named: Sequence[PackageInput], output: str) -> Sequence[PackageInput]:
    """The inputs whose placeholders an output refuses while it enumerates what is accepted, with that as choices."""
    asked = [(each, make_placeholder(each, target.identifier)) for each in _chosen(target, named)]
    refused = {each: find_accepted_for(output, each.name, value) for each, (_, value) in asked}
    free = [(each, value) for each, (kind, value) in asked if kind in _FREE]
    if not any(refused.values()) and len(free) == 1:
        [(each, value)] = free
        values = find_accepted_values(output)
        refused = {} if value in values else {each: values}
    return [replace(each, choices=values) for each, values in refused.items() if values]


def with_inputs(named: Sequence[PackageInput], further: Sequence[PackageInput]) -> Sequence[PackageInput]:
    """Both together; of an input in both, the further one."""
    return tuple({_key(each): each for each in (*named, *further)}.values())


def _chosen(target: Target, named: Iterable[PackageInput]) -> Sequence[PackageInput]:
    known = {(InputPlace.ENVIRONMENT, name) for name, _ in target.environment}
    known |= {(InputPlace.OPTION, word) for word in target.arguments}
    wanted = [each for each in named if (each.place, each.name) not in known]
    choices = {_key(each): each.choices for each in wanted}
    declared = [each for each in target.inputs if each.required or _key(each) in choices]
    seen = {_key(each) for each in declared}
    given = [replace(each, choices=choices.get(_key(each)) or each.choices) for each in declared]
    return [*given, *(each for each in wanted if _key(each) not in seen)][:MAX_PLACEHOLDERS]


def _key(asked: PackageInput) -> tuple[InputPlace, str]:
    return asked.place, asked.name.lower().replace("_", "-") if asked.place is InputPlace.WORD else asked.name


def _environment(target: Target, texts: Iterable[tuple[PackageInput, str]]) -> tuple[tuple[str, str], ...]:
    made = {each.name: value for each, value in texts if each.place is InputPlace.ENVIRONMENT}
    return tuple(sorted({**made, **dict(target.environment)}.items()))


def _arguments(target: Target, texts: Sequence[tuple[PackageInput, str]]) -> tuple[str, ...]:
    """The known words with declared inputs at their declared places and named ones at the end, options first."""
    words: list[str] = []
    known = {_key(each) for each in target.inputs}
    declared = [(each, value) for each, value in texts if _key(each) in known]
    for position in range(len(target.arguments) + 1):
        for each, value in declared:
            if each.at == position:
                words += _words(each, value)
        words += target.arguments[position : position + 1]
    named = [(each, value) for each, value in texts if _key(each) not in known]
    for place in (InputPlace.OPTION, InputPlace.WORD):
        for each, value in named:
            if each.place is place:
                words += _words(each, value)
    return tuple(words)


def _words(asked: PackageInput, value: str) -> Sequence[str]:
    match asked.place:
        case InputPlace.OPTION:
            return (asked.name, value)
        case InputPlace.WORD:
            return (value,)
        case InputPlace.ENVIRONMENT:
            return ()
