"""Reads the declared inputs of a package: known values, and inputs without a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.package_inputs import InputPlace, PackageInput

MAX_INPUTS: Final = 100
MAX_VALUE: Final = 8192
MAX_VARIABLE: Final = 1024
MAX_HINT: Final = 300
MAX_CHOICES: Final = 20

VARIABLE_NAME: Final = compile_on_use(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_OPTION_NAME: Final = compile_on_use(r"-{0,2}[A-Za-z][\w.-]{0,100}")
# Only a name in braces is a variable: `{"a": 1}` is a value.
_VARIABLE: Final = compile_on_use(r"\{([A-Za-z_][\w.-]{0,200})\}")
# Placeholders for the reader's own value: `<your-token>`, `${input:key}`, `YOUR_KEY`, `/path/to/x`, `/Users/ann/x`.
_SAMPLE: Final = compile_on_use(
    r"<[A-Za-z][^<>]{0,200}>|\$\{[^{}]{0,200}\}|\byour[-_ ]\w|\bpath/to/|^/(?:Users|home)/|^[A-Za-z]:[\\/](?!/)"
    r"|\babsolute[-_ /]path",
    re.IGNORECASE,
)
_PATH: Final = compile_on_use(r"(?:~|\.{1,2})?/[^/]|[A-Za-z]:[\\/](?!/)")
_UNSENDABLE: Final = compile_on_use(r"[\r\n\0]")


def read_known_pairs(value: Json, names: re.Pattern[str]) -> tuple[tuple[str, str], ...]:
    """Name and value pairs that are complete and not secret, sorted by name."""
    known = {name: found for name, item in _named(value, names) if (found := read_known_value(item)) is not None}
    return tuple(sorted((name, found) for name, found in known.items() if not _UNSENDABLE.search(found)))


def read_input_variables(value: Json) -> tuple[PackageInput, ...]:
    """The declared environment variables without a value, each once, in the order of the document."""
    found = {
        name: _input(item, InputPlace.ENVIRONMENT, name)
        for name, item in _named(value, VARIABLE_NAME)
        if read_known_value(item) is None
    }
    return tuple(found.values())


def read_arguments(items: Sequence[Mapping[str, Json]]) -> tuple[tuple[str, ...], tuple[PackageInput, ...]]:
    """The words of the declared arguments with a value or default, in order, and the arguments without one.

    A named argument becomes two words. One that is optional is left out if its default is a path, which the reader's
    machine may not have.
    """
    words: list[str] = []
    inputs: list[PackageInput] = []
    for item in items[:MAX_INPUTS]:
        known, name = read_known_value(item), first_text(item, "name")
        if _is_optional_path(item):
            continue
        if item.get("type") != "named":
            if known is None:
                label = first_text(item, "valueHint", "value_hint", "name") or ""
                inputs.append(_input(item, InputPlace.WORD, label[:MAX_HINT], at=len(words)))
            else:
                words.append(known)
        elif name is not None and known is not None:
            words += [name, known] if known else [name]
        elif name is not None and not _wants_value(item):
            words.append(name)
        elif name is not None and _OPTION_NAME.fullmatch(name):
            inputs.append(_input(item, InputPlace.OPTION, name, at=len(words)))
    return tuple(words), tuple(inputs)


def read_runtime_variables(items: Sequence[Mapping[str, Json]]) -> tuple[dict[str, str], tuple[PackageInput, ...]]:
    """Environment variables among the arguments of a container runtime: `-e NAME=value` and `--env NAME={value}`."""
    known: dict[str, str] = {}
    inputs: list[PackageInput] = []
    for item in items[:MAX_INPUTS]:
        name, mark, form = (first_text(item, "value", "default") or "").partition("=")
        if first_text(item, "name") not in {"-e", "--env"} or not mark or not VARIABLE_NAME.fullmatch(name):
            continue
        whole = read_known_value({**item, "value": form})
        if whole is None:
            inputs.append(_input({**item, "value": form}, InputPlace.ENVIRONMENT, name))
        elif not _UNSENDABLE.search(whole):
            known[name] = whole
    return known, tuple(inputs)


def read_known_value(item: Mapping[str, Json]) -> str | None:
    """A declared input's value or default with its variables replaced; None when only a user knows the value."""
    declared = _declared_value(item)
    return None if declared is None else fill_variables(declared, as_object(item.get("variables")))


