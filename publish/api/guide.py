"""The API guide: the page `/api` and the page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, cast

from fastapi import APIRouter
from starlette.responses import Response

from publish.api.app import create_api
from publish.api.openapi_outline import (
    ApiOutline,
    OutlinedOperation,
    OutlinedParameter,
    OutlinedSubject,
    outline_document,
)
from publish.mcp.endpoint import MCP_PATH as MCP
from publish.mcp.tool_names import TOOLS
from publish.text.display import render_inline_code
from publish.views.evidence.server import MultilineText
from publish.web.context import SiteContext
from publish.web.problems import PROBLEM_GUIDE


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get(PROBLEM_GUIDE)
    def api() -> Response:
        mcp = site.absolute(MCP)
        return site.page(
            "api.html.j2",
            here="api",
            api=read_outline(),
            coded=render_inline_code,
            prose=MultilineText,
            mcp=mcp,
            tools=TOOLS,
        )

    return router


@cache
def make_openapi_document() -> dict[str, Any]:
    """The OpenAPI document; it is the same for every site."""
    return create_api(cast("SiteContext", None)).openapi()  # operations use their site only in requests


@cache
def read_outline() -> ApiOutline:
    return outline_document(make_openapi_document())


_WITH_ANSWER: Final = frozenset({"getServer"})
"""Operations whose answer the page of the documentation shows; the page `/api` shows all."""

_EXPLAINED_ONCE: Final = frozenset({"run", "rubric", "version"})
"""Query parameters of several operations."""


def render_guide() -> Iterator[str]:
    api = read_outline()
    yield from (f"# {api.title}", "", api.about, "")
    page = f"the site's page `{PROBLEM_GUIDE}`, or for programs"
    yield f"Paths are below `{api.base}`. Every answer with an example: {page}"
    yield "[openapi.json](../schemas/openapi.json). Examples have at most two entries of a list. `rubric` and `version`"
    yield "(1 to 999) name a methodology; `run` is a run, also of a re-test, by default the newest of the server."
    for subject in api.subjects:
        yield from _subject(subject)
    yield from ("", "## Problems", "")
    yield f"The `type` of a problem is `{PROBLEM_GUIDE}#` and one of these."
    yield from ("", "| type | status | meaning |", "|---|---|---|")
    yield from (f"| `{name}` | {kind.status} | {kind.meaning} |" for name, kind in api.problems.items())


def _subject(subject: OutlinedSubject) -> Iterator[str]:
    yield from ("", f"## {subject.name[:1].upper()}{subject.name[1:]}")
    for operation in subject.operations:
        yield from ("", f"### {operation.summary}", "", f"`{operation.method} {operation.path}`", "")
        yield from _operation(operation)


def _operation(operation: OutlinedOperation) -> Iterator[str]:
    if operation.meaning:
        yield from (operation.meaning, "")
    if operation.takes_token and not operation.needs_token:
        yield from ("Takes a token, and works without one.", "")
    yield f"    {operation.command}"
    if operation.id in _WITH_ANSWER:
        yield from ("", "```json", operation.example, "```")
    parameters = [one for one in operation.parameters if not _is_explained(one)]
    if parameters:
        yield ""
    for one in parameters:
        default = f", default `{one.default}`" if one.default not in {"", "required"} else ""
        yield f"- `{one.name}` ({one.takes}{default}): {one.meaning}"


def _is_explained(one: OutlinedParameter) -> bool:
    """Whether the parameter means here what the top of the page says."""
    return one.where == "path" or (one.name in _EXPLAINED_ONCE and not one.default)
