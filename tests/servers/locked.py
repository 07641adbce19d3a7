"""Servers that want credentials: a script of what each address answers, for the door and for the metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.servers.hostile import Behaviour, Call, Mcp

PRM = "/.well-known/oauth-protected-resource"
RFC8414 = "/.well-known/oauth-authorization-server"
OIDC = "/.well-known/openid-configuration"


@dataclass
class Locked:
    """A legacy server behind a lock. `pages` maps a path to (status, body, headers...); `{origin}` is filled in.

    The lock opens for `token`, or with `opens_for_any` for any. It is at the connection unless `at` names another
    method.
    """

    challenge: str | None = "Bearer"
    status: int = 401
    pages: dict[str, Any] = field(default_factory=dict)
    token: str | None = None
    opens_for_any: bool = False
    at: str = "connect"
    body: Any = None
    inner: Behaviour = field(default_factory=Mcp)
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        credential = call.headers.get("authorization", "")
        self.asked.append((call.verb, call.path, credential))
        origin = f"http://{call.headers['host']}"
        if call.path in self.pages:
            page = self.pages[call.path]
            await page(call) if callable(page) else await call.reply(200, _filled(page, origin))
        elif call.path.startswith("/.well-known/") or call.verb == "GET":
            await call.reply(404 if call.path.startswith("/.well-known/") else 405)
        elif (self.at == "connect" or call.method == self.at) and not self._is_open_for(credential):
            headers = [("WWW-Authenticate", self.challenge.replace("{origin}", origin))] if self.challenge else []
            await call.reply(self.status, _filled(self.body or {"error": "denied"}, origin), *headers)
        else:
            await self.inner(call)

    def _is_open_for(self, credential: str) -> bool:
        return credential == f"Bearer {self.token}" or (self.opens_for_any and credential.startswith("Bearer "))


def good_pages(path: str = "/mcp") -> dict[str, Any]:
    """Metadata without a flaw, the authorization server on the same origin."""
    return {
        PRM + path: {"resource": "{origin}" + path, "authorization_servers": ["{origin}"]},
        RFC8414: {
            "issuer": "{origin}",
            "authorization_endpoint": "{origin}/authorize",
            "token_endpoint": "{origin}/token",
            "registration_endpoint": "{origin}/register",
            "code_challenge_methods_supported": ["S256"],
        },
    }


def _filled(page: Any, origin: str) -> bytes:
    text = page if isinstance(page, str) else json.dumps(page)
    return text.replace("{origin}", origin).encode()
