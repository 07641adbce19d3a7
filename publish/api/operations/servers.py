"""Servers: found, filtered and sorted, page by page; and one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from orjson import Fragment
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.derive.secret_scrubbing import are_free_of_secrets
from evidence.model import server_id
from evidence.store import BadCursor, UnknownRubric
from evidence.store.listing.values import ListedScore, ListedServer, ListingPage, ServerFacets
from publish.api.contract.models import STRICT, NotMeasured, Number, Result, RunKey, ServerKey, Share, Time
from publish.api.contract.public_access import ServerPath, find_visible_server
from publish.api.contract.responses import encode_json, format_time, json_response, mask_secrets
from publish.api.operations.server_query import Search
from publish.text.numbers import json_number, json_share
from publish.views.evidence.tool_names import list_tool_names
from publish.views.public_servers import read_public_server
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem

_UNREAD: Final = "list_not_read"


@with_config(STRICT)
class Score(TypedDict):
    """The result of one version of a methodology for a server; the scorecard has every line."""

    rubric: Annotated[str, Field(examples=["adaptive"])]
    version: Annotated[int, Field(examples=[1])]
    score: Result
    grade: Annotated[str | None, Field(description="Null where there is none.", examples=["B"])]
    floor: Annotated[
        Number | None,
        Field(description="The score if everything that was not measured counted 0; ranks go by it.", examples=[61]),
    ]
    ceiling: Annotated[
        Number | None,
        Field(description="The score if everything that was not measured had full points.", examples=[77]),
    ]
    coverage: Annotated[
        Share, Field(description="Share of the base weight that was measured, 0 to 1.", examples=[0.854])
    ]
    thin: Annotated[
        bool, Field(description="Too little evidence for a comparison with other servers.", examples=[False])
    ]
    capped: Annotated[bool, Field(description="A cap limits its grade; the scorecard names it.", examples=[False])]


@with_config(STRICT)
class Facets(TypedDict):
    """Properties to filter by; null where one is not known."""

    categories: Annotated[
        list[str],
        Field(description="One or two, the best first; `/categories` defines them.", examples=[["productivity"]]),
    ]
    transport: Annotated[Literal["streamable-http", "sse", "stdio"] | None, Field(examples=["stdio"])]
    access: Annotated[
        Literal["open", "credentials"] | None, Field(description="Whether it asked for credentials when it was tested.")
    ]
    read_only: Annotated[
        Literal["yes", "no"] | None, Field(description="Whether each of its tools states that it only reads.")
    ]
    advisories: Annotated[
        Literal["yes", "no"] | None,
        Field(description="Whether advisories about it or its dependencies are known; `no` if all were compared."),
    ]


@with_config(STRICT)
class ServerItem(TypedDict):
    """A server as it was in its newest run."""

    id: ServerKey
    name: Annotated[str, Field(description="Its name in the registry: untrusted text.", examples=["com.example/notes"])]
    ref: Annotated[
        str, Field(description="Canonical reference: an address, or a package.", examples=["npm:@example/notes"])
    ]
    purpose: Annotated[
        str,
        Field(
            description="One line of its own description, untrusted; may be empty.",
            examples=["Reads and writes notes."],
        ),
    ]
    repository: Annotated[
        str | None,
        Field(
            description="The repository that its entry names; null when it names none.",
            examples=["https://git.example/notes"],
        ),
    ]
    ecosystem: Annotated[str, Field(description="`remote`, or where its package is from.", examples=["npm"])]
    registries: Annotated[list[str], Field(description="Registries that list it.", examples=[["official"]])]
    run: RunKey
    as_of: Time
    state: Annotated[
        Literal["measured", "partial", "not_testable"], Field(description="How much of the server was measured.")
    ]
    reason: Annotated[str | None, Field(description="Why it could not be opened; null when it could.", examples=[None])]
    tools: Annotated[
        int | NotMeasured, Field(description="How many tools it lists, if its list could be read.", examples=[7])
    ]
    facets: Facets
    indexed: Annotated[bool, Field(description="It has passed the quality gate, so that search engines may list it.")]
    badges: Annotated[list[str], Field(description="The badges that it has.", examples=[["lab-tested"]])]
    scores: Annotated[list[Score], Field(description="One for each version of each methodology.")]
    page: Annotated[
        str,
        Field(
            description="Address of its page for people.",
            examples=["https://hallmark.example/servers/srv_cefd15fffcf4dc7d70a6"],
        ),
    ]


@with_config(STRICT)
class Server(ServerItem):
    """A server as it was in its newest run, with the names of its tools."""

    tool_names: Annotated[
        list[str] | NotMeasured,
        Field(
            description="Distinct names of its tools: untrusted, cut, and without secrets.",
            examples=[["create_note", "search_notes"]],
        ),
    ]


@with_config(STRICT)
class ServerList(TypedDict):
    """One page of servers. Follow `next_cursor`, or the header `Link`, until it is null."""

    run: Annotated[
        str | None,
        Field(description="The newest published run; null before there is one.", examples=["20260301T030000Z-nightly"]),
    ]
    total: Annotated[int | None, Field(description="How many there are; null where counting would take too long.")]
    minimum_total: Annotated[int, Field(description="There are this many or more.")]
    servers: list[ServerItem]
    next_cursor: Annotated[
        str | None, Field(description="Give it as `cursor` for the page after this one.", examples=["eyJyIjoxfQ"])
    ]
    previous_cursor: Annotated[
        str | None, Field(description="Give it as `cursor` for the page before this one.", examples=[None])
    ]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["servers"])

    @router.get(
        "/servers", operation_id="listServers", summary="List and find servers",
        response_model=ServerList, responses=describe_problems("unknown-rubric"),
    )  # fmt: skip
    def list_servers(request: Request, search: Annotated[Search, Query()]) -> Response:
        """Servers as they were in their newest runs, with their scores. Without a filter all servers are listed.

        Pages follow each other by `next_cursor`, and are those of one run: nothing is left out or comes twice.
        """
        if search.ref is not None:
            return json_response(_page(found := _find_by_ref(site, search.ref), _items(site, found.servers)), keep=True)
        try:
            page = site.store.listing.read_page(search.query, after=search.cursor, limit=search.limit)
        except BadCursor as error:
            wrong = {"where": "cursor", "expected": "`next_cursor` or `previous_cursor` of a page of the same filters"}
            raise make_problem(
                "invalid-request", f"The cursor is none of this list: {error}", errors=[wrong]
            ) from error
        except UnknownRubric as error:
            raise make_problem("unknown-rubric", f"{error}. /api/v1/rubrics lists them.") from error
        return json_response(_page(page, _items(site, page.servers)), headers=_links(site, request, page), keep=True)

    @router.get(
        "/servers/{server}", operation_id="getServer", summary="One server",
        response_model=Server, responses=describe_problems("unknown-server"),
    )  # fmt: skip
    def get_server(server: ServerPath) -> Response:
        """A server as it was in its newest run, with the end of each scorecard and the names of its tools."""
        listed = find_visible_server(site, server)
        item = make_server_item(site, listed) | {"tool_names": _tool_names(site, listed)}
        return json_response(item, keep=True)

    return router


def _tool_names(site: SiteContext, listed: ListedServer) -> Sequence[str] | dict[str, str]:
    public = read_public_server(site.store, listed.run, listed.server.id)
    names = None if public is None else list_tool_names(public)
    return {"not_measured": listed.reason or _UNREAD} if names is None else names


def _find_by_ref(site: SiteContext, ref: str) -> ListingPage:
    """A page with the server of a reference, or an empty one."""
    listed = site.store.listing.find_server(server_id(ref))
    servers = () if listed is None or site.is_hidden(listed.server) else (listed,)
    return ListingPage(
        servers=servers, total=len(servers), counted=len(servers), run=site.store.listing.find_newest_run()
    )


def make_server_item(
    site: SiteContext, listed: ListedServer, mask: Callable[[str], str] = mask_secrets
) -> dict[str, Any]:
    """A listed server as a ServerItem; `mask` masks secrets in its texts."""
    server = listed.server
    return {
        "id": server.id,
        "name": mask(server.name),
        "ref": mask(server.ref),
        "purpose": mask(listed.purpose),
        "repository": mask(server.repository) if server.repository else None,
        "ecosystem": listed.ecosystem,
        "registries": listed.registries,
        "run": listed.run,
        "as_of": format_time(listed.as_of),
        "state": listed.state,
        "reason": listed.reason,
        "tools": {"not_measured": listed.reason or _UNREAD} if listed.tools is None else listed.tools,
        "facets": _facets(listed.facets),
        "indexed": listed.gate,
        "badges": listed.badges,
        "scores": list(map(_score, listed.scores)),
        "page": site.absolute(f"/servers/{server.id}"),
    }


def _facets(facets: ServerFacets) -> dict[str, Any]:
    return {
        "categories": facets.categories,
        "transport": facets.transport or None,
        "access": facets.access or None,
        "read_only": facets.read_only or None,
        "advisories": facets.advisories or None,
    }


def _score(one: ListedScore) -> dict[str, Any]:
    return {
        "rubric": one.rubric,
        "version": one.version,
        "score": {"not_measured": one.not_measured} if one.score is None else json_number(one.score),
        "grade": one.grade,
        "floor": None if one.floor is None else json_number(one.floor),
        "ceiling": None if one.ceiling is None else json_number(one.ceiling),
        "coverage": json_share(one.coverage),
        "thin": one.thin,
        "capped": one.capped,
    }


def _items(site: SiteContext, listed: Sequence[ListedServer]) -> list[Fragment]:
    """Each server as JSON; servers that have opted out are left out."""
    shown = [one for one in listed if not site.is_hidden(one.server)]
    texts = [text for one in shown for text in _texts(one) if text]
    mask = str if are_free_of_secrets(texts) else mask_secrets  # one scan of all texts is cheaper than one of each
    return [Fragment(encode_json(make_server_item(site, one, mask))) for one in shown]


def _texts(one: ListedServer) -> tuple[str | None, ...]:
    return one.server.name, one.server.ref, one.server.repository, one.purpose


def _page(page: ListingPage, items: Sequence[Fragment]) -> dict[str, Any]:
    return {
        "run": page.run,
        "total": page.total,
        "minimum_total": page.counted if page.total is None else page.total,
        "servers": items,
        "next_cursor": page.after,
        "previous_cursor": page.before,
    }


def _links(site: SiteContext, request: Request, page: ListingPage) -> dict[str, str]:
    """The header that leads to the pages around this one (RFC 8288)."""
    parameters = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    found = [
        f'<{site.absolute("/api/v1/servers")}?{urlencode([*parameters, ("cursor", cursor)])}>; rel="{relation}"'
        for relation, cursor in (("next", page.after), ("prev", page.before))
        if cursor is not None
    ]
    return {"Link": ", ".join(found)} if found else {}
