"""Requests for re-tests from the command line, the API and the site. Only rows are written; no server is contacted.

    answer = request_retest(store, settings, now, server_id, identify_asker(settings, "203.0.113.9"))
    match answer:
        case RetestAccepted(retest=retest, ready_at=ready_at): ...  # the open request of this server, new or not
        case RetestRefused(why=why, message=message): ...
    report_retest(store, settings, retest.id)  # to poll: the state, and the changes once it is done

The execution of requests is in `workers.retests.execution`.
"""

from __future__ import annotations

import hmac
import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from evidence.model import ServerId, Status
from evidence.store import ClientLimit, Retest, RetestState, Store
from publish.disclosure import PublicRecords, disclose_dossier, redact_receipt
from publish.views.comparisons.receipts import compare_receipts
from publish.web.backend import Requester, RequesterRole, RetestAccepted, RetestProgress, RetestRefusal, RetestRefused
from scoring import receipt
from scoring.results.scorecard import Scorecard
from workers.opt_outs import load_opt_outs
from workers.settings.environment import Settings
from workers.settings.salt import read_secret_salt

__all__ = [
    "Requester",
    "RequesterRole",
    "RetestAccepted",
    "RetestProgress",
    "RetestRefusal",
    "RetestRefused",
    "find_newest_run",
    "find_retest_start",
    "identify_asker",
    "read_cooldown",
    "read_retest_receipts",
    "report_retest",
    "request_retest",
]

DAY: Final = timedelta(days=1)


def identify_asker(settings: Settings, requester: str, role: RequesterRole = RequesterRole.ANYONE) -> Requester:
    """A pseudonym of the requester, a salted digest of an address, login name or token id, which itself is not kept."""
    salt = read_secret_salt(settings.home, settings.secret_salt.reveal())
    return Requester(hmac.digest(salt, requester.encode("utf-8", "replace"), sha256).hex()[:32], role)


def request_retest(
    store: Store, settings: Settings, now: datetime, server: ServerId, requester: Requester
) -> RetestAccepted | RetestRefused:
    """Request a re-test. A server has one open request: a second client gets the same one.

    Refused for servers that no registry lists, for servers that opted out, and after too many requests of the client
    within 24 hours.
    """
    if not _is_listed(store, server):
        return RetestRefused(
            why=RetestRefusal.UNKNOWN_SERVER,
            message=f"no registry lists a server {server}: only listed servers are measured",
        )
    if (known := store.find_server(server)) and (why := load_opt_outs(settings, store).why(known)):
        return RetestRefused(why=RetestRefusal.OPTED_OUT, message=f"{known.ref} is not measured: {why.detail}")
    request = Retest(
        id=f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(6)}", server=server, client=requester.client, asked_at=now
    )
    limit = (
        None if requester.standing is RequesterRole.OPERATOR else ClientLimit(settings.retests_per_client, now - DAY)
    )
    stored = store.retests.request_retest(request, limit)
    if stored is None:
        return RetestRefused(
            why=RetestRefusal.TOO_MANY,
            message=f"at most {settings.retests_per_client} re-tests in 24 hours for one client: try again later",
        )
    if read_cooldown(settings, request) < read_cooldown(settings, stored) and store.retests.reassign_request(
        stored.id, request.client
    ):
        stored = replace(stored, client=request.client)
    return RetestAccepted(retest=stored, ready_at=find_retest_start(settings, stored), again=stored.id != request.id)


def find_retest_start(settings: Settings, retest: Retest) -> datetime:
    """When a request may begin, or began: after the cool-down since the last re-test of its server."""
    if retest.admitted_at is not None or retest.previous_admitted_at is None:
        return retest.admitted_at or retest.asked_at
    return max(retest.asked_at, retest.previous_admitted_at + read_cooldown(settings, retest))


def read_cooldown(settings: Settings, retest: Retest) -> timedelta:
    """The minimum time between two re-tests of a server, for the client of this one."""
    match retest.client.partition(":")[0]:
        case RequesterRole.OPERATOR.value:
            return timedelta(0)
        case RequesterRole.OWNER.value:
            return min(settings.retest_owner_cooldown, settings.retest_cooldown)
        case _:
            return settings.retest_cooldown


def report_retest(store: Store, settings: Settings, retest_id: str, *, operator: bool = False) -> RetestProgress | None:
    """The progress of a re-test, with score changes when it is done; None for an unknown id.

    Private parts are compared for the operator only. For others receipts are in their public form, and a server that
    must not be published has no comparison.
    """
    retest = store.retests.find_retest(retest_id)
    if retest is None:
        return None
    at = find_retest_start(settings, retest)
    if retest.state is not RetestState.DONE or not (operator or _is_public(store, retest)):
        return RetestProgress(retest=retest, ready_at=at)
    before, after = read_retest_receipts(store, retest, retest.before), read_retest_receipts(store, retest, retest.run)
    if not operator:
        before, after = [redact_receipt(card) for card in before], [redact_receipt(card) for card in after]
    return RetestProgress(retest=retest, ready_at=at, comparisons=compare_receipts(before, after))


def read_retest_receipts(store: Store, retest: Retest, run: str | None) -> list[Scorecard]:
    """The full receipts of a re-test's server in a run; none without a run."""
    stored = store.read_scorecards(run, servers=[retest.server]) if run else []
    return [receipt.decode_scorecard(card.body) for card in stored]


def find_newest_run(store: Store, server: ServerId, published: str) -> str:
    """The run with the newest receipts of a server: the published run, its last re-test or the full probe after it."""
    for retest in store.retests.list_retests(20, server):
        if retest.state is RetestState.DONE and retest.run:
            return max(retest.run, published, store.full_probes.find_newest_full_probe(server) or "")
    return published


def _is_public(store: Store, retest: Retest) -> bool:
    runs = [run for run in (retest.before, retest.run) if run]
    return all(
        isinstance(disclose_dossier(store.read_dossiers(run, [retest.server])[0]), PublicRecords) for run in runs
    )


def _is_listed(store: Store, server: ServerId) -> bool:
    return any(ref.status is not Status.DELETED for ref in store.find_refs([server]).get(server, ()))
