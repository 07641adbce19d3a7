"""Applications in a few hundredths of a second: what libraries derive from the same code anew for each is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from types import CodeType
from typing import Any

import fastapi.dependencies.utils
import fastapi.params
import fastapi.routing
from fastapi._compat import ModelField
from fastapi.dependencies.models import Dependant
from jinja2.bccache import Bucket, BytecodeCache
from mcp.server.mcpserver.tools import base
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata

from publish.site import templates


class _CompiledTemplates(BytecodeCache):
    """Templates compiled once for all environments of this process."""

    def __init__(self) -> None:
        self._codes: dict[str, tuple[str, Any]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._codes.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key] = bucket.checksum, bucket.code


def _kept_parameters(create: Callable[..., ModelField]) -> Callable[..., ModelField]:
    """The fields of parameters, but for those of whole bodies, whose model FastAPI makes anew."""
    made: dict[tuple[str, ...], ModelField] = {}

    def create_model_field(**declared: Any) -> ModelField:
        if declared["name"] == "body":
            return create(**declared)
        key = tuple(map(repr, declared.items()))
        if key not in made:
            made[key] = create(**declared)
        return made[key]

    return create_model_field


def _kept_signatures(read: Callable[..., FuncMetadata]) -> Callable[..., FuncMetadata]:
    """The arguments and results of the MCP server's tools, which are functions of the same code for every server."""
    made: dict[tuple[CodeType, tuple[str, ...], bool | None], FuncMetadata] = {}

    def func_metadata(func: Any, skip_names: Sequence[str] = (), structured_output: bool | None = None) -> FuncMetadata:
        key = (func.__code__, tuple(skip_names), structured_output)
        if key not in made:
            made[key] = read(func, skip_names=skip_names, structured_output=structured_output)
        return made[key]

    return func_metadata


def _kept_dependants(read: Callable[..., Dependant]) -> Callable[..., Dependant]:
    """The parameters of endpoints, which are closures of the same code in every application.

    An endpoint with a dependency in its defaults is read anew: that one may be a closure too.
    """
    made: dict[tuple[str, CodeType, str], Dependant] = {}

    def get_dependant(*, path: str, call: Any, **how: Any) -> Dependant:
        code = getattr(call, "__code__", None)
        defaults = (
            *(getattr(call, "__defaults__", None) or ()),
            *(getattr(call, "__kwdefaults__", None) or {}).values(),
        )
        if code is None or any(isinstance(default, fastapi.params.Depends) for default in defaults):
            return read(path=path, call=call, **how)
        key = (path, code, repr(how))
        if key not in made:
            made[key] = read(path=path, call=call, **how)
        return replace(made[key], call=call, dependencies=[*made[key].dependencies])

    return get_dependant


def _kept_results(read: Callable[..., Any]) -> Callable[..., Any]:
    """The annotation of what an endpoint returns."""
    made: dict[CodeType, Any] = {}

    def get_typed_return_annotation(call: Any) -> Any:
        code = getattr(call, "__code__", None)
        if code is None:
            return read(call)
        if code not in made:
            made[code] = read(call)
        return made[code]

    return get_typed_return_annotation


def install() -> None:
    """For all applications that this process makes from now on."""
    fastapi.routing.create_model_field = cache(fastapi.routing.create_model_field)  # type: ignore[assignment]
    parameters = fastapi.dependencies.utils
    parameters.create_model_field = _kept_parameters(parameters.create_model_field)
    parameters.get_dependant = fastapi.routing.get_dependant = _kept_dependants(parameters.get_dependant)
    fastapi.routing.get_typed_return_annotation = _kept_results(fastapi.routing.get_typed_return_annotation)
    base.func_metadata = _kept_signatures(base.func_metadata)
    templates.Environment = partial(templates.Environment, bytecode_cache=_CompiledTemplates())  # type: ignore[misc]
