"""The real site behind the shared cache of a deployment: what changes shows with the next request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from msgspec.structs import replace
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evidence.model import Dossier, Trigger
from evidence.store import (
    Disclosure,
    FindingState,
    OptOut,
    OptOutScope,
    Retest,
    RetestState,
    RunState,
    Store,
    open_store,
)
from publish.community.disputes import DisputeFiler, DisputeText, FiledDispute, file_dispute
from publish.community.limits import CommunityLimits
from publish.findings.identity import find_private_findings
from tests.publish import samples
from tests.publish.site.listing_stores import judged, night, put
from tests.publish.site.test_server_findings import RULE, poisoned
from tests.servers.loopback_app import on_loopback
from tests.servers.nginx import REQUIRED, cache_before, nginx
from workers.publication import listing_index
from workers.settings.environment import Settings, read_settings
from workers.web.app import create_app

NIGHT = night(0)
LATER = NIGHT.as_of + timedelta(hours=1)


@dataclass
class Behind:
    """A client of the cache, the store behind it, and how often the site answered an address with a status."""

    client: httpx.Client
    store: Store
    settings: Settings
    plain: Dossier
    found: Dossier
    answered: Counter[tuple[str, int]] = field(default_factory=Counter)
    is_away: bool = False

    def counting(self, app: ASGIApp) -> ASGIApp:
        """The site, which counts its answers."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            async def heard(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self.answered[scope["path"], message["status"]] += 1
                await send(message)

            if self.is_away:
                await Response(status_code=503)(scope, receive, send)
                return
            await app(scope, receive, heard if scope["type"] == "http" else send)

        return counted

    def known(self, path: str) -> str:
        """The page after the cache has got it and revalidated it once: the site rendered it once at most."""
        before = self.answered[path, 200]
        first, second = self.client.get(path), self.client.get(path)
        assert (first.status_code, second.status_code, first.text) == (200, 200, second.text)
        assert self.answered[path, 200] <= before + 1
        assert self.answered[path, 304] >= 1
        return second.text


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    if nginx() is None:
        why = "no nginx is installed: `make test` installs it where it may, or apt-get install nginx"
        pytest.fail(why) if REQUIRED else pytest.skip(why)
    folder = tmp_path_factory.mktemp("behind")
    folder.chmod(0o755)
    store = open_store(f"sqlite:///{folder}/hallmark.db")
    store.migrate()
    plain, found = samples.dossiers(1)[0], poisoned()
    put(store, NIGHT, [plain, found], [card for one in (plain, found) for card in judged(one)])
    store.put_findings(find_private_findings(found, judged(found)), NIGHT.as_of)
    settings = read_settings(home=folder, web_rate=0)
    behind = Behind(httpx.Client(), store, settings, plain, found)
    with (
        on_loopback(lambda at: behind.counting(create_app(replace(settings, web_url=at)))) as site,
        cache_before(urlsplit(site).port or 0, folder) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as behind.client,
    ):
        yield behind
    store.close()


def test_pages_come_from_the_cache_and_are_revalidated_before_every_use(behind: Behind) -> None:
    for path in ("/", "/servers", f"/servers/{behind.plain.server.id}", "/api/v1/servers"):
        behind.known(path)
        rendered = behind.answered[path, 200]
        for coding in ("gzip", "gzip, deflate, br", "gzip;q=1.0, identity"):
            behind.client.get(path, headers={"accept-encoding": coding})
        # One stored page for each coding, however clients spell what they accept.
        assert behind.answered[path, 200] <= rendered + 2, path
    tag = behind.client.get("/").headers["etag"]
    assert behind.client.get("/", headers={"if-none-match": tag}).status_code == 304


def test_an_asset_is_asked_for_once(behind: Behind) -> None:
    page = behind.client.get("/about").text
    asset = next(part for part in page.split('"') if part.startswith("/static/") and part.endswith(".css"))
    behind.answered.clear()
    assert [behind.client.get(asset).status_code for _ in range(3)] == [200] * 3
    assert sum(behind.answered[asset, status] for status in (200, 304)) == 1


