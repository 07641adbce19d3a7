"""Checks of proofs of control: soon after a claim, then at longer intervals, and daily once proven."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from crawler.addresses import UnusableAddress
from crawler.collectors.repository import GitHub
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.identity import target_ref
from crawler.ownership_proofs import ProofFinder, ProofFound, ProofMissing, ProofNotChecked, ProofPlace, Sight, View
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
"""Claims that one task checks, one after the other, to limit concurrent requests."""

_FIRST: Final = timedelta(minutes=1)
_LAST: Final = timedelta(hours=6)
_MORE_PATIENCE: Final = 4
"""Where we could not look, a proof lasts so many times as long."""


@asynccontextmanager
async def open_proof_client(settings: Settings, clock: Clock) -> AsyncIterator[ProofFinder]:
    """The guarded way to where proofs are."""
    engine = HttpEngine(user_agent=settings.user_agent, guard=AddressGuard(allow_private=settings.allow_private))
    tokens = [token.get_secret_value() for token in settings.github_tokens]
    github = GitHub(settings.github_api, tokens, now=clock.now, user_agent=settings.user_agent)
    try:
        yield ProofFinder(engine, github)
    finally:
        github.close()


async def check_due_claims(ctx: Context, grounds: ProofFinder | None = None) -> int:
    """Look for the proofs that are due; how many. Without any, nothing is opened."""
    due = await asyncio.to_thread(ctx.store.claims.lease_due, ctx.clock.wall(), MAX_CHECKS_AT_ONCE, CHECK_LEASE)
    if not due:
        return 0
    if grounds is not None:
        await _check(ctx, grounds, due)
        return len(due)
    async with open_proof_client(ctx.settings, ctx.clock) as opened:
        await _check(ctx, opened, due)
    return len(due)


async def _check(ctx: Context, grounds: ProofFinder, due: list[Claim]) -> None:
    seen: dict[tuple[ProofMethod, str], View] = {}
    for claim in due:
        server = await asyncio.to_thread(ctx.store.find_server, claim.server)
        sight = (
            await _look(ctx, grounds, claim, server, seen) if server else ProofMissing("no registry lists this server")
        )
        at = ctx.clock.wall()
        settled = update_claim(ctx.settings, claim, sight, at)
        moved = settled.state is not claim.state
        if (
            await asyncio.to_thread(ctx.store.claims.record_check, settled, _act(settled, at) if moved else None)
            and moved
        ):
            ctx.log.info("claim_moved", claim=claim.id, server=claim.server, state=settled.state.value)
            if settled.state is ClaimState.LAPSED:
                await asyncio.to_thread(end_uncontrolled_webhooks, ctx.store, at, claim.server, SYSTEM_ACTOR)


def _act(claim: Claim, at: datetime) -> AuditEntry:
    """For the trail, since a proof opens what a token made by an operator would."""
    note = f"{claim.server} by {claim.way.value}"
    return AuditEntry(at=at, who=SYSTEM_ACTOR, what=f"claim.{claim.state.value}", subject=claim.id, note=note)


async def _look(
    ctx: Context, grounds: ProofFinder, claim: Claim, server: Server, seen: dict[tuple[ProofMethod, str], View]
) -> Sight:
    if claim.way is ProofMethod.SERVER:
        return await asyncio.to_thread(_in_evidence, ctx, claim, server)
    if claim.way is ProofMethod.WELL_KNOWN and (why := load_opt_outs(ctx.settings, ctx.store).why(server)):
        return ProofNotChecked(f"the host is not contacted: {why.detail}. Prove control by DNS")
    where = (claim.way, claim.place)
    if where not in seen:
        seen[where] = await grounds.read(*where)
    view = seen[where]
    return view.sight(claim.challenge) if isinstance(view, ProofPlace) else view


def update_claim(settings: Settings, claim: Claim, sight: Sight, at: datetime) -> Claim:
    """The claim after a look: when it is looked at again, and whether it is proven, over, or goes on."""
    if isinstance(sight, ProofFound):
        again = at + settings.claim_again
        return replace(claim, state=ClaimState.PROVEN, seen_at=at, due_at=again, tries=0, note="")
    if claim.seen_at is None:
        over, state = at - claim.asked_at > settings.claim_time, ClaimState.EXPIRED
    else:
        patience = settings.claim_lapse * (_MORE_PATIENCE if isinstance(sight, ProofNotChecked) else 1)
        over, state = at - claim.seen_at > patience, ClaimState.LAPSED
    pause = min(_FIRST * 2 ** min(claim.tries, 20), _LAST)
    moved = replace(claim, tries=claim.tries + 1, due_at=at + pause, note=sight.note)
    return replace(moved, state=state) if over else moved


def _in_evidence(ctx: Context, claim: Claim, server: Server) -> Sight:
    """What the server said of itself when it was last asked, if that was where its identity is."""
    for run in list_shown_runs(ctx.store, server.id):
        (dossier,) = ctx.store.read_dossiers(run, [server.id])
        content = dossier.read(listing.KIND)
        if isinstance(content, Absent):
            continue
        try:
            said = Listing.parse(content.body)
            identity = _identity(said)
        except NotJson:
            continue
        if identity != server.ref:
            return ProofMissing("what was asked was not the address that names this server")
        if any(claim.challenge in one for one in _texts([said.instructions, dict(said.server_info)])):
            return ProofFound()
        return ProofMissing(f"run {run} did not see it in the server's instructions or serverInfo: ask for a re-test")
    return ProofNotChecked("the server did not say anything when it was last looked at")


def _identity(said: Listing) -> str | None:
    asked = object_or_empty(said.body.get("target"))
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
