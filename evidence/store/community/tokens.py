"""API tokens: their scopes and expiry. Of the secret only a salted digest is stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection, Row, Select, insert, select, update

from evidence.store.community.claim_values import ClaimState
from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.tables.community import API_TOKEN, CLAIM
from evidence.store.transactions import DatabaseAccess

_COLUMNS: Final = ("id", "name", "salt", "digest", "made_at", "expires_at")

_USE_PRECISION: Final = timedelta(minutes=1)
"""The precision of the time of last use, so that not every request writes."""


class ApiToken(Struct, frozen=True, kw_only=True):
    """One token. It is valid while its `claim` is proven; None for a token made by an operator."""

    id: str
    name: str
    salt: bytes
    digest: bytes
    scopes: tuple[str, ...]
    made_at: datetime
    expires_at: datetime | None = None
    used_at: datetime | None = None
    revoked_at: datetime | None = None
    claim: str | None = None
    proven: bool = True

    def is_valid(self, now: datetime) -> bool:
        expired = self.expires_at is not None and self.expires_at <= now
        return self.revoked_at is None and not expired and self.proven


class ApiTokens(DatabaseAccess):
    """The tokens of one database; each method is one transaction."""

    def put_token(self, token: ApiToken, act: AuditEntry) -> None:
        """Store a token that an operator made, with its entry in the audit trail."""
        with self._database.writing() as connection:
            put_token(connection, token)
            put_audit_entry(connection, act)

    def find_token(self, token: str) -> ApiToken | None:
        """A token by its id, valid or not."""
        with self._database.reading() as connection:
            row = connection.execute(_query().where(API_TOKEN.c.id == token)).one_or_none()
        return None if row is None else _token(row)

    def list_tokens(self, *, ended: bool = False) -> list[ApiToken]:
        """Tokens that are not revoked, oldest first; with `ended` the revoked ones too."""
        query = _query().order_by(API_TOKEN.c.key)
        if not ended:
            query = query.where(API_TOKEN.c.revoked_at.is_(None))
        with self._database.reading() as connection:
            return [_token(row) for row in connection.execute(query)]

    def revoke_token(self, token: str, act: AuditEntry) -> bool:
        """Revoke a token at the time of `act`; False when it does not exist or is revoked."""
        with self._database.writing() as connection:
            still = (API_TOKEN.c.id == token, API_TOKEN.c.revoked_at.is_(None))
            changed = connection.execute(update(API_TOKEN).where(*still).values(revoked_at=act.at)).rowcount
            if changed:
                put_audit_entry(connection, act)
        return bool(changed)

    def record_use(self, token: ApiToken, at: datetime) -> None:
        """Store when a token was last used, to the minute."""
        if token.used_at is not None and at - token.used_at < _USE_PRECISION:
            return
        with self._database.writing() as connection:
            connection.execute(update(API_TOKEN).where(API_TOKEN.c.id == token.id).values(used_at=at))


def put_token(connection: Connection, token: ApiToken, claim_key: int | None = None) -> None:
    """Store a token, with the key of the claim on which its validity depends."""
    values = {name: getattr(token, name) for name in _COLUMNS}
    connection.execute(insert(API_TOKEN).values(**values, scopes=" ".join(token.scopes), claim_key=claim_key))


def _query() -> Select[Any]:
    columns = (API_TOKEN, CLAIM.c.id.label("claim"), CLAIM.c.state.label("claim_state"))
    return select(*columns).join(CLAIM, CLAIM.c.key == API_TOKEN.c.claim_key, isouter=True)


def _token(row: Row[Any]) -> ApiToken:
    known = {name: getattr(row, name) for name in (*_COLUMNS, "used_at", "revoked_at", "claim")}
    proven = row.claim_state in {None, ClaimState.PROVEN.value}
    return ApiToken(scopes=tuple(row.scopes.split()), proven=proven, **known)
