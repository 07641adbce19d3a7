"""Checks of all API operations: unknown parameters, and clients that do not accept JSON."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from publish.web.problems import Problem, make_problem, show_found

_EXPLAINED: Final = 3
"""Wrong parameters that the detail of a problem explains; `errors` has all."""

_TAKEN: Final = frozenset({"*/*", "application/*", "application/json"})


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a query parameter that is not in the OpenAPI document, or occurs twice."""
    given = [name for name, _ in request.query_params.multi_items()]
    if not given:
        return
    known = _documented(request)
    expected = f"one of {', '.join(sorted(known))}, each once" if known else "no parameter"
    if wrong := [name for name in dict.fromkeys(given) if name not in known or given.count(name) > 1]:
        errors = [{"where": show_found(name), "expected": expected} for name in wrong]
        detail = " ".join(_explain(name, known) for name in wrong[:_EXPLAINED])
        raise make_problem("invalid-request", f"{detail} Expected {expected}.", errors=errors)


def accepts_json_media(accept: str) -> bool:
    """Whether an Accept header lets us answer in JSON (RFC 9110, section 12.5.1); an empty one does."""
    return not accept.strip() or any(_takes_json(part) for part in accept.split(","))


def invalid_request_problem(error: RequestValidationError) -> Response:
    """The problem document of a request that is not as described, with each place."""
    parts = [_part(one) for one in error.errors()]
    number = "One place" if len(parts) == 1 else f"{len(parts)} places"
    detail = f"{number} of the request is not as described; `errors` says what was expected."
    return Problem("invalid-request", detail, members={"errors": parts}).answer()


def _documented(request: Request) -> frozenset[str]:
    """The query parameters of the requested operation."""
    paths = request.app.openapi()["paths"]
    operation = paths.get(request.scope["route"].path, {}).get(request.method.lower(), {})
    return frozenset(one["name"] for one in operation.get("parameters", []) if one["in"] == "query")


def _explain(name: str, known: Collection[str]) -> str:
    """What is wrong with a parameter that is unknown or repeated, and the known one that is nearest to it."""
    if name in known:
        return f"Repeated parameter `{name}`."
    shown = show_found(name)
    nearest = get_close_matches(shown, known, n=1)
    return f"Unknown parameter `{shown}`" + (f"; did you mean `{nearest[0]}`?" if nearest else ".")


def _part(one: dict[str, Any]) -> dict[str, str]:
    where = ".".join(show_found(part) for part in one["loc"][1:]) or str(one["loc"][0])
    expected = str(one["msg"])
    part = {"where": where, "expected": expected[:1].lower() + expected[1:]}
    found = one.get("input")
    return part if found is None or isinstance(found, dict | list) else {**part, "found": show_found(found)}


def _takes_json(part: str) -> bool:
    media, *parameters = (piece.strip().lower() for piece in part.split(";"))
    refused = any(piece.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for piece in parameters)
    return media in _TAKEN and not refused