def test_nothing_is_shown_while_the_site_is_away(behind: Behind) -> None:
    behind.known("/about")
    behind.is_away = True
    try:
        assert behind.client.get("/about").status_code == 503
    finally:
        behind.is_away = False
    behind.known("/about")


def test_an_opt_out_shows_with_the_next_request_and_so_does_its_end(behind: Behind) -> None:
    server = behind.plain.server
    here, api = f"/servers/{server.id}", f"/api/v1/servers/{server.id}"
    assert server.id in behind.known("/servers")
    pages = {path: behind.known(path) for path in (here, api, f"{here}/history")}
    opt_out = OptOut(scope=OptOutScope.SERVER, value=server.id, at=LATER, who="its owner", note="")
    behind.store.opt_outs.add_opt_out(opt_out)
    for path in pages:
        assert behind.client.get(path).status_code == 404, path
    assert server.id not in behind.client.get("/servers").text
    assert behind.client.get(f"/badges/{server.id}/score.svg").text.count("unknown server") >= 1
    behind.store.opt_outs.revoke_opt_out(OptOutScope.SERVER, server.id, at=LATER, who="its owner")
    listing_index.hide_opted_out(behind.settings, behind.store)  # as `hallmark opt-out remove` does
    assert {path: behind.client.get(path).text for path in pages} == pages


def test_a_disclosure_and_its_end_show_with_the_next_request(behind: Behind) -> None:
    here = f"/servers/{behind.found.server.id}"
    assert "Disclosed findings" not in behind.known(here)
    findings = [one.id for one in find_private_findings(behind.found, judged(behind.found)) if one.rule == RULE]
    private, public = FindingState.PRIVATE_TRIAGE, FindingState.PUBLIC_DISCLOSED
    for finding in findings:
        behind.store.transition_finding(finding, Disclosure(at=LATER, who="ana", before=private, after=public))
    assert "Disclosed findings" in behind.client.get(here).text
    behind.known(here)
    for finding in findings:
        behind.store.transition_finding(finding, Disclosure(at=LATER, who="ana", before=public, after=private))
    assert "Disclosed findings" not in behind.client.get(here).text


def test_a_dispute_shows_with_the_next_request(behind: Behind) -> None:
    server = behind.plain.server.id
    pages = (f"/servers/{server}", f"/servers/{server}/disputes")
    for path in pages:
        assert "isputed line" not in behind.known(path)
    line = next(
        line for card in judged(behind.plain) if card.rubric == "lint" for line in card.lines if line.points < 0
    )
    words = DisputeText(server=server, rubric="lint", cites=line.cites, at=line.at, reason="It is not so. " * 5)
    filed = file_dispute(behind.store, CommunityLimits(), LATER, words, DisputeFiler(client="anyone:x"))
    assert isinstance(filed, FiledDispute)
    assert "1 disputed line" in behind.client.get(pages[0]).text
    assert filed.dispute.id in behind.client.get(pages[1]).text


def test_a_retest_shows_with_the_next_request(behind: Behind) -> None:
    server = behind.plain.server.id
    here, again = f"/servers/{server}", replace(night(1), trigger=Trigger.RETEST)
    assert "Re-tested on" not in behind.known(here)
    behind.store.retests.request_retest(Retest(id="r1", server=server, client="anyone:x", asked_at=LATER))
    put(behind.store, again, [behind.plain], judged(behind.plain), RunState.DONE)
    behind.store.retests.admit_retest("r1", again.id, again.as_of)
    behind.known(here)
    behind.store.retests.finish_retest("r1", RetestState.DONE, again.as_of)
    assert "Re-tested on" in behind.client.get(here).text


def test_what_is_private_and_what_a_token_asks_for_is_never_kept(behind: Behind) -> None:
    path = f"/servers/{behind.plain.server.id}/disputes/new"
    for _ in range(2):
        behind.client.get(path)
    status = next(status for asked, status in behind.answered if asked == path)
    assert behind.answered[path, status] == 2
    behind.known("/about")
    rendered = behind.answered["/about", 200]
    for _ in range(2):
        assert behind.client.get("/about", headers={"authorization": "Bearer x"}).status_code == 200
    assert behind.answered["/about", 200] == rendered + 2