def fill_variables(form: str, known: Mapping[str, Json]) -> str | None:
    """The text with each `{variable}` replaced by its declared value or default; None when one has neither.

    Values are inserted literally: nested variables could grow without bound.
    """
    if len(form) > MAX_VALUE:
        return None
    whole = _part_filled(form, known)
    return None if len(whole) > MAX_VALUE or _VARIABLE.search(whole) else whole


def first_text(item: Mapping[str, Json], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := item.get(name), str)), None)


def as_object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _part_filled(form: str, known: Mapping[str, Json]) -> str:
    used = set(_VARIABLE.findall(form)) & set(known)
    values = {name: _declared_value(as_object(known[name])) for name in used}

    def fill(found: re.Match[str]) -> str:
        value = values.get(found[1])
        return found[0] if value is None or len(value) > MAX_VARIABLE else value

    return _VARIABLE.sub(fill, form)


def _input(item: Mapping[str, Json], place: InputPlace, name: str, *, at: int = 0) -> PackageInput:
    """One input; a value with unset variables becomes its form."""
    declared = None if _is_secret(item) else _stated(item)
    known = as_object(item.get("variables"))
    form = _part_filled(declared[:MAX_VALUE], known) if declared and _VARIABLE.search(declared) else ""
    unset = dict.fromkeys(_VARIABLE.findall(form))
    plain = PackageInput(
        place=place,
        name=name,
        at=at,
        format=(first_text(item, "format") or "")[:40],
        hint=_hint(item),
        example=_example(item),
        choices=_choices(item),
        required=bool(item.get("isRequired") or item.get("is_required") or (declared and "value" in item)),
        secret=_is_secret(item),
    )
    if not form or len(form) > MAX_VALUE or len(unset) > MAX_CHOICES:
        return plain
    return replace(plain, form=form, variables=tuple(_input(as_object(known.get(each)), place, each) for each in unset))


def _hint(item: Mapping[str, Json]) -> str:
    """All texts that describe the required value, examples in place of a value included."""
    stated = None if _is_secret(item) else _stated(item)
    hints = (
        first_text(item, "placeholder"),
        first_text(item, "valueHint", "value_hint"),
        first_text(item, "example"),
        stated,
    )
    return "\n".join(part[:MAX_HINT] for part in (*hints, first_text(item, "description")) if part)[:MAX_HINT]


def _example(item: Mapping[str, Json]) -> str:
    """A declared example that is no placeholder for the reader's own value; empty for a secret."""
    stated = "" if _is_secret(item) else first_text(item, "placeholder", "example") or ""
    unusable = len(stated) > MAX_HINT or _SAMPLE.search(stated) or _UNSENDABLE.search(stated)
    return "" if unusable else stated


def _choices(item: Mapping[str, Json]) -> tuple[str, ...]:
    found = item.get("choices")
    texts = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    return tuple(each for each in texts[:MAX_CHOICES] if each and len(each) <= MAX_HINT and "\0" not in each)


def _wants_value(item: Mapping[str, Json]) -> bool:
    """Whether a named argument without a known value takes a value and is not a flag."""
    members = ("valueHint", "value_hint", "value", "default", "description")
    return any(first_text(item, member) for member in members) or bool(
        item.get("isRequired") or item.get("is_required")
    )


def _declared_value(item: Mapping[str, Json]) -> str | None:
    stated = None if _is_secret(item) else _stated(item)
    return None if stated is None or _SAMPLE.search(stated[:MAX_VALUE]) else stated


def _stated(item: Mapping[str, Json]) -> str | None:
    stated = first_text(item, "value")
    return first_text(item, "default") if stated is None else stated


def _is_optional_path(item: Mapping[str, Json]) -> bool:
    """Whether an argument may be left out whose value is a path of the author's machine."""
    is_required = bool(item.get("isRequired") or item.get("is_required"))
    stated = first_text(item, "value", "default") or ""
    return not is_required and "value" not in item and _PATH.match(stated) is not None


def _is_secret(item: Mapping[str, Json]) -> bool:
    return item.get("isSecret") is True or item.get("is_secret") is True


def _named(value: Json, names: re.Pattern[str]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for item in _objects(value)[:MAX_INPUTS]:
        name = first_text(item, "name")
        if name is not None and names.fullmatch(name):
            yield name, item


def _objects(value: Json) -> Sequence[Mapping[str, Json]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
