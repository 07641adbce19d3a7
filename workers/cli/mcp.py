"""`hallmark mcp`."""

from __future__ import annotations

import typer

from evidence.model import Server
from evidence.store import open_store
from publish.mcp_server import mcp_server
from workers import log
from workers.cli.boundary import explained
from workers.opt_outs import opt_outs
from workers.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def mcp() -> None:
    """Answer questions about what was published, as an MCP server on standard input and output.

    For a client of your own, such as an editor: it starts this command and asks. The same server is at /mcp of
    `hallmark web`. It reads the database of the settings and contacts nobody.

    Example: {"mcpServers": {"hallmark": {"command": "hallmark", "args": ["mcp"]}}}
    """
    with explained():
        settings = Settings()
        log.configure(settings.log_level, settings.log_format)
        store = open_store(settings.store_url)
        try:
            store.migrate()

            def hidden(server: Server) -> bool:
                return opt_outs(settings, store).why(server) is not None

            mcp_server(store, settings.web_url, hidden=hidden).run("stdio")
        finally:
            store.close()
