"""Asking for a re-test and following it: rows only, for the command line, the API and the site. Nobody is contacted.

    asked = request(store, settings, now, server_id, asker(settings, "203.0.113.9"))
    match asked:
        case Accepted(retest=retest, ready_at=ready_at): ...  # the open request of this server, new or not
        case Refused(why=why, message=message): ...
    report(store, settings, retest.id)  # to poll: its state, and what changed once it is done

What happens to a request afterwards is in `workers.retest_runs`.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from evidence.model import ServerId, Status
from evidence.store import ClientLimit, Retest, RetestState, Store
from publish.comparison import compare
from publish.disclosure import Shown, disclose, public_form
from publish.site.desk import Accepted, Asker, Refused, Report, Standing, WhyRefused
from scoring import receipt
from scoring.scorecard import Scorecard
from workers.opt_outs import opt_outs
from workers.salt import secret_salt
from workers.settings import Settings

__all__ = [
    "Accepted",
    "Asker",
    "Refused",
    "Report",
    "Standing",
    "WhyRefused",
    "asker",
    "cards_of",
    "cooldown",
    "newest_run",
    "ready_at",
    "report",
    "request",
]

DAY: Final = timedelta(days=1)


def asker(settings: Settings, who: str, standing: Standing = Standing.ANYONE) -> Asker:
    """Who asks, from whatever tells clients apart: an address, a login name, the id of a token. It is not kept."""
    salt = secret_salt(settings.home, settings.secret_salt.get_secret_value())
    return Asker(hmac.digest(salt, who.encode("utf-8", "replace"), sha256).hex()[:32], standing)


def request(store: Store, settings: Settings, now: datetime, server: ServerId, who: Asker) -> Accepted | Refused:
    """Ask for a re-test. A server has one open request: whoever asks next gets the same one, and may be heard sooner.

    Refused for servers that no registry lists, for those that have opted out, and when a client has asked too often
    within 24 hours.
    """
    if not _is_listed(store, server):
        return Refused(
            why=WhyRefused.UNKNOWN_SERVER,
            message=f"no registry lists a server {server}: only those that are listed are looked at",
        )
    if (known := store.server(server)) and (why := opt_outs(settings, store).why(known)):
        return Refused(why=WhyRefused.OPTED_OUT, message=f"{known.ref} is not looked at: {why.detail}")
    new = Retest(id=f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(6)}", server=server, client=who.client, asked_at=now)
    limit = None if who.standing is Standing.OPERATOR else ClientLimit(settings.retests_per_client, now - DAY)
    found = store.retests.ask(new, limit)
    if found is None:
        return Refused(
            why=WhyRefused.TOO_MANY,
            message=f"at most {settings.retests_per_client} re-tests in 24 hours for one client: try again later",
        )
    if cooldown(settings, new) < cooldown(settings, found) and store.retests.take_over(found.id, new.client):
        found = replace(found, client=new.client)
    return Accepted(retest=found, ready_at=ready_at(settings, found), again=found.id != new.id)


def ready_at(settings: Settings, retest: Retest) -> datetime:
    """When a request may begin, or began: after the cool-down since the last re-test of its server."""
    if retest.admitted_at is not None or retest.visited_at is None:
        return retest.admitted_at or retest.asked_at
    return max(retest.asked_at, retest.visited_at + cooldown(settings, retest))


def cooldown(settings: Settings, retest: Retest) -> timedelta:
    """The least time between two re-tests of a server, for whoever asked for this one."""
    match retest.client.partition(":")[0]:
        case Standing.OPERATOR.value:
            return timedelta(0)
        case Standing.OWNER.value:
            return min(settings.retest_owner_cooldown, settings.retest_cooldown)
        case _:
            return settings.retest_cooldown


def report(store: Store, settings: Settings, retest_id: str, *, operator: bool = False) -> Report | None:
    """How far a request has come, and what changed when it is done; None for an unknown one.

    What is private is compared for the operator only: for everybody else receipts are in their public form, and there
    is nothing to compare of a server of which nothing may be published.
    """
    retest = store.retests.find(retest_id)
    if retest is None:
        return None
    at = ready_at(settings, retest)
    if retest.state is not RetestState.DONE or not (operator or _is_public(store, retest)):
        return Report(retest=retest, ready_at=at)
    before, after = cards_of(store, retest, retest.before), cards_of(store, retest, retest.run)
    if not operator:
        before, after = [public_form(card) for card in before], [public_form(card) for card in after]
    return Report(retest=retest, ready_at=at, comparisons=compare(before, after))


def cards_of(store: Store, retest: Retest, run: str | None) -> list[Scorecard]:
    """The receipts that the server of a re-test has in a run, for the operator; none without a run."""
    stored = store.scorecards(run, servers=[retest.server]) if run else []
    return [receipt.decode(card.body) for card in stored]


def newest_run(store: Store, server: ServerId, published: str) -> str:
    """The run with the newest receipts of a server: the published one, or its last re-test and what followed on it."""
    for retest in store.retests.newest(20, server):
        if retest.state is RetestState.DONE and retest.run:
            return max(retest.run, published, store.full_probes.newest(server) or "")
    return published


def _is_public(store: Store, retest: Retest) -> bool:
    runs = [run for run in (retest.before, retest.run) if run]
    return all(isinstance(disclose(store.dossiers(run, [retest.server])[0]), Shown) for run in runs)


def _is_listed(store: Store, server: ServerId) -> bool:
    return any(ref.status is not Status.DELETED for ref in store.refs([server]).get(server, ()))
