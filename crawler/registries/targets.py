"""Derives targets from the remotes and packages of a valid document: those that can be opened without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.addresses import (
    UnusableAddress,
    is_local_url,
    normalise_npm_name,
    normalise_plain_name,
    normalise_pypi_name,
    normalise_url,
    parse_oci_reference,
)
from crawler.registries import package_inputs
from crawler.registries.json_shapes import Mismatch, describe_value
from crawler.registries.launcher_words import separate_launcher
from crawler.registries.package_inputs import as_object, first_text
from evidence.canonical import Json
from evidence.launch_options import LaunchOptions
from evidence.model import Target, TargetType

MAX_TARGETS: Final = 32
MAX_VERSION: Final = 255
"""As in the newest schema. Earlier ones bound no version of a package."""

_LONGEST_ADDRESS: Final = 500
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
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


class ReachableTargets(Struct, frozen=True):
    """The targets of a server, best first, and why the other declared ones cannot be used."""

    targets: tuple[Target, ...]
    unusable: tuple[str, ...]


def find_reachable_targets(document: Mapping[str, Json]) -> ReachableTargets:
    """All usable targets: public remotes, then npm and PyPI packages, other packages, and remotes on local addresses.

    Streamable HTTP comes before SSE, and a package with stdio before one that opens a port; otherwise the order of the
    document stays. A URL with a variable without a value is not a target.
    """
    found: list[tuple[int, int, Target]] = []
    unusable: list[str] = []
    for path, item in _declared(document):
        try:
            rank, target = _remote(item) if path.startswith("remotes") else _package(item)
        except UnusableAddress as error:
            unusable.append(str(Mismatch(path, str(error), describe_value(_label(item)))))
        else:
            found.append((rank, len(found), target))
    ordered = dict.fromkeys(target for _, _, target in sorted(found, key=lambda entry: entry[:2]))
    return ReachableTargets(tuple(ordered)[:MAX_TARGETS], tuple(unusable))


def _declared(document: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for group in ("remotes", "packages"):
        for index, item in enumerate(_objects(document.get(group))[: MAX_TARGETS * 4]):
            yield f"{group}[{index}]", item


def _label(item: Mapping[str, Json]) -> Json:
    return next((item[name] for name in ("url", "identifier", "name") if name in item), None)


def _remote(item: Mapping[str, Json]) -> tuple[int, Target]:
    kind = _REMOTE_TYPES.get(first_text(item, "type", "transport_type") or "")
    if kind is None:
        raise UnusableAddress("a remote of type streamable-http or sse")
    url = package_inputs.fill_variables(first_text(item, "url") or "", as_object(item.get("variables")))
    if url is None:
        raise UnusableAddress("a URL without unset variables")
    local = is_local_url(url)
    target = Target(
        type=kind,
        identifier=url.partition("#")[0],
        headers=package_inputs.read_known_pairs(item.get("headers"), _HEADER_NAME),
    )
    return (6 if local else 0) + (kind is TargetType.SSE), target


def _package(item: Mapping[str, Json]) -> tuple[int, Target]:
    declared = first_text(item, "registryType", "registry_type", "registry_name") or ""
    kind = _PACKAGE_TYPES.get(declared.lower())
    if kind is None:
        raise UnusableAddress("a package of a known registry type")
    identifier, version = _named(kind, item)
    if version is not None and len(version) > MAX_VERSION:
        raise UnusableAddress(f"a version of at most {MAX_VERSION} characters")
    runtime = _objects(item.get("runtimeArguments", item.get("runtime_arguments")))
    declared_arguments = _objects(item.get("packageArguments", item.get("package_arguments")))
    launch = LaunchOptions()
    if kind in _RUNNABLE:
        launch, declared_arguments = separate_launcher(runtime, declared_arguments, identifier)
    words, asked = package_inputs.read_arguments(declared_arguments)
    variables = item.get("environmentVariables", item.get("environment_variables"))
    target = Target(
        type=kind,
        identifier=identifier,
        version=version,
        arguments=words,
        environment=package_inputs.read_known_pairs(variables, package_inputs.VARIABLE_NAME),
        inputs=(*package_inputs.read_input_variables(variables), *asked),
    )
    if kind is TargetType.OCI:
        target = _with_runtime(target, runtime)
    transport = as_object(item.get("transport"))
    opens_port = first_text(transport, "type") not in {None, "stdio"}
    url = _local_address(transport) if opens_port and kind in _RUNNABLE else ""
    requirements = launch.requirements if kind is TargetType.PYPI else ()
    target = replace(target, launch=replace(launch, url=url, requirements=requirements))
    return (2 if kind in _RUNNABLE else 4) + opens_port, target


def _local_address(transport: Mapping[str, Json]) -> str:
    """The address at which the package says that it listens; empty unless it is on the machine itself."""
    url = package_inputs.fill_variables(first_text(transport, "url") or "", as_object(transport.get("variables"))) or ""
    try:
        return url if len(url) <= _LONGEST_ADDRESS and is_local_url(url) else ""
    except UnusableAddress:
        return ""


def _with_runtime(target: Target, value: Sequence[Mapping[str, Json]]) -> Target:
    """The target of an image with the variables that the arguments of its runtime set."""
    known, asked = package_inputs.read_runtime_variables(value)
    seen = {name for name, _ in target.environment} | {given.name for given in target.inputs} | set(known)
    return replace(
        target,
        environment=tuple(sorted({**known, **dict(target.environment)}.items())),
        inputs=(*target.inputs, *(given for given in asked if given.name not in seen)),
    )


def _named(kind: TargetType, item: Mapping[str, Json]) -> tuple[str, str | None]:
    """The package's name and version, validated by the rules of its registry."""
    name = first_text(item, "identifier", "name") or ""
    version = first_text(item, "version") or None
    if version == "latest":
        version = None
    match kind:
        case TargetType.NPM:
            return normalise_npm_name(name), version
        case TargetType.PYPI:
            normalise_pypi_name(name)
            return name, version
        case TargetType.OCI:
            return _image(name, version, first_text(item, "registryBaseUrl", "registry_base_url") or "")
        case TargetType.MCPB:
            normalise_url(name)
            return name, version
        case _:
            return normalise_plain_name(name), version


def _image(name: str, version: str | None, base: str) -> tuple[str, str | None]:
    """Name and version of an image; older documents state the image registry separately."""
    host = base.partition("://")[2].strip("/")
    first = name.partition("/")[0]
    qualified = "/" in name and ("." in first or ":" in first)
    reference = parse_oci_reference(name if qualified or not host or "/" in host else f"{host}/{name}")
    return reference.repository, reference.digest or reference.tag or version


def _objects(value: Json) -> Sequence[Mapping[str, Json]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
