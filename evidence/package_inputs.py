"""Inputs that a package declares without a value: environment variables and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from evidence.canonical import Json
from evidence.json_members import array_or_empty, count_or_zero, object_or_empty, objects_in, text_or_empty


class InputPlace(StrEnum):
    """How an input is passed to the package."""

    ENVIRONMENT = "environment"
    OPTION = "option"  # a name and a value, two words of the command line
    WORD = "word"  # a positional argument


class PackageInput(Struct, frozen=True, kw_only=True):
    """One declared input without a value (the `Input` of a server.json).

    `name` is the name of the variable, option or positional argument. `at` is the number of the target's known
    arguments before it. `hint` is the name of a value, or a description; `example` is a declared example. With a `form`
    such as `https://{region}.example.com` the value is that text with its `variables` filled in.
    """

    place: InputPlace
    name: str
    at: int = 0
    format: str = ""
    hint: str = ""
    example: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    secret: bool = False
    form: str = ""
    variables: tuple[PackageInput, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """The members that are not empty; `name` always."""
        members: dict[str, Json] = {
            "place": self.place.value,
            "name": self.name,
            "at": self.at,
            "format": self.format,
            "hint": self.hint,
            "example": self.example,
            "choices": list(self.choices),
            "required": self.required,
            "secret": self.secret,
            "form": self.form,
            "variables": [variable.as_json() for variable in self.variables],
        }
        return {name: value for name, value in members.items() if value or name == "name"}

    @classmethod
    def from_json(cls, row: Mapping[str, Json]) -> PackageInput:
        """The input that `as_json` wrote; raise ValueError for an unknown place."""
        return cls(
            place=InputPlace(text_or_empty(row.get("place"))),
            name=text_or_empty(row.get("name")),
            at=count_or_zero(row.get("at")),
            format=text_or_empty(row.get("format")),
            hint=text_or_empty(row.get("hint")),
            example=text_or_empty(row.get("example")),
            choices=tuple(text_or_empty(choice) for choice in array_or_empty(row.get("choices"))),
            required=row.get("required") is True,
            secret=row.get("secret") is True,
            form=text_or_empty(row.get("form")),
            variables=tuple(cls.from_json(object_or_empty(variable)) for variable in objects_in(row.get("variables"))),
        )
