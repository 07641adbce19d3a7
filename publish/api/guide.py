"""The API for people: the page /api, and the same as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from fastapi import APIRouter
from starlette.responses import Response

from publish.api.app import create_api
from publish.api.outline import Operation, Outline, Subject, outline
from publish.api.problem import GUIDE
from publish.display import coded
from publish.mcp_server import TOOLS
from publish.server_view import Prose
from publish.site.pages.mcp import PATH as MCP
from publish.site.site import Site


def routes(site: Site) -> APIRouter:
    """The page that lists all operations and every type of problem."""
    router = APIRouter()

    @router.get(GUIDE)
    def api() -> Response:
        mcp = site.absolute(MCP)
        return site.page("api.html.j2", here="api", api=described(), coded=coded, prose=Prose, mcp=mcp, tools=TOOLS)

    return router


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which is the same for every site."""
    return create_api(cast("Site", None)).openapi()  # operations keep their site until somebody asks


@cache
def described() -> Outline:
    """The outline of the document."""
    return outline(document())


def guide() -> Iterator[str]:
    """The lines of the page of the documentation."""
    api = described()
    yield from (f"# {api.title}", "", api.about, "")
    yield f"Paths are below `{api.base}`. Every answer with an example: the site's page `{GUIDE}`, or for programs"
    yield "[openapi.json](../schemas/openapi.json)."
    for subject in api.subjects:
        yield from _subject(subject)
    yield from ("", "## Problems", "")
    yield f"The `type` of a problem is `{GUIDE}#` and one of these."
    yield from ("", "| type | status | meaning |", "|---|---|---|")
    yield from (f"| `{name}` | {kind.status} | {kind.title}. {kind.meaning} |" for name, kind in api.problems.items())


def _subject(subject: Subject) -> Iterator[str]:
    yield from ("", f"## {subject.name[:1].upper()}{subject.name[1:]}")
    for operation in subject.operations:
        yield from ("", f"### {operation.summary}", "", f"`{operation.method} {operation.path}`", "")
        yield from _operation(operation)


def _operation(operation: Operation) -> Iterator[str]:
    if operation.meaning:
        yield operation.meaning
    if operation.takes_token:
        yield from ("", "Needs a token." if operation.needs_token else "Takes a token, and works without one.")
    if operation.parameters:
        yield ""
    for one in operation.parameters:
        default = f", default `{one.default}`" if one.default not in {"", "required"} else ""
        yield f"- `{one.name}` ({one.takes}{default}): {one.meaning}"
    if operation.body:
        yield from ("", "Request body:", "", "```json", operation.body, "```")
