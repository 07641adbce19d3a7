"""From the remotes and packages of a valid document to targets: what can be opened without knowing any secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crawler.addresses import Unusable, is_local, normalise_url, npm_name, oci_reference, plain_name, pypi_name
from crawler.registries.shapes import Mismatch, describe
from evidence.canonical import Json
from evidence.model import Target, TargetType

MAX_TARGETS: Final = 32
MAX_INPUTS: Final = 100
MAX_INPUT: Final = 8192
MAX_VARIABLE: Final = 1024

# Only a name in braces is a variable: `{"a": 1}` is a value.
_VARIABLE: Final = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_REMOTE_TYPES: Final = {
    "streamable-http": TargetType.STREAMABLE_HTTP,
    "streamable": TargetType.STREAMABLE_HTTP,
    "http": TargetType.STREAMABLE_HTTP,
    "sse": TargetType.SSE,
}
_PACKAGE_TYPES: Final = {
    "npm": TargetType.NPM,
    "pypi": TargetType.PYPI,
    "oci": TargetType.OCI,
    "docker": TargetType.OCI,
    "nuget": TargetType.NUGET,
    "cargo": TargetType.CARGO,
    "crates": TargetType.CARGO,
    "mcpb": TargetType.MCPB,
}
_RUNNABLE: Final = frozenset({TargetType.NPM, TargetType.PYPI})


@dataclass(frozen=True, slots=True)
class Reach:
    """How a server can be reached, best first, and why the rest of what it declares cannot be used."""

    targets: tuple[Target, ...]
    unusable: tuple[str, ...]


def reach(document: Mapping[str, Json]) -> Reach:
    """All usable targets: public remotes, then npm and PyPI packages, other packages, and remotes on local addresses.

    Streamable HTTP comes before SSE, a package that speaks stdio before one that opens a port; otherwise the
    document's own order is kept. A URL with a variable that has no value is not a target.
    """
    found: list[tuple[int, int, Target]] = []
    unusable: list[str] = []
    for path, item in _declared(document):
        try:
            rank, target = _remote(item) if path.startswith("remotes") else _package(item)
        except Unusable as error:
            unusable.append(str(Mismatch(path, str(error), describe(_label(item)))))
        else:
            found.append((rank, len(found), target))
    ordered = dict.fromkeys(target for _, _, target in sorted(found, key=lambda entry: entry[:2]))
    return Reach(tuple(ordered)[:MAX_TARGETS], tuple(unusable))


def _declared(document: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for group in ("remotes", "packages"):
        for index, item in enumerate(_objects(document.get(group))[: MAX_TARGETS * 4]):
            yield f"{group}[{index}]", item


def _label(item: Mapping[str, Json]) -> Json:
    return next((item[name] for name in ("url", "identifier", "name") if name in item), None)


def _remote(item: Mapping[str, Json]) -> tuple[int, Target]:
    kind = _REMOTE_TYPES.get(_text(item, "type", "transport_type") or "")
    if kind is None:
        raise Unusable("a remote of type streamable-http or sse")
    url = _filled(_text(item, "url") or "", _object(item.get("variables")))
    if url is None:
        raise Unusable("a URL without unset variables")
    local = is_local(url)
    target = Target(type=kind, identifier=url.partition("#")[0], headers=_inputs(item.get("headers"), _HEADER_NAME))
    return (6 if local else 0) + (kind is TargetType.SSE), target


def _package(item: Mapping[str, Json]) -> tuple[int, Target]:
    declared = _text(item, "registryType", "registry_type", "registry_name") or ""
    kind = _PACKAGE_TYPES.get(declared.lower())
    if kind is None:
        raise Unusable("a package of a known registry type")
    identifier, version = _named(kind, item)
    target = Target(
        type=kind,
        identifier=identifier,
        version=version,
        arguments=_arguments(item.get("packageArguments", item.get("package_arguments"))),
        environment=_inputs(item.get("environmentVariables", item.get("environment_variables")), _VARIABLE_NAME),
    )
    opens_port = _text(_object(item.get("transport")), "type") not in {None, "stdio"}
    return (2 if kind in _RUNNABLE else 4) + opens_port, target


def _named(kind: TargetType, item: Mapping[str, Json]) -> tuple[str, str | None]:
    """The package's name and version, checked against the rules of its registry."""
    name = _text(item, "identifier", "name") or ""
    version = _text(item, "version") or None
    if version == "latest":
        version = None
    match kind:
        case TargetType.NPM:
            return npm_name(name), version
        case TargetType.PYPI:
            pypi_name(name)
            return name, version
        case TargetType.OCI:
            return _image(name, version, _text(item, "registryBaseUrl", "registry_base_url") or "")
        case TargetType.MCPB:
            normalise_url(name)
            return name, version
        case _:
            return plain_name(name), version


