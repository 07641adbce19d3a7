"""Checks proofs of control: soon after a claim, then at growing intervals, and daily once proven."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from crawler.addresses import UnusableAddress
from crawler.collectors.repository import GitHub
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.identity import target_ref
from crawler.ownership_proofs import (
    ProofContent,
    ProofFinder,
    ProofFound,
    ProofMissing,
    ProofNotChecked,
    ProofPlace,
    ProofResult,
)
from evidence.canonical import Json, NotJson
from evidence.json_members import object_or_empty, text_or_empty
from evidence.kinds import listing
from evidence.kinds.listing import Listing
from evidence.model import Absent, Server, Target, TargetType
from evidence.store.community.claim_values import Claim, ClaimState, ProofMethod
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.disputable_lines import list_shown_runs
from publish.community.webhooks import end_uncontrolled_webhooks
from workers.clock import Clock
from workers.context import Context
from workers.nightly.closing import SYSTEM_ACTOR
from workers.opt_outs import load_opt_outs
from workers.settings.environment import Settings

CHECK_LEASE: Final = timedelta(minutes=5)
MAX_CHECKS_AT_ONCE: Final = 50
"""Claims that one task checks; it checks them one after the other."""

_FIRST: Final = timedelta(minutes=1)
_LAST: Final = timedelta(hours=6)
_UNCHECKED_FACTOR: Final = 4
"""A proof that we could not check lapses after this many times the usual period."""


@asynccontextmanager
async def open_proof_client(settings: Settings, clock: Clock) -> AsyncIterator[ProofFinder]:
    """A finder of proofs over guarded HTTP, DNS and GitHub."""
    engine = HttpEngine(user_agent=settings.user_agent, guard=AddressGuard(allow_private=settings.allow_private))
    tokens = [token.reveal() for token in settings.github_tokens]
    github = GitHub(settings.github_api, tokens, now=clock.now, user_agent=settings.user_agent)
    try:
        yield ProofFinder(engine, github)
    finally:
        github.close()


async def check_due_claims(ctx: Context) -> int:
    """Check the proofs that are due, and return how many; without any, no connection is opened."""
    due = await asyncio.to_thread(ctx.store.claims.lease_due, ctx.clock.wall(), MAX_CHECKS_AT_ONCE, CHECK_LEASE)
    if due:
        async with open_proof_client(ctx.settings, ctx.clock) as finder:
            await _check(ctx, finder, due)
    return len(due)


async def _check(ctx: Context, finder: ProofFinder, due: list[Claim]) -> None:
    views: dict[tuple[ProofMethod, str], ProofContent] = {}
    for claim in due:
        server = await asyncio.to_thread(ctx.store.find_server, claim.server)
        result: ProofResult = ProofMissing("no registry lists this server")
        if server:
            result = await _find_proof(ctx, finder, claim, server, views)
        at = ctx.clock.wall()
        settled = update_claim(ctx.settings, claim, result, at)
        entry = _audit_entry(settled, at) if settled.state is not claim.state else None
        if await asyncio.to_thread(ctx.store.claims.record_check, settled, entry) and entry:
            ctx.log.info("claim_state_changed", claim=claim.id, server=claim.server, state=settled.state.value)
            if settled.state is ClaimState.LAPSED:
                await asyncio.to_thread(end_uncontrolled_webhooks, ctx.store, at, claim.server, SYSTEM_ACTOR)


def _audit_entry(claim: Claim, at: datetime) -> AuditEntry:
    """An entry for the audit trail, because a proof gives the same rights as a token made by an operator."""
    note = f"{claim.server} by {claim.way.value}"
    return AuditEntry(at=at, who=SYSTEM_ACTOR, what=f"claim.{claim.state.value}", subject=claim.id, note=note)


async def _find_proof(
    ctx: Context, finder: ProofFinder, claim: Claim, server: Server, views: dict[tuple[ProofMethod, str], ProofContent]
) -> ProofResult:
    if claim.way is ProofMethod.SERVER:
        return await asyncio.to_thread(_find_in_evidence, ctx, claim, server)
    if claim.way is ProofMethod.WELL_KNOWN and (why := load_opt_outs(ctx.settings, ctx.store).why(server)):
        return ProofNotChecked(f"the host is not contacted: {why.detail}. Prove control by DNS")
    where = (claim.way, claim.place)
    if where not in views:
        views[where] = await finder.read(*where)
    view = views[where]
    return view.judge(claim.challenge) if isinstance(view, ProofPlace) else view


def update_claim(settings: Settings, claim: Claim, result: ProofResult, at: datetime) -> Claim:
    """The claim after a check, with its new state and the time of the next check."""
    if isinstance(result, ProofFound):
        again = at + settings.claim_again
        return replace(claim, state=ClaimState.PROVEN, seen_at=at, due_at=again, tries=0, note="")
    if claim.seen_at is None:
        over, state = at - claim.asked_at > settings.claim_time, ClaimState.EXPIRED
    else:
        limit = settings.claim_lapse * (_UNCHECKED_FACTOR if isinstance(result, ProofNotChecked) else 1)
        over, state = at - claim.seen_at > limit, ClaimState.LAPSED
    pause = min(_FIRST * 2 ** min(claim.tries, 20), _LAST)
    changed = replace(claim, tries=claim.tries + 1, due_at=at + pause, note=result.note)
    return replace(changed, state=state) if over else changed


def _find_in_evidence(ctx: Context, claim: Claim, server: Server) -> ProofResult:
    """Search the server's instructions and serverInfo in the newest evidence from the address that names the server."""
    for run in list_shown_runs(ctx.store, server.id):
        (dossier,) = ctx.store.read_dossiers(run, [server.id])
        content = dossier.read(listing.KIND)
        if isinstance(content, Absent):
            continue
        try:
            observed = Listing.parse(content.body)
            identity = _identity(observed)
        except NotJson:
            continue
        if identity != server.ref:
            return ProofMissing("the measured address is not the address that names this server")
        if any(claim.challenge in one for one in _texts([observed.instructions, dict(observed.server_info)])):
            return ProofFound()
        return ProofMissing(f"run {run} did not see it in the server's instructions or serverInfo: ask for a re-test")
    return ProofNotChecked("the server sent no listing when it was last measured")


def _identity(observed: Listing) -> str | None:
    asked = object_or_empty(observed.body.get("target"))
    try:
        return target_ref(
            Target(type=TargetType(text_or_empty(asked.get("type"))), identifier=text_or_empty(asked.get("identifier")))
        )
    except (UnusableAddress, ValueError):
        return None


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
