"""Evidence of one server: tools, observations, transcript, project and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from msgspec.structs import replace
from starlette.responses import Response

from evidence.model import Dossier
from publish.site.server_context import find_server_in_run, server_response
from publish.views.evidence.advisories import view_advisories
from publish.views.evidence.behaviour import view_behaviour
from publish.views.evidence.conformance import view_conformance
from publish.views.evidence.observations import view_access, view_interop, view_samples, view_trials
from publish.views.evidence.project import view_dependencies, view_package, view_repository, view_source
from publish.views.evidence.server import Bounds, count_tools, view_listing, view_record, view_registry_entries
from publish.views.evidence.transcript import locate_exchanges, view_transcript
from publish.views.server_in_run import ServerInRun
from publish.web.context import SiteContext

View = Callable[[ServerInRun, int], Mapping[str, Any]]


Page = Annotated[int, Query(alias="page", ge=1, le=100_000)]

LISTED: Final = Bounds(items=25, parameters=40, raw=36_000, texts=36_000, explained=36_000)
TURNS: Final = 40
"""Exchanges on one page."""


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()
    for name, view in _PARTS.items():
        router.add_api_route(f"/servers/{{server}}/{name}", _part(site, name, view), methods=["GET"])
    return router


def _part(site: SiteContext, name: str, view: View) -> Callable[..., Response]:
    def part(server: str, run: str | None = None, number: Page = 1) -> Response:
        seen = find_server_in_run(site, server, run)
        return server_response(site, f"server_{name}.html.j2", seen, tab=name, index=False, **view(seen, number))

    return part


def _tools(seen: ServerInRun, number: int) -> Mapping[str, Any]:
    talk = view_listing(_of(seen), replace(LISTED, first=(number - 1) * LISTED.items))
    return {"talk": talk, "page": number, "pages": _pages(talk.longest if talk else 0, LISTED.items)}


def _observations(seen: ServerInRun, _: int) -> Mapping[str, Any]:
    dossier = _of(seen)
    here = f"/servers/{seen.id}"
    at = "" if seen.newest else f"&run={seen.run.run.id}"
    tools, places = count_tools(dossier), locate_exchanges(dossier)

    def tool_page(index: int) -> str:
        return f"{here}/tools?page={index // LISTED.items + 1}{at}#tools-{index + 1}" if index < tools else ""

    def exchange_page(path: str) -> str:
        number = places.get(path)
        return f"{here}/transcript?page={(number - 1) // TURNS + 1}{at}#exchange-{number}" if number else ""

    return {
        "tool_page": tool_page,
        "exchange_page": exchange_page,
        "conformance": view_conformance(dossier),
        "trials": view_trials(dossier),
        "access": view_access(dossier),
        "samples": view_samples(dossier),
        "interop": view_interop(dossier),
        "behaviour": view_behaviour(dossier),
    }


def _transcript(seen: ServerInRun, number: int) -> Mapping[str, Any]:
    first = (number - 1) * TURNS
    found = view_transcript(_of(seen), first, TURNS)
    total = first + len(found.turns) + found.more if found else 0
    return {"transcript": found, "page": number, "pages": _pages(total, TURNS)}


def _pages(total: int, on_one: int) -> int:
    return max(1, -(-total // on_one))


def _project(seen: ServerInRun, _: int) -> Mapping[str, Any]:
    dossier = _of(seen)
    return {
        "disclosed": seen.public.disclosed,
        "advisories": view_advisories(dossier),
        "package": view_package(dossier),
        "repository": view_repository(dossier),
        "source": view_source(dossier),
        "dependencies": view_dependencies(dossier),
    }


def _records(seen: ServerInRun, _: int) -> Mapping[str, Any]:
    dossier = _of(seen)
    return {
        "entries": view_registry_entries(dossier),
        "records": [view_record(record) for _, record in sorted(dossier.records.items())],
        "versions": tuple(sorted(seen.run.run.pins.items())),
    }


def _of(seen: ServerInRun) -> Dossier:
    return seen.public.dossier


_PARTS: Final[Mapping[str, View]] = {
    "tools": _tools,
    "observations": _observations,
    "transcript": _transcript,
    "project": _project,
    "evidence": _records,
}