def _image(name: str, version: str | None, base: str) -> tuple[str, str | None]:
    """Older documents name the image registry apart from the image."""
    host = base.partition("://")[2].strip("/")
    first = name.partition("/")[0]
    qualified = "/" in name and ("." in first or ":" in first)
    reference = oci_reference(name if qualified or not host or "/" in host else f"{host}/{name}")
    return reference.repository, reference.digest or reference.tag or version


def _arguments(value: Json) -> tuple[str, ...]:
    """The declared arguments that have a value or default, in order; a named one becomes two words."""
    words: list[str] = []
    for item in _objects(value)[:MAX_INPUTS]:
        known = _value(item)
        if item.get("type") == "named":
            words += _named_argument(item, known)
        elif known is not None:
            words.append(known)
    return tuple(words)


def _named_argument(item: Mapping[str, Json], known: str | None) -> list[str]:
    name = _text(item, "name")
    if name is None:
        return []
    if known is not None:
        return [name, known] if known else [name]
    wanted = any(_text(item, member) for member in ("valueHint", "value_hint", "value", "default", "description"))
    return [] if wanted or item.get("isRequired") or item.get("is_required") else [name]


def _inputs(value: Json, names: re.Pattern[str]) -> tuple[tuple[str, str], ...]:
    """The declared name and value pairs that are complete and no secrets, sorted by name."""
    pairs: dict[str, str] = {}
    for item in _objects(value)[:MAX_INPUTS]:
        name, known = _text(item, "name"), _value(item)
        if name is not None and names.fullmatch(name) and known is not None and not re.search(r"[\r\n\0]", known):
            pairs[name] = known
    return tuple(sorted(pairs.items()))


def _value(item: Mapping[str, Json]) -> str | None:
    """A declared input's value or default with its variables filled in; None when a person would have to be asked."""
    text = _declared_value(item)
    return None if text is None else _filled(text, _object(item.get("variables")))


def _filled(text: str, variables: Mapping[str, Json]) -> str | None:
    """The text with each `{variable}` replaced by its declared value or default, or None when one has neither.

    Values are put in as they are: a variable inside a variable could grow without bound.
    """
    if len(text) > MAX_INPUT:
        return None
    used = set(_VARIABLE.findall(text)) & set(variables)
    known = {name: _declared_value(_object(variables[name])) for name in used}
    if any(value is None or len(value) > MAX_VARIABLE for value in known.values()):
        return None
    filled = _VARIABLE.sub(lambda found: known.get(found[1], found[0]) or "", text)
    return None if len(filled) > MAX_INPUT or _VARIABLE.search(filled) else filled


def _declared_value(item: Mapping[str, Json]) -> str | None:
    if item.get("isSecret") is True or item.get("is_secret") is True:
        return None
    text = _text(item, "value")
    return _text(item, "default") if text is None else text


def _text(item: Mapping[str, Json], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := item.get(name), str)), None)


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Json) -> Sequence[Mapping[str, Json]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
