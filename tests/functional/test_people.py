"""Beat and a worker serve the requests of maintainers: they search for a proof and send a changed score once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Dossier, Reason, Server
from evidence.store import Store
from evidence.store.community.claim_values import ClaimState, ProofMethod
from evidence.store.community.webhook_values import Webhook
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community import claims
from publish.community.claims import ClaimWithToken
from publish.community.webhooks import derive_secret, verify_message
from tests.functional.cluster import Cluster, running_cluster
from tests.functional.processes import opened, until
from tests.publish import samples
from tests.publish.api.api_stores import EARLIER, RUN
from tests.publish.filled_stores import fill
from tests.servers.grounds import Website, website
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import ValkeyServer
from workers.community import client_limits
from workers.settings.environment import read_settings

pytestmark = pytest.mark.xdist_group("functional-people")

NOW = datetime(2026, 11, 21, 11, 30, tzinfo=UTC)  # half an hour before the clock of the deployment
SALT = "of this test"


@pytest.fixture
def site() -> Iterator[Website]:
    with website() as running:
        yield running


@pytest.fixture
def people_only(tmp_path: Path, postgres: PostgresServer, valkey: ValkeyServer, site: Website) -> Iterator[Cluster]:
    """A deployment that plans no night: its beat looks after people."""
    with running_cluster(tmp_path, postgres, valkey, site.url) as cluster:
        cluster.environment |= {"HALLMARK_PLAN_EVERY": "3600", "HALLMARK_SWEEP_EVERY": "3600"}
        cluster.environment |= {"HALLMARK_PEOPLE_EVERY": "1", "HALLMARK_SECRET_SALT": SALT}
        yield cluster


def two_nights(store: Store, mine: str) -> Server:
    """Two published nights, of which some servers said something else in the first; the server at `mine`."""
    now = [*samples.dossiers(9), samples.absent_dossier(Reason.UNREACHABLE, ref=mine)]
    fill(store, [_saying(one, other) for one, other in zip(now, now[1:] + now[:1], strict=True)], EARLIER)
    fill(store, now)
    store.listing.write_listing(RUN.id, [], lambda: b"{}")
    return now[-1].server


def _saying(one: Dossier, other: Dossier) -> Dossier:
    said = replace(other.records[listing.KIND], server=one.server.id)
    return replace(one, as_of=EARLIER.as_of, records={**one.records, listing.KIND: said})


def moved(store: Store) -> str:
    """A server whose score differs between the two nights."""
    before, after = (
        {(card.server, card.rubric): card.score for card in store.read_scorecards(run.id)} for run in (EARLIER, RUN)
    )
    return next(one for one, rubric in after if rubric == "lint" and before[one, rubric] != after[one, rubric])


def hooked(store: Store, name: str, site: Website) -> Webhook:
    """A new webhook of a server whose score differs between the two nights."""
    made = Webhook(id=name, server=moved(store), url=f"{site.url}/hook", token="t", made_at=NOW, run=EARLIER.id)
    assert store.webhooks.put_webhook(
        made, 9, AuditEntry(at=NOW, who="its owner", what="webhook.register", subject=name)
    )
    return made


def test_a_deployment_finds_proofs_and_sends_changes(people_only: Cluster, site: Website) -> None:
    settings = read_settings(home=Path(people_only.environment["HALLMARK_HOME"]), secret_salt=SALT, allow_private=True)
    with opened(people_only.url) as store:
        store.migrate()
        server = two_nights(store, f"{site.url}/mcp")
        limits = client_limits.read_community_limits(settings)
        claimed = claims.start_claim(store, limits, NOW, server, way=ProofMethod.WELL_KNOWN, client="ann")
        assert isinstance(claimed, ClaimWithToken)
        site.pages[claims.WELL_KNOWN] = (200, f"{claimed.claim.challenge}\n".encode())
        hook = hooked(store, "whk_1", site)
        people_only.start_worker()
        people_only.start_beat()

        def is_proven() -> bool:
            claim = store.claims.find_claim(claimed.claim.id)
            return claim is not None and claim.state is ClaimState.PROVEN

        until(is_proven, "the proof found", explain=people_only.log)
        until(lambda: bool(site.received), "the change sent", explain=people_only.log)
        asked = site.asked.count(claims.WELL_KNOWN)
        hooked(store, "whk_2", site)  # gets its message in a later turn than the first webhook
        until(lambda: len(site.received) > 1, "the second one sent", explain=people_only.log)
        assert len(store.webhooks.list_deliveries(hook.id)) == 1
        assert len(site.received) == 2
        assert site.asked.count(claims.WELL_KNOWN) == asked, "what was found just now is not looked for again"
        headers, body = site.received[0]
        (sent,) = store.webhooks.list_deliveries(hook.id)
        key = derive_secret(lambda purpose: client_limits.derive_key(settings, purpose), hook.id)
        assert (
            verify_message(key, headers, body, datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC))
            == sent.id
        )
