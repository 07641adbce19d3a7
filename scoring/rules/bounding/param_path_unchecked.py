"""Rule `param-path-unchecked`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_truthy
from scoring.text.words import split_tokens
from scoring.vocabularies import parameters

_NO_PATH: Final = re.compile(
    r"\b(?:regex|regexp|regular expression|glob)(?:es|s)?\b|\bbase64\b|^(?:the )?(?:raw )?(?:contents?|text) of\b",
    re.IGNORECASE,
)
_WORDS: Final = {*parameters.PATHS, "paths", "files", "dirs", "directories", "folders", "filepath", "filenames"}


@rule(
    "param-path-unchecked",
    scope=Param,
    reads="listing",
    severity=Severity.ERROR,
    title="Path parameter accepts any string",
    remedy="Add a `pattern` to the schema that matches only permitted paths, for example "
    "`^[a-z0-9_][a-z0-9_/-]*([.][a-z0-9]+)?$`. Rename the parameter if its value is not a path.",
    since="2026.1",
    version=1,
    fix=(
        build_param("file_path", description="File in the folder of notes."),
        build_param("file_path", description="File in the folder of notes.", pattern="^[a-z0-9_]+[.]md$"),
    ),
    good=[
        build_param(name="filePath", pattern="^[a-z./]+$"),
        build_param(name="profile"),
        build_param(name="file", enum=["a"]),
        build_param(
            name="select_paths", type="array", items={"type": "string"}, description="Regex patterns of the pages."
        ),
        build_param(name="file", description="Raw base64-encoded file content"),
        build_param(name="configFile", description="The contents of the file, not its path."),
    ],
    bad=[build_param(name="filePath"), build_param(name="output_dir", type=["string", "null"])],
)
def param_path_unchecked(param: Param, literal: bool = False) -> Iterator[Answer]:
    """A path without a `pattern` may be `../../etc/passwd`. The server must validate the path too.

    `literal` judges only the parameter itself and finds the words anywhere in its name, as the published reference
    does, so that `profile` and `direction` count. Otherwise the content of a file and an expression that is matched
    with paths are none.
    """
    if not literal and _NO_PATH.search(param.description):
        return
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _is_unchecked(place, literal)):
        yield suffix, "a path without a pattern"


def _is_unchecked(place: ValueSchema, literal: bool) -> bool:
    if "string" not in place.types or not _names_path(place.name, literal):
        return False
    return not _checked(place.schema, literal)


def _names_path(name: str, literal: bool) -> bool:
    if literal:
        lowered = name.lower()
        return any(word in lowered for word in parameters.PATHS)
    return not _WORDS.isdisjoint(split_tokens(name))


def _checked(schema: Mapping[str, Json], literal: bool) -> bool:
    return is_truthy(schema.get("pattern")) or (not literal and ("enum" in schema or "const" in schema))
