"""The API guide: the page `/api` and the page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, cast

from fastapi import APIRouter
from starlette.responses import Response

from publish.api.app import create_api
from publish.api.openapi_outline import ApiOutline, OutlinedOperation, OutlinedSubject, outline_document
from publish.mcp.endpoint import MCP_PATH as MCP
from publish.mcp.server import TOOLS
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


_SERVER: Final = "server"
"""A parameter of most operations, explained once."""


def render_guide() -> Iterator[str]:
    api = read_outline()
    yield from (f"# {api.title}", "", api.about, "")
    page = f"the site's page `{PROBLEM_GUIDE}`, or for programs"
    yield f"Paths are below `{api.base}`. Every answer with an example: {page}"
    yield f"[openapi.json](../schemas/openapi.json). `{_SERVER}` is the id of a server."
    for subject in api.subjects:
        yield from _subject(subject)
    yield from ("", "## Problems", "")
    yield f"The `type` of a problem is `{PROBLEM_GUIDE}#` and one of these."
    yield from ("", "| type | status | meaning |", "|---|---|---|")
    yield from (f"| `{name}` | {kind.status} | {kind.title}. {kind.meaning} |" for name, kind in api.problems.items())


def _subject(subject: OutlinedSubject) -> Iterator[str]:
    yield from ("", f"## {subject.name[:1].upper()}{subject.name[1:]}")
    for operation in subject.operations:
        yield from ("", f"### {operation.summary}", "", f"`{operation.method} {operation.path}`", "")
        yield from _operation(operation)


def _operation(operation: OutlinedOperation) -> Iterator[str]:
    if operation.meaning:
        yield operation.meaning
    if operation.takes_token:
        yield from ("", "Needs a token." if operation.needs_token else "Takes a token, and works without one.")
    parameters = [one for one in operation.parameters if one.name != _SERVER]
    if parameters:
        yield ""
    for one in parameters:
        default = f", default `{one.default}`" if one.default not in {"", "required"} else ""
        yield f"- `{one.name}` ({one.takes}{default}): {one.meaning}"
    if operation.body:
        yield from ("", "Request body:", "", "```json", operation.body, "```")
