"""API tokens: what each may do and until when. The secret is not here, only a salted digest of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, insert, select, update

from evidence.store.community.claim_values import ClaimState
from evidence.store.database import Database
from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.tables.community import API_TOKEN, CLAIM

_NOTED: Final = timedelta(minutes=1)
"""How exactly the last use is kept, so that not every request writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """One token. `claim` is the proof of control that it stands and falls with, None for one that an operator made."""

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
        """Whether it opens anything at a moment."""
        expired = self.expires_at is not None and self.expires_at <= now
        return self.revoked_at is None and not expired and self.proven


class ApiTokens:
    """The tokens of one database; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put_token(self, token: ApiToken, act: AuditEntry) -> None:
        """Store a token that an operator made, with its entry in the trail."""
        with self._database.writing() as connection:
            put_token(connection, token)
            put_audit_entry(connection, act)

    def find_token(self, token: str) -> ApiToken | None:
        """One token by its id, whether or not it counts."""
        with self._database.reading() as connection:
            row = connection.execute(_query().where(API_TOKEN.c.id == token)).one_or_none()
        return None if row is None else _token(row)

    def list_tokens(self, *, ended: bool = False) -> list[ApiToken]:
        """Tokens that were not revoked, oldest first; with `ended` also those that were."""
        query = _query().order_by(API_TOKEN.c.key)
        if not ended:
            query = query.where(API_TOKEN.c.revoked_at.is_(None))
        with self._database.reading() as connection:
            return [_token(row) for row in connection.execute(query)]

    def revoke_token(self, token: str, act: AuditEntry) -> bool:
        """End a token at the act's time; False when there is none, or when it has ended already."""
        with self._database.writing() as connection:
            still = (API_TOKEN.c.id == token, API_TOKEN.c.revoked_at.is_(None))
            changed = connection.execute(update(API_TOKEN).where(*still).values(revoked_at=act.at)).rowcount
            if changed:
                put_audit_entry(connection, act)
        return bool(changed)

    def record_use(self, token: ApiToken, at: datetime) -> None:
        """Note that a token was used, to the minute."""
        if token.used_at is not None and at - token.used_at < _NOTED:
            return
        with self._database.writing() as connection:
            connection.execute(update(API_TOKEN).where(API_TOKEN.c.id == token.id).values(used_at=at))


def put_token(connection: Connection, token: ApiToken, claim_key: int | None = None) -> None:
    """Store a token, with the claim that it stands and falls with."""
    values = {name: getattr(token, name) for name in ("id", "name", "salt", "digest", "made_at", "expires_at")}
    connection.execute(insert(API_TOKEN).values(**values, scopes=" ".join(token.scopes), claim_key=claim_key))


def _query() -> Select[Any]:
    columns = (API_TOKEN, CLAIM.c.id.label("claim"), CLAIM.c.state.label("claim_state"))
    return select(*columns).join(CLAIM, CLAIM.c.key == API_TOKEN.c.claim_key, isouter=True)


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(
        id=row.id,
        name=row.name,
        salt=row.salt,
        digest=row.digest,
        scopes=tuple(row.scopes.split()),
        made_at=row.made_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
        claim=row.claim,
        proven=row.claim_state in {None, ClaimState.PROVEN.value},
    )
