"""Opts servers out and in again, by the owner's or the operator's token."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from evidence.model import ServerId
from evidence.store import OptOut, OptOutScope, Store
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.tokens import TokenBearer

OPT_OUT: Final = "server.opt_out"
OPT_IN: Final = "server.opt_in"


def opt_out_server(store: Store, now: datetime, server: ServerId, by: TokenBearer, note: str) -> bool:
    """Stop probing a server from the next task on; False if it has opted out already."""
    entry = OptOut(scope=OptOutScope.SERVER, value=server, at=now, who=by.name, note=note)
    return store.opt_outs.add_opt_out(entry, _act(OPT_OUT, now, server, by, note))


def opt_in_server(store: Store, now: datetime, server: ServerId, by: TokenBearer, note: str) -> bool:
    """Probe a server again; False if no entry names its id. Lists show it from the next publication on.

    Only an operator can end an entry for its host, domain or name.
    """
    act = _act(OPT_IN, now, server, by, note)
    return store.opt_outs.revoke_opt_out(OptOutScope.SERVER, server, at=now, who=by.name, note=note, act=act)


def _act(what: str, now: datetime, server: ServerId, by: TokenBearer, note: str) -> AuditEntry:
    return AuditEntry(at=now, who=by.name, token=by.token.id, what=what, subject=server, note=note)
