"""Control of a server: claimed, proven where its identity is, looked for again, and over when the proof is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.ownership_proofs import ProofFound, ProofMissing, ProofNotChecked
from evidence.model import Observed, Server, ServerRef, Target, TargetType
from evidence.store import OptOut, OptOutScope
from evidence.store.community.claim_values import Claim, ClaimState, ProofMethod
from evidence.store.community.webhook_values import Webhook
from publish.community import claims as claiming
from publish.community import tokens, webhooks
from publish.community.claims import ClaimRefused, ClaimWithToken
from publish.community.webhooks import RegisteredWebhook
from tests.servers.grounds import Website, website
from tests.stepping_clock import SteppingClock
from tests.workers.world import (
    LISTING,
    NIGHT,
    ScriptedCollector,
    ScriptedFollower,
    ScriptedRegistry,
    World,
    context,
    ref,
    settings,
)
from workers import embedded
from workers.community import claims, client_limits
from workers.context import Context
from workers.runs.options import RunOptions

WELL_KNOWN = "/.well-known/hallmark.txt"
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
FIRST = RunOptions(registries=("first",))


def entry(url: str) -> ServerRef:
    return replace(ref(1), targets=(Target(type=TargetType.STREAMABLE_HTTP, identifier=url),))


@asynccontextmanager
async def listed(home: Path, url: str, collector: ScriptedCollector | None = None) -> AsyncIterator[Context]:
    """A store after a run that found a server at this address; its clock is moved by hand."""
    world = World([ScriptedRegistry("first", [[entry(url)]])], looking=[collector or ScriptedCollector()])
    async with context(home, world, registries=("first",), allow_private=True, clock=None) as ctx:
        ctx.clock = SteppingClock(NIGHT)
        await embedded.run_embedded(ctx, FIRST)
        yield ctx


def only(ctx: Context) -> Server:
    (server,) = ctx.store.list_active_servers()
    return server


def start(ctx: Context, way: ProofMethod) -> ClaimWithToken:
    limits = client_limits.read_community_limits(ctx.settings)
    started = claiming.start_claim(ctx.store, limits, ctx.clock.wall(), only(ctx), way=way, client="ann")
    assert isinstance(started, ClaimWithToken)
    return started


def state(ctx: Context, started: ClaimWithToken) -> Claim:
    found = ctx.store.claims.find_claim(started.claim.id)
    assert found is not None
    return found


def owns(ctx: Context, started: ClaimWithToken) -> bool:
    bearer = tokens.authenticate_token(ctx.store, started.token, ctx.clock.wall())
    return bearer is not None and bearer.owns(only(ctx).id)


def place(site: Website, started: ClaimWithToken, status: int = 200) -> None:
    site.pages[WELL_KNOWN] = (status, f"# ours\n{started.claim.challenge}\n".encode())


def hooked(ctx: Context, started: ClaimWithToken) -> Webhook:
    limits, now = client_limits.read_community_limits(ctx.settings), ctx.clock.wall()
    by = tokens.authenticate_token(ctx.store, started.token, now)
    assert by is not None
    sealed = partial(client_limits.derive_key, ctx.settings)
    made = webhooks.register_webhook(
        ctx.store, limits, sealed, now, server=only(ctx).id, url="https://ci.example/", by=by
    )
    assert isinstance(made, RegisteredWebhook)
    return made.webhook


def test_a_token_counts_from_the_proof_until_it_is_gone_for_a_week(tmp_path: Path) -> None:
    async def main() -> None:
        with website() as site:
            async with listed(tmp_path, site.url + "/mcp") as ctx:
                clock = ctx.clock
                assert isinstance(clock, SteppingClock)
                started = start(ctx, ProofMethod.WELL_KNOWN)
                assert not owns(ctx, started)
                assert await claims.check_due_claims(ctx) == 1
                assert state(ctx, started).note.endswith("answered HTTP 404, expected 200; redirects are not followed")
                assert await claims.check_due_claims(ctx) == 0

                place(site, started)
                clock.step(timedelta(minutes=2))
                await claims.check_due_claims(ctx)
                assert state(ctx, started).state is ClaimState.PROVEN
                assert owns(ctx, started)
                hook = hooked(ctx, started)

                del site.pages[WELL_KNOWN]
                clock.step(DAY)
                await claims.check_due_claims(ctx)
                assert ctx.store.webhooks.list_webhooks() == [hook]
                for _ in range(7):
                    clock.step(DAY)
                    await claims.check_due_claims(ctx)
                assert state(ctx, started).state is ClaimState.LAPSED
                assert not owns(ctx, started)
                assert ctx.store.webhooks.list_webhooks() == []
                clock.step(30 * DAY)
                assert await claims.check_due_claims(ctx) == 0
                acts = ctx.store.audit.read_entries(subject=started.claim.id)
                assert [one.what for one in acts] == ["claim.lapsed", "claim.proven"]

    asyncio.run(main())


def test_a_proof_of_another_server_at_the_host_proves_nothing(tmp_path: Path) -> None:
    """Each server has a challenge of its own, with its id in it: an owner of many servers proves each."""

    async def main() -> None:
        with website() as site:
            async with listed(tmp_path, site.url + "/mcp") as ctx:
                mine = start(ctx, ProofMethod.WELL_KNOWN)
                assert only(ctx).id in mine.claim.challenge
                other = mine.claim.challenge.replace(only(ctx).id, "srv_" + "0" * 20)
                site.pages[WELL_KNOWN] = (200, other.encode())
                await claims.check_due_claims(ctx)
                assert state(ctx, mine).state is ClaimState.WAITING

    asyncio.run(main())


def test_two_who_claim_the_same_server_need_two_proofs(tmp_path: Path) -> None:
    async def main() -> None:
        with website() as site:
            async with listed(tmp_path, site.url + "/mcp") as ctx:
                mine, theirs = start(ctx, ProofMethod.WELL_KNOWN), start(ctx, ProofMethod.WELL_KNOWN)
                place(site, mine)
                await claims.check_due_claims(ctx)
                assert (owns(ctx, mine), owns(ctx, theirs)) == (True, False)
                assert len(site.asked) == 1

    asyncio.run(main())


def test_who_opted_out_is_not_contacted_for_a_proof(tmp_path: Path) -> None:
    async def main() -> None:
        with website() as site:
            async with listed(tmp_path, site.url + "/mcp") as ctx:
                started = start(ctx, ProofMethod.WELL_KNOWN)
                place(site, started)
                out = OptOut(scope=OptOutScope.SERVER, value=only(ctx).id, at=NIGHT, who="op", note="asked")
                ctx.store.opt_outs.add_opt_out(out)
                await claims.check_due_claims(ctx)
                assert site.asked == []
                assert "Prove control by DNS" in state(ctx, started).note

    asyncio.run(main())


def test_what_a_server_says_of_itself_proves_control_where_its_identity_is(tmp_path: Path) -> None:
    """For an owner without control of the host, such as one of a thousand on a platform."""
    said = {"challenge": "nothing", "identifier": ""}

    def answer(server: Server) -> Observed:
        body = json.loads(LISTING)
        body["target"]["identifier"] = said["identifier"]
        body["opening"]["serverInfo"]["title"] = f"Weather ({said['challenge']})"
        return Observed(json.dumps(body).encode())

    async def main() -> None:
        with website() as site:
            url = site.url + "/tenant/mcp"
            said["identifier"] = url
            async with listed(tmp_path, url, ScriptedCollector(answer)) as ctx:
                assert isinstance(ctx.clock, SteppingClock)
                started = start(ctx, ProofMethod.SERVER)
                await claims.check_due_claims(ctx)
                assert "ask for a re-test" in state(ctx, started).note
                said["challenge"] = started.claim.challenge
                for identifier, expected in ((site.url + "/other", ClaimState.WAITING), (url, ClaimState.PROVEN)):
                    said["identifier"] = identifier
                    ctx.clock.step(HOUR)
                    await embedded.run_embedded(ctx, replace(FIRST, fresh=True))
                    await claims.check_due_claims(ctx)
                    assert state(ctx, started).state is expected
                assert site.asked == []

    asyncio.run(main())


def test_a_registration_cannot_say_where_control_of_an_address_is_proven(tmp_path: Path) -> None:
    async def main() -> None:
        async with listed(tmp_path, "https://mcp.example.com:8443/mcp") as ctx:
            limits = client_limits.read_community_limits(ctx.settings)
            server = replace(only(ctx), repository="https://github.com/stranger/repo")
            found = claiming.list_proof_places(ctx.store, limits, server)
            assert [(one.way, one.place) for one in found] == [
                (ProofMethod.WELL_KNOWN, "https://mcp.example.com:8443/.well-known/hallmark.txt"),
                (ProofMethod.DNS, "_hallmark.mcp.example.com"),
                (ProofMethod.SERVER, claiming.SERVER_ITSELF),
            ]
            refused = claiming.start_claim(ctx.store, limits, NIGHT, server, way=ProofMethod.REPOSITORY, client="ann")
            assert isinstance(refused, ClaimRefused)
            assert "well-known, dns, server" in refused.message

    asyncio.run(main())


@pytest.mark.parametrize(
    ("ref_", "expected"),
    [
        ("repo:https://github.com/o/r", (ProofMethod.REPOSITORY, "o/r")),
        ("mcpb:https://github.com/o/r/releases/download/x.mcpb", (ProofMethod.REPOSITORY, "o/r")),
        ("repo:https://gitlab.com/o/r", None),
        ("http://mcp.example.com/mcp", None),
    ],
)
def test_a_place_follows_from_what_names_the_server(
    tmp_path: Path, ref_: str, expected: tuple[ProofMethod, str] | None
) -> None:
    async def main() -> None:
        async with listed(tmp_path, "https://a.example/mcp") as ctx:
            limits = client_limits.read_community_limits(settings(tmp_path))
            found = claiming.list_proof_places(
                ctx.store, limits, Server(ref=ref_, name="x", repository="https://github.com/x/y")
            )
            assert [(one.way, one.place) for one in found[:-1]] == ([expected] if expected else [])

    asyncio.run(main())


def test_a_package_names_the_repository_that_counts(tmp_path: Path) -> None:
    """Its publisher wrote it. What a registration says of a package proves nothing about it."""
    body = {
        "ecosystem": "npm",
        "name": "weather",
        "exists": True,
        "repository": {"url": "git+https://github.com/o/r.git"},
    }
    package = ScriptedFollower("package", lambda _: Observed(json.dumps(body).encode()))
    entry = replace(
        ref(1),
        targets=(Target(type=TargetType.NPM, identifier="weather", version="1.0.0"),),
        repository="https://github.com/stranger/repo",
    )
    world = World([ScriptedRegistry("first", [[entry]])], following=[package])

    async def main() -> None:
        async with context(tmp_path, world, registries=("first",)) as ctx:
            await embedded.run_embedded(ctx, FIRST)
            (server,) = ctx.store.list_active_servers()
            found = claiming.list_proof_places(ctx.store, client_limits.read_community_limits(ctx.settings), server)
            assert [(one.way, one.place) for one in found][:-1] == [(ProofMethod.REPOSITORY, "o/r")]

    asyncio.run(main())


def claim(**changes: object) -> Claim:
    known: dict[str, object] = {
        "id": "c",
        "server": "s",
        "way": ProofMethod.DNS,
        "place": "p",
        "challenge": "x",
        "client": "a",
    }
    return Claim(**(known | {"asked_at": NIGHT, "due_at": NIGHT} | changes))  # type: ignore[arg-type]


def test_looks_become_rarer_and_a_claim_without_proof_ends(tmp_path: Path) -> None:
    mine, waiting, pauses = settings(tmp_path), claim(), []
    for _ in range(12):
        at = waiting.due_at
        waiting = claims.update_claim(mine, waiting, ProofMissing("no"), at)
        pauses.append((waiting.due_at - at) / timedelta(minutes=1))
    assert pauses[:4] == [1, 2, 4, 8]
    assert max(pauses) == pauses[-1] == 360
    assert claims.update_claim(mine, waiting, ProofMissing("no"), NIGHT + 7 * DAY).state is ClaimState.WAITING
    assert claims.update_claim(mine, waiting, ProofMissing("no"), NIGHT + 7 * DAY + HOUR).state is ClaimState.EXPIRED


def test_a_proof_lasts_longer_where_we_could_not_look(tmp_path: Path) -> None:
    mine, proven = settings(tmp_path), claim(state=ClaimState.PROVEN, seen_at=NIGHT)
    later = NIGHT + 8 * DAY
    assert claims.update_claim(mine, proven, ProofMissing("gone"), later).state is ClaimState.LAPSED
    assert claims.update_claim(mine, proven, ProofNotChecked("down"), later).state is ClaimState.PROVEN
    assert claims.update_claim(mine, proven, ProofNotChecked("down"), NIGHT + 29 * DAY).state is ClaimState.LAPSED
    again = claims.update_claim(mine, replace(proven, tries=3, note="gone"), ProofFound(), later)
    assert (again.seen_at, again.due_at, again.tries, again.note) == (later, later + DAY, 0, "")
