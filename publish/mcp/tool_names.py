"""The names of what the MCP server offers, for pages that name them without the SDK."""

from __future__ import annotations

from typing import Final

TOOLS: Final = ("search_servers", "get_scorecard", "explain_finding", "compare_servers")
PROMPTS: Final = ("improve_server",)
