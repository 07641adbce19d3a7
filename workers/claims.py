"""Proofs of control: looked for soon after somebody claims, then at longer intervals, and every day once proven."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from crawler.addresses import Unusable
from crawler.collectors.repository import GitHub
from crawler.control import Found, Grounds, Missing, Read, Sight, Unseen, View
from crawler.identity import target_ref
from crawler.wire.guard import Guard
from crawler.wire.http import Engine
from evidence.canonical import Json, NotJson
from evidence.kinds import listing
from evidence.kinds.listing import Listing
from evidence.members import mapping, text
from evidence.model import Absent, Server, Target, TargetType
from evidence.store.audit import Act
from evidence.store.claim_rows import Claim, ClaimState, Way
from publish.people.lines import newest_runs
from publish.people.webhooks import end_uncontrolled
from workers.clock import Clock
from workers.closing import OURSELVES
from workers.context import Context
from workers.opt_outs import opt_outs
from workers.settings import Settings

LEASE: Final = timedelta(minutes=5)
AT_ONCE: Final = 50
"""Claims that one task looks at, one after the other: nobody is asked many things at once."""

_FIRST: Final = timedelta(minutes=1)
_LAST: Final = timedelta(hours=6)
_MORE_PATIENCE: Final = 4
"""Where we could not look, a proof lasts so many times as long."""


@asynccontextmanager
async def open_grounds(settings: Settings, clock: Clock) -> AsyncIterator[Grounds]:
    """The guarded way to where proofs are."""
    engine = Engine(user_agent=settings.user_agent, guard=Guard(allow_private=settings.allow_private))
    tokens = [token.get_secret_value() for token in settings.github_tokens]
    github = GitHub(settings.github_api, tokens, now=clock.now, user_agent=settings.user_agent)
    try:
        yield Grounds(engine, github)
    finally:
        github.close()


async def check_due(ctx: Context, grounds: Grounds | None = None) -> int:
    """Look for the proofs that are due; how many. Without any, nothing is opened."""
    due = await asyncio.to_thread(ctx.store.claims.take_due, ctx.clock.wall(), AT_ONCE, LEASE)
    if not due:
        return 0
    if grounds is not None:
        await _check(ctx, grounds, due)
        return len(due)
    async with open_grounds(ctx.settings, ctx.clock) as opened:
        await _check(ctx, opened, due)
    return len(due)


async def _check(ctx: Context, grounds: Grounds, due: list[Claim]) -> None:
    seen: dict[tuple[Way, str], View] = {}
    for claim in due:
        server = await asyncio.to_thread(ctx.store.server, claim.server)
        sight = await _look(ctx, grounds, claim, server, seen) if server else Missing("no registry lists this server")
        at = ctx.clock.wall()
        settled = after(ctx.settings, claim, sight, at)
        moved = settled.state is not claim.state
        if await asyncio.to_thread(ctx.store.claims.settle, settled, _act(settled, at) if moved else None) and moved:
            ctx.log.info("claim_moved", claim=claim.id, server=claim.server, state=settled.state.value)
            if settled.state is ClaimState.LAPSED:
                await asyncio.to_thread(end_uncontrolled, ctx.store, at, claim.server, OURSELVES)


def _act(claim: Claim, at: datetime) -> Act:
    """For the trail, since a proof opens what a token made by an operator would."""
    note = f"{claim.server} by {claim.way.value}"
    return Act(at=at, who=OURSELVES, what=f"claim.{claim.state.value}", subject=claim.id, note=note)


async def _look(
    ctx: Context, grounds: Grounds, claim: Claim, server: Server, seen: dict[tuple[Way, str], View]
) -> Sight:
    if claim.way is Way.SERVER:
        return await asyncio.to_thread(_in_evidence, ctx, claim, server)
    if claim.way is Way.WELL_KNOWN and (why := opt_outs(ctx.settings, ctx.store).why(server)):
        return Unseen(f"the host is not contacted: {why.detail}. Prove control by DNS")
    where = (claim.way, claim.place)
    if where not in seen:
        seen[where] = await grounds.read(*where)
    view = seen[where]
    return view.sight(claim.challenge) if isinstance(view, Read) else view


def after(settings: Settings, claim: Claim, sight: Sight, at: datetime) -> Claim:
    """The claim after a look: when it is looked at again, and whether it is proven, over, or goes on."""
    if isinstance(sight, Found):
        again = at + settings.claim_again
        return replace(claim, state=ClaimState.PROVEN, seen_at=at, due_at=again, tries=0, note="")
    if claim.seen_at is None:
        over, state = at - claim.asked_at > settings.claim_time, ClaimState.EXPIRED
    else:
        patience = settings.claim_lapse * (_MORE_PATIENCE if isinstance(sight, Unseen) else 1)
        over, state = at - claim.seen_at > patience, ClaimState.LAPSED
    pause = min(_FIRST * 2 ** min(claim.tries, 20), _LAST)
    moved = replace(claim, tries=claim.tries + 1, due_at=at + pause, note=sight.note)
    return replace(moved, state=state) if over else moved


def _in_evidence(ctx: Context, claim: Claim, server: Server) -> Sight:
    """What the server said of itself when it was last asked, if that was where its identity is."""
    for run in newest_runs(ctx.store, server.id):
        (dossier,) = ctx.store.dossiers(run, [server.id])
        content = dossier.read(listing.KIND)
        if isinstance(content, Absent):
            continue
        try:
            said = Listing.parse(content.body)
            identity = _identity(said)
        except NotJson:
            continue
        if identity != server.ref:
            return Missing("what was asked was not the address that names this server")
        if any(claim.challenge in one for one in _texts([said.instructions, dict(said.server_info)])):
            return Found()
        return Missing(f"run {run} did not see it in the server's instructions or serverInfo: ask for a re-test")
    return Unseen("the server did not say anything when it was last looked at")


def _identity(said: Listing) -> str | None:
    asked = mapping(said.body.get("target"))
    try:
        return target_ref(Target(type=TargetType(text(asked.get("type"))), identifier=text(asked.get("identifier"))))
    except (Unusable, ValueError):
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
