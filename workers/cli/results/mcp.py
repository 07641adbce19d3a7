"""`hallmark mcp`."""

from __future__ import annotations

import click

from evidence.model import Server
from evidence.store import open_store
from publish.mcp.server import create_mcp_server
from workers import log
from workers.cli.error_boundary import explain_failures
from workers.opt_outs import load_opt_outs
from workers.settings.environment import read_settings


@click.command()
def mcp() -> None:
    """Serve published results as an MCP server on stdio.

    Configure it in an MCP client such as an editor, which starts this command. `hallmark web` serves the same at /mcp.
    It reads the configured database and uses no network.

    Example: {"mcpServers": {"hallmark": {"command": "hallmark", "args": ["mcp"]}}}
    """
    with explain_failures():
        settings = read_settings()
        log.configure_logging(settings.log_level, settings.log_format)
        store = open_store(settings.store_url)
        try:
            store.migrate()

            def hidden(server: Server) -> bool:
                return load_opt_outs(settings, store).why(server) is not None

            create_mcp_server(store, settings.web_url, hidden=hidden).run("stdio")
        finally:
            store.close()
