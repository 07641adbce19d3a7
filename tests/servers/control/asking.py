"""Tools that need something from the client: asked on the spot in the legacy era, by a second call in the modern."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp import MCPError

from tests.servers.control.content import Context, text

Answer = types.CallToolResult | types.InputRequiredResult
Ask = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{at}", "title": f"Choice {at}"} for at in (1, 2, 3)]
ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}
_USER = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}


def require(ctx: Context, name: str) -> None:
    """Raise -32021 unless the client declared this capability."""
    declared = ctx.session.client_capabilities
    if declared is None or getattr(declared, name) is None:
        needed = {"requiredCapabilities": {name: {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"The client declares no {name}", needed)


def said(words: str) -> types.CallToolResult:
    """A result that is one text."""
    return types.CallToolResult(content=[text(words)])


async def sample(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Ask the client's model."""
    require(ctx, "sampling")
    if ctx.protocol_version >= "2026-07-28":
        return _asks({"answer": _sampling(_words(params, "prompt"), 100)})
    message = types.SamplingMessage(role="user", content=text(_words(params, "prompt")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sampling is deprecated since 2026-07-28, and this is the era before
        asking = ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    answer = await asking
    return said(f"LLM response: {getattr(answer.content, 'text', '')}")


def form(properties: dict[str, Any], *, message: str = "", opening: str = "Elicitation completed") -> Ask:
    """A tool that asks the user for these properties."""

    async def ask(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        require(ctx, "elicitation")
        words = message or _words(params, "message")
        schema = {"type": "object", "properties": properties, "required": []}
        if ctx.protocol_version >= "2026-07-28":
            return _asks({"form": _elicitation(words, properties)})
        answer = await ctx.session.elicit_form(words, schema, related_request_id=ctx.request_id)
        return said(f"{opening}: action={answer.action}, content={answer.content}")

    return ask


elicit = form(_USER, opening="User response")


def rounds(*wanted: types.InputRequests, state: str = "") -> Ask:
    """A tool that returns one result per round of questions, then a complete one; `state` is echoed and counted."""

    async def ask(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        given = params.input_responses or {}
        turn = int((params.request_state or f"{state}:0").rpartition(":")[2]) if state else 0
        if set(wanted[turn]) <= set(given):
            turn += 1
        if turn == len(wanted):
            return said(f"{'state-ok ' if state else ''}received: {given}")
        return _asks(wanted[turn], f"{state}:{turn}" if state else None)

    return ask


async def only_declared(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Ask only for what the client declared; complete when it declared nothing."""
    declared = ctx.session.client_capabilities or types.ClientCapabilities()
    possible = {"elicitation": NAME, "sampling": CAPITAL, "roots": ROOTS}
    wanted: types.InputRequests = {}
    for capability, requests in possible.items():
        if getattr(declared, capability) is not None:
            wanted |= requests
    return _asks(wanted) if wanted else said("nothing to ask")


def _asks(wanted: types.InputRequests, state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=wanted, request_state=state)


def _words(params: types.CallToolRequestParams, name: str) -> str:
    value = (params.arguments or {}).get(name)
    if not isinstance(value, str):
        raise MCPError(types.INVALID_PARAMS, f"{name} must be a string")
    return value


def _elicitation(message: str, properties: dict[str, Any]) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sampling(words: str, tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens))


NAME: types.InputRequests = {"user_name": _elicitation("What is your name?", {"name": {"type": "string"}})}
CONFIRM: types.InputRequests = {"confirm": _elicitation("Please confirm", {"ok": {"type": "boolean"}})}
CAPITAL: types.InputRequests = {"capital_question": _sampling("What is the capital of France?", 100)}
GREETING: types.InputRequests = {"greeting": _sampling("Generate a greeting", 50)}
ROOTS: types.InputRequests = {"client_roots": types.ListRootsRequest()}
CONTEXT: types.InputRequests = {"user_context": _elicitation("Which context?", {"context": {"type": "string"}})}
STEP_1: types.InputRequests = {"step1": _elicitation("Step 1: What is your name?", {"name": {"type": "string"}})}
STEP_2: types.InputRequests = {"step2": _elicitation("Step 2: Which color?", {"color": {"type": "string"}})}
