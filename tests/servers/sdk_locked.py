"""A server on the official SDK that wants tokens and issues them itself: `python -m tests.servers.sdk_locked`."""

from __future__ import annotations

import socket
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from pydantic import AnyHttpUrl

TOKEN = "a-token-that-opens-the-fixture"


class Issuer:
    """As much of an authorization server as metadata and the lock need: every attribute else is missing."""

    async def load_access_token(self, token: str) -> AccessToken | None:
        if token != TOKEN:
            return None
        return AccessToken(token=token, client_id="fixture", scopes=["notes:read"])

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the SDK may not call {name}")


def build(port: int) -> MCPServer:
    origin = f"http://127.0.0.1:{port}"
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(origin),
        resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
        required_scopes=["notes:read"],
        client_registration_options=ClientRegistrationOptions(enabled=True),
        validate_token_resource=False,
    )
    server = MCPServer("locked-fixture", version="1.0.0", auth_server_provider=Issuer(), auth=settings)

    @server.tool()
    def add(first: int, second: int) -> int:
        """Adds two whole numbers and returns their sum."""
        return first + second

    return server


def main() -> None:
    """Print the port of a loopback socket and serve there."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(build(port).streamable_http_app(), log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
