"""The control as one SDK server: handlers, capabilities, and which eras it speaks."""

from __future__ import annotations

import warnings
from typing import Any, Final

import mcp_types as types
from mcp import MCPError
from mcp.server import CacheHint, Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler

from tests.servers.control import asking, content, tools
from tests.servers.control.content import Context

MODERN: Final = "2026-07-28"
HINT: Final = CacheHint(ttl_ms=60_000, scope="public")
PROMPTS_PER_PAGE: Final = 3


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """All tools on one page."""
    _only_page(params)
    return types.ListToolsResult(tools=[fixture.listed for fixture in tools.FIXTURES])


async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """All resources on one page."""
    _only_page(params)
    return types.ListResourcesResult(resources=content.RESOURCES)


async def list_templates(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """The template."""
    _only_page(params)
    return types.ListResourceTemplatesResult(resource_templates=content.TEMPLATES)


async def list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """The prompts, on two pages."""
    cursor = params.cursor if params else None
    if cursor not in {None, "second"}:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor")
    if cursor is None:
        return types.ListPromptsResult(prompts=content.PROMPTS[:PROMPTS_PER_PAGE], next_cursor="second")
    return types.ListPromptsResult(prompts=content.PROMPTS[PROMPTS_PER_PAGE:])


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """One prompt; one of them asks for a context first."""
    needs_context = params.name == "test_input_required_result_prompt" and ctx.protocol_version >= MODERN
    if needs_context and "user_context" not in (params.input_responses or {}):
        return types.InputRequiredResult(input_requests=asking.CONTEXT)
    return content.prompt(params.name, params.arguments or {})


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """The values that begin with what was typed."""
    values = [word for word in ("paris", "park", "party", "test") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def nothing(ctx: Context, params: Any) -> types.EmptyResult:
    """An empty result."""
    return types.EmptyResult()


def build(*, modern_only: bool = False) -> Server[Any]:
    """The control. With `modern_only` it refuses the handshake of the legacy era."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server: Server[Any] = Server(
            "hallmark-control",
            version="1.0.0",
            title="Hallmark control",
            instructions="Every tool is a fixture; none changes anything.",
            cache_hints={
                "tools/list": HINT,
                "prompts/list": HINT,
                "resources/list": HINT,
                "resources/templates/list": HINT,
                "resources/read": HINT,
                "server/discover": HINT,
            },
            on_list_tools=list_tools,
            on_call_tool=tools.call,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=content.read,
            on_subscribe_resource=nothing,
            on_unsubscribe_resource=nothing,
            on_subscriptions_listen=ListenHandler(tools.BUS),
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=complete,
            on_set_logging_level=nothing,
        )
    server.extensions["dev.hallmark/fixtures"] = {}
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
    if modern_only:
        server.middleware.append(_refuse_the_handshake)
    return server


async def _refuse_the_handshake(ctx: Context, call_next: CallNext) -> HandlerResult:
    if ctx.method == "initialize" and ctx.protocol_version != MODERN:
        asked = str((ctx.params or {}).get("protocolVersion", ""))
        names = {"supported": [MODERN], "requested": asked}
        raise MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version; {MODERN} is served", names)
    return await call_next(ctx)


def _only_page(params: types.PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor")
