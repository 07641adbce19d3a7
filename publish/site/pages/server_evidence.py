"""What was observed of one server: its tools as sent, calls and checks, the transcript, its project, the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from evidence.model import Dossier
from publish.advisories_view import advisories_of
from publish.behaviour_view import behaviour_of
from publish.conformance_view import conformance_of
from publish.observed_view import access_of, interop_of, samples_of, trials_of
from publish.project_view import dependencies_of, package_of, repository_of, source_of
from publish.server_view import Bounds, conversation, entries, record_view, tools_in
from publish.site.one_server import Look, look, page
from publish.site.site import Site
from publish.transcript_view import places_in, transcript_of

View = Callable[[Look, int], Mapping[str, Any]]


Page = Annotated[int, Query(alias="page", ge=1, le=100_000)]

LISTED: Final = Bounds(items=25, parameters=40, raw=36_000, texts=36_000, explained=36_000)
TURNS: Final = 40
"""Exchanges on one page."""


def routes(site: Site) -> APIRouter:
    """One page for each part."""
    router = APIRouter()
    for name, view in _PARTS.items():
        router.add_api_route(f"/servers/{{server}}/{name}", _part(site, name, view), methods=["GET"])
    return router


def _part(site: Site, name: str, view: View) -> Callable[..., Response]:
    def part(server: str, run: str | None = None, number: Page = 1) -> Response:
        seen = look(site, server, run)
        return page(site, f"server_{name}.html.j2", seen, tab=name, index=False, **view(seen, number))

    return part


def _tools(seen: Look, number: int) -> Mapping[str, Any]:
    talk = conversation(_of(seen), replace(LISTED, first=(number - 1) * LISTED.items))
    return {"talk": talk, "page": number, "pages": _pages(talk.longest if talk else 0, LISTED.items)}


def _observations(seen: Look, _: int) -> Mapping[str, Any]:
    dossier = _of(seen)
    here = f"/servers/{seen.id}"
    at = "" if seen.newest else f"&run={seen.run.run.id}"
    tools, places = tools_in(dossier), places_in(dossier)

    def tool_page(index: int) -> str:
        return f"{here}/tools?page={index // LISTED.items + 1}{at}#tools-{index + 1}" if index < tools else ""

    def exchange_page(path: str) -> str:
        number = places.get(path)
        return f"{here}/transcript?page={(number - 1) // TURNS + 1}{at}#exchange-{number}" if number else ""

    return {
        "tool_page": tool_page,
        "exchange_page": exchange_page,
        "conformance": conformance_of(dossier),
        "trials": trials_of(dossier),
        "access": access_of(dossier),
        "samples": samples_of(dossier),
        "interop": interop_of(dossier),
        "behaviour": behaviour_of(dossier),
    }


def _transcript(seen: Look, number: int) -> Mapping[str, Any]:
    first = (number - 1) * TURNS
    found = transcript_of(_of(seen), first, TURNS)
    total = first + len(found.turns) + found.more if found else 0
    return {"transcript": found, "page": number, "pages": _pages(total, TURNS)}


def _pages(total: int, on_one: int) -> int:
    return max(1, -(-total // on_one))


def _project(seen: Look, _: int) -> Mapping[str, Any]:
    dossier = _of(seen)
    return {
        "disclosed": seen.public.disclosed,
        "advisories": advisories_of(dossier),
        "package": package_of(dossier),
        "repository": repository_of(dossier),
        "source": source_of(dossier),
        "dependencies": dependencies_of(dossier),
    }


def _records(seen: Look, _: int) -> Mapping[str, Any]:
    dossier = _of(seen)
    return {
        "entries": entries(dossier),
        "records": [record_view(record) for _, record in sorted(dossier.records.items())],
        "versions": tuple(sorted(seen.run.run.pins.items())),
    }


def _of(seen: Look) -> Dossier:
    return seen.public.dossier


_PARTS: Final[Mapping[str, View]] = {
    "tools": _tools,
    "observations": _observations,
    "transcript": _transcript,
    "project": _project,
    "evidence": _records,
}
