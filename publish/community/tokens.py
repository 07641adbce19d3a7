"""API tokens: shown once, stored as a salted digest.

A token is `hmk_ID_SECRET`. The secret has 256 random bits, so it cannot be guessed from a fast digest. A slow
digest, as for passwords, would only let clients use up processor time. The salt makes the digests of two databases
incomparable.
"""

from __future__ import annotations

import hmac
import re
import secrets
from datetime import datetime
from hashlib import sha256
from typing import Final

from msgspec import Struct

from evidence.model import ServerId
from evidence.store import Store
from evidence.store.community.tokens import ApiToken

TOKEN_PREFIX: Final = "hmk_"  # noqa: S105 - the public prefix of a token
ADMIN_DISPUTES: Final = "admin:disputes"
ADMIN_RETESTS: Final = "admin:retests"
ADMIN_OPT_OUTS: Final = "admin:opt-outs"
ADMIN_AUDIT: Final = "admin:audit"
ADMIN_SCOPES: Final = (ADMIN_DISPUTES, ADMIN_RETESTS, ADMIN_OPT_OUTS, ADMIN_AUDIT)
"""The scopes of operators' tokens."""

_OWNER: Final = "owner:"
_SECRET_BYTES: Final = 32
_SALT_BYTES: Final = 16
_FORM: Final = re.compile(r"hmk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY: Final = (bytes(_SALT_BYTES), bytes(32))
"""Salt and digest with which an unknown token is compared, to take equal time."""


class UnknownScope(ValueError):
    """An unknown scope; the message lists the known ones."""


class CreatedToken(Struct, frozen=True):
    """A token as it is stored, and its text, which cannot be recovered."""

    token: ApiToken
    text: str


class TokenBearer(Struct, frozen=True):
    """The bearer of a valid token."""

    token: ApiToken

    @property
    def name(self) -> str:
        """The name of the bearer, for the audit trail."""
        return self.token.name

    def may(self, scope: str) -> bool:
        """Whether the token has this scope."""
        return scope in self.token.scopes

    def owns(self, server: ServerId) -> bool:
        """Whether the bearer has proven control of a server."""
        return self.may(owner_scope(server))


def owner_scope(server: ServerId) -> str:
    """The scope that proven control of a server gives."""
    return _OWNER + server


def check_scopes(scopes: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes of an operator's token, each once; raise UnknownScope. Those of owners are proven, not given."""
    if unknown := [scope for scope in scopes if scope not in ADMIN_SCOPES]:
        raise UnknownScope(f"expected scopes among {', '.join(ADMIN_SCOPES)}; found {unknown[0]!r}")
    return tuple(dict.fromkeys(scopes))


def create_token(
    name: str, scopes: tuple[str, ...], *, now: datetime, expires_at: datetime | None = None
) -> CreatedToken:
    """A new token, valid as soon as it is stored."""
    number, secret = secrets.token_hex(6), secrets.token_urlsafe(_SECRET_BYTES)
    salt = secrets.token_bytes(_SALT_BYTES)
    token = ApiToken(
        id=number,
        name=name,
        salt=salt,
        digest=_digest(salt, secret),
        scopes=scopes,
        made_at=now,
        expires_at=expires_at,
    )
    return CreatedToken(token, f"{TOKEN_PREFIX}{number}_{secret}")


def authenticate_token(store: Store, presented: str, now: datetime) -> TokenBearer | None:
    """The bearer of a token; None if it is unknown, wrong, expired, revoked, or its claim is not proven.

    The reason is not revealed, and an unknown id takes the same time as a wrong secret.
    """
    form = _FORM.fullmatch(presented)
    if form is None:
        return None
    known = store.api_tokens.find_token(form[1])
    salt, digest = _NOBODY if known is None else (known.salt, known.digest)
    same = hmac.compare_digest(_digest(salt, form[2]), digest)
    if known is None or not same or not known.is_valid(now):
        return None
    store.api_tokens.record_use(known, now)
    return TokenBearer(known)


def _digest(salt: bytes, secret: str) -> bytes:
    return hmac.digest(salt, secret.encode("ascii"), sha256)
