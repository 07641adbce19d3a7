"""A page that was made ahead is answered only where a page made now would be the same, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from evidence.model import Dossier, Run, ServerId, Trigger
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
from evidence.store.claim_rows import Claim, ClaimLimits, ClaimState, Way
from evidence.store.tokens import ApiToken
from publish.findings import spotted
from publish.people.disputing import Filed, Filer, Words, dispute
from publish.people.limits import PeopleLimits
from publish.posting import post
from publish.site import preparing
from publish.site.app import create_app
from publish.site.desk import Limits, Operator
from scoring.scorecard import Scorecard
from tests.dossiers import captures, recorded
from tests.publish import samples
from tests.publish.projects import with_project
from tests.publish.shelf import fill
from tests.publish.site.boards import judged, night, put
from tests.publish.site.desks import NOW, PlainDesk
from tests.publish.site.prepared import Prepared, visiting
from tests.publish.test_findings import INJECTION, server

MakeStore = Callable[..., Store]
MARKER = "zzmarkerzz"
OTHERS = 9
ALL = OTHERS + 1
FIRST, SECOND, AGAIN, THIRD = night(0), night(1), replace(night(2), trigger=Trigger.RETEST), night(3)
RULE = "text-injects-instructions"


class Desk(PlainDesk):
    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


def poisoned() -> Dossier:
    return with_project(server(INJECTION, "Gets it"), private=MARKER)


@cache
def others() -> list[Dossier]:
    return samples.dossiers(OTHERS)


@cache
def cards_of_others() -> list[Scorecard]:
    return [card for dossier in others() for card in judged(dossier)]


@dataclass
class House:
    """A site whose pages were made ahead, a visitor of it, and one of a site that keeps nothing: neither pages made
    ahead nor copies."""

    store: Store
    desk: Desk
    ahead: Prepared
    visitor: TestClient
    other: TestClient

    @property
    def server(self) -> ServerId:
        return poisoned().server.id

    def same(self, server: ServerId) -> bytes:
        """The page of a server as both sites answer it."""
        self.desk.seconds += 1
        answers = [client.get(f"/servers/{server}") for client in (self.visitor, self.other)]
        one, other = [(answer.status_code, answer.headers, answer.content) for answer in answers]
        assert one == other
        return answers[0].content


@pytest.fixture(scope="module")
def published(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two published nights, and a private finding of the second one."""
    path = Path(shutil.copy(sqlite_template, tmp_path_factory.mktemp("published")))
    store = open_store(f"sqlite:///{path}")
    fill(store, [], replace(samples.RUN, id="run_20260201T030000Z_0000"))
    found = poisoned()
    plain = server("Gets it")
    put(store, FIRST, [plain, *others()], [*judged(plain), *cards_of_others()])
    cards = judged(found)
    store.put_findings(spotted(found, cards), SECOND.as_of)
    put(store, SECOND, [found, *others()], [*cards, *cards_of_others()])
    store.close()
    return path


@pytest.fixture
def store(published: Path, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{shutil.copy(published, tmp_path)}")
    yield opened
    opened.close()


@pytest.fixture
def house(store: Store, tmp_path: Path):  # type: ignore[no-untyped-def]
    desk = Desk()
    ahead = Prepared.over(store, desk, tmp_path / "pages")
    made = ahead.make()
    assert (made.made, made.left_out, made.later) == (ALL, 0, 0)
    kept, desk.limits = desk.limits, Limits(rate=0, cache=0)
    with visiting(lambda: create_app(store, desk)) as other:
        desk.limits = kept
        with ahead.client() as visitor:
            yield House(store, desk, ahead, visitor, other)
    ahead.pages.close()


def test_every_recorded_server_has_the_same_page_ahead_and_when_it_is_asked_for(
    make_store: MakeStore, tmp_path: Path
) -> None:
    store, desk = make_store([], run=replace(samples.RUN, id="run_20260201T030000Z_0000")), Desk()
    found = {dossier.server.id: dossier for dossier in (*captures().values(), *recorded().values(), *others())}
    hostile = samples.hostile_dossier()
    everybody = [*found.values(), hostile]
    cards = [card for dossier in found.values() for card in judged(dossier)] + samples.cards(hostile)
    put(store, FIRST, everybody, cards)
    ahead = Prepared.over(store, desk, tmp_path / "pages")
    assert ahead.make().made == len(everybody)
    with ahead.client() as visitor, visiting(lambda: create_app(store, desk)) as other:
        for dossier in everybody:
            for coding in ("identity", "gzip", "zstd"):
                asked = {"headers": {"accept-encoding": coding}}
                one, two = (client.get(f"/servers/{dossier.server.id}", **asked) for client in (visitor, other))
                assert (one.status_code, one.content, one.headers) == (200, two.content, two.headers)
    assert ahead.found == [True] * len(everybody)
    ahead.pages.close()


def test_pages_past_the_gate_come_first(house: House) -> None:
    first = [one for one, _ in house.store.board.indexed()]
    assert preparing.order(house.ahead.site)[: len(first)] == first
    assert len(preparing.order(house.ahead.site)) == ALL


def test_what_is_private_is_nowhere_in_the_files(house: House) -> None:
    found = poisoned()
    told = {one.rule for one in spotted(found, judged(found))}
    assert RULE in told
    bodies = house.ahead.bodies()
    assert house.server in bodies
    assert not [one for one, body in bodies.items() if MARKER.encode() in body or RULE.encode() in body]
    files = [path.read_bytes() for path in house.ahead.pages.folder.iterdir()]
    assert not [1 for body in files if MARKER.encode() in body or RULE.encode() in body]


# What happens to a server


def disputes(house: House) -> None:
    line = next(
        line
        for card in judged(poisoned())
        if (card.rubric, card.version) == ("lint", 2)
        for line in card.lines
        if line.rule and line.points < 0
    )
    words = Words(server=house.server, rubric="lint", cites=line.cites, at=line.at, reason="It is not so. " * 5)
    assert isinstance(dispute(house.store, PeopleLimits(), NOW, words, Filer(client="anyone:x")), Filed)


def discloses(house: House) -> None:
    _moves(house, FindingState.PRIVATE_TRIAGE, FindingState.PUBLIC_DISCLOSED)


def dismisses(house: House) -> None:
    _moves(house, FindingState.PRIVATE_TRIAGE, FindingState.DISMISSED)


def _moves(house: House, before: FindingState, after: FindingState) -> None:
    found = [one.finding.id for one in house.store.findings() if one.finding.rule == RULE]
    assert found
    for finding in found:
        house.store.move_finding(finding, Disclosure(at=SECOND.as_of, who="ana", before=before, after=after))


def claims(house: House) -> None:
    made = Claim(
        id="clm_1", server=house.server, way=Way.DNS, place="x", challenge="c", client="c", asked_at=NOW, due_at=NOW
    )
    token = ApiToken(id="0123456789ab", name="ci", salt=b"s", digest=b"d", scopes=(), made_at=NOW)
    limits = ClaimLimits(of_client=9, since=FIRST.as_of, of_server=9, stale=FIRST.as_of)
    assert house.store.claims.start(made, token, limits)
    house.same(house.server)  # both sites have a copy of the page before it is proven
    assert house.store.claims.settle(replace(made, state=ClaimState.PROVEN, seen_at=NOW))


def retests(house: House) -> None:
    house.store.retests.ask(Retest(id="r1", server=house.server, client="anyone:x", asked_at=SECOND.as_of))
    house.same(house.server)
    put(house.store, AGAIN, [poisoned()], judged(server("Gets it")), RunState.PLANNED)
    house.store.retests.admit("r1", AGAIN.id, AGAIN.as_of)
    house.same(house.server)
    house.store.set_state(AGAIN.id, RunState.DONE, AGAIN.as_of)
    house.store.retests.finish("r1", RetestState.DONE, AGAIN.as_of)


def probes(house: House) -> None:
    retests(house)
    house.same(house.server)
    run = replace(night(2), id=f"{AGAIN.id}-full", trigger=Trigger.RETEST)
    put(house.store, run, [poisoned()], judged(poisoned()), RunState.PLANNED)
    house.store.full_probes.follow("r1", run.id)
    house.same(house.server)
    house.store.set_state(run.id, RunState.DONE, run.as_of)


def opts_out(house: House) -> None:
    house.store.opt_outs.add(OptOut(scope=OptOutScope.SERVER, value=house.server, at=NOW, who="owner", note=""))
    house.desk.hidden = {house.server}


def opts_out_in_the_file(house: House) -> None:
    house.desk.hidden, house.desk.settings = {house.server}, "another file"
    house.store.board.hide([house.server])


def publishes(house: House) -> None:
    put(house.store, THIRD, [server("Gets it", "Gets it"), *others()], judged(server("Gets it", "Gets it")))


def publishes_something_older(house: House) -> None:
    """A night that was scored again is in histories; another one is shown."""
    older = replace(night(0), id=f"{FIRST.id}-again", pins={"ruleset": "0"})
    put(house.store, older, [poisoned()], judged(poisoned()), RunState.PLANNED)
    house.store.publish(older.id, b"{}", older.as_of)


def posts_it_again(house: House) -> None:
    post(house.store, SECOND)


CHANGES = [
    disputes, discloses, dismisses, claims, retests, probes, opts_out, opts_out_in_the_file, publishes,
    publishes_something_older,
]  # fmt: skip


@pytest.mark.parametrize("happen", CHANGES)
def test_whatever_happens_to_a_server_shows_as_without_pages_made_ahead(
    house: House, happen: Callable[[House], None]
) -> None:
    before = house.same(house.server)
    assert house.ahead.found == [True]
    happen(house)
    after = house.same(house.server)
    assert after != before
    assert house.ahead.found[-1] is (happen is opts_out)  # it is there, and not answered
    house.ahead.make()
    assert house.same(house.server) == after
    for dossier in others()[:4]:
        house.same(dossier.server.id)


def test_a_claim_that_lapses_shows_on_copies_too(house: House) -> None:
    first = house.same(house.server)
    claims(house)
    proven = house.same(house.server)
    (claim,) = house.store.claims.read()
    assert house.store.claims.settle(replace(claim, state=ClaimState.LAPSED))
    assert house.same(house.server) == first != proven


def test_a_night_that_gives_up_its_records_has_other_pages(house: House) -> None:
    one = others()[0]
    before = house.same(one.server.id)
    put(house.store, night(4), [one], [], RunState.PLANNED)
    assert house.same(one.server.id) == before
    assert house.store.compacting.thin(SECOND.id, NOW, limit=99)[0] == 1
    assert house.same(one.server.id) != before
    assert house.ahead.found == [True, False]
    house.ahead.make()
    house.desk.settings = "renewed"
    house.same(one.server.id)


def test_who_opted_out_a_moment_ago_is_asked_for_each_time(house: House) -> None:
    """The file of opt-outs may be newer than what was asked about all pages."""
    house.same(others()[0].server.id)
    house.desk.hidden = {house.server}
    assert house.visitor.get(f"/servers/{house.server}").status_code == 404
    assert house.ahead.found == [True, True]


def test_pages_made_ahead_outlive_their_day(house: House) -> None:
    """Badges say how old they are, pages of servers do not."""
    before = house.same(house.server)
    house.desk.at = NOW + timedelta(days=40)
    assert house.same(house.server) == before
    assert house.ahead.found == [True, True]


def test_what_is_posted_again_ends_pages_made_ahead_too(house: House) -> None:
    before = house.same(house.server)
    posts_it_again(house)
    assert house.same(house.server) == before
    assert house.ahead.found == [True, False]
    assert house.ahead.make().made == ALL
    house.desk.settings = "renewed"
    assert house.same(house.server) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda desk: setattr(desk, "operator", Operator(contact_url="https://other.example", user_agent="x")),
        lambda desk: setattr(desk, "settings", "another file"),
        lambda desk: setattr(desk, "base_url", "https://elsewhere.example"),
    ],
)
def test_every_setting_that_pages_depend_on_is_in_the_stamp(house: House, change: Callable[[Desk], None]) -> None:
    """Some of them need another process, which has read nothing yet."""
    change(house.desk)
    folder = house.ahead.pages.folder
    other = Prepared.over(house.store, house.desk, folder)
    assert other.stamp != house.ahead.site.ahead.known.stamp  # type: ignore[union-attr]
    with other.client() as visitor, visiting(lambda: create_app(house.store, house.desk)) as fresh:
        here = f"/servers/{house.server}"
        assert visitor.get(here).content == fresh.get(here).content
        assert other.found == [False]


def test_other_servers_keep_their_pages(house: House) -> None:
    discloses(house)
    for dossier in others()[:4]:
        house.same(dossier.server.id)
    assert house.ahead.found == [True] * 4


def test_a_run_that_is_asked_for_is_not_the_page_made_ahead(house: House) -> None:
    asked = f"/servers/{house.server}?run={SECOND.id}"
    assert house.visitor.get(asked).content == house.other.get(asked).content
    assert house.ahead.found == []


def test_nothing_is_answered_that_was_not_asked_about_in_time(house: House) -> None:
    """Requests with a token pass by the copies, and so by whoever asks whether anything happened."""
    token = {"authorization": "Bearer x"}
    house.same(house.server)
    disputes(house)
    house.desk.seconds += 1
    first = house.visitor.get(f"/servers/{house.server}", headers=token)
    assert first.content == house.other.get(f"/servers/{house.server}", headers=token).content
    assert house.ahead.found == [True, False]


def test_a_form_that_was_sent_here_shows_at_once(house: House) -> None:
    house.same(house.server)
    disputes(house)
    house.visitor.post("/servers/nobody/disputes")  # whatever it says, something may have been written
    for headers in ({"authorization": "Bearer x"}, {}):  # the first one passes by those who would ask again
        assert b"Disputed" in house.visitor.get(f"/servers/{house.server}", headers=headers).content


def test_without_the_database_nothing_is_trusted(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from evidence.store import StoreUnavailable

    def away() -> str:
        raise StoreUnavailable("away")

    house.same(house.server)
    monkeypatch.setattr(house.store.board, "revision", away)
    house.desk.seconds += 1
    asked = others()[0].server.id
    assert house.visitor.get(f"/servers/{asked}").status_code == 200
    assert house.ahead.found == [True, False]


# What happens while pages are made


def test_a_page_during_which_something_happened_is_made_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    ahead = Prepared.over(store, desk, tmp_path / "pages")
    house = House(store, desk, ahead, None, None)  # type: ignore[arg-type]
    whole, asked = preparing.whole, list[str]()

    def interrupted(site: object, one: ServerId) -> object:
        asked.append(one)
        answer = whole(site, one)  # type: ignore[arg-type]
        if asked.count(house.server) == 1 and one == house.server:
            disputes(house)
        return answer

    monkeypatch.setattr(preparing, "whole", interrupted)
    made = ahead.make()
    assert (made.made, made.left_out) == (OTHERS, 1)
    assert asked.count(house.server) == 1
    assert max(map(asked.count, asked)) == 2
    assert house.server not in ahead.bodies()
    ahead.pages.close()


def test_what_is_published_meanwhile_ends_it(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    ahead = Prepared.over(store, desk, tmp_path / "pages")
    house = House(store, desk, ahead, None, None)  # type: ignore[arg-type]
    stamp, whole, done = ahead.stamp, preparing.whole, list[int]()

    def interrupted(site: object, one: ServerId) -> object:
        answer = whole(site, one)  # type: ignore[arg-type]
        if not done:
            done.append(1)
            publishes(house)
        return answer

    monkeypatch.setattr(preparing, "whole", interrupted)
    assert ahead.make().over
    file = ahead.pages.writing(stamp)
    assert len(file.missing([one.server.id for one in others()])) == OTHERS
    file.close()
    ahead.pages.close()


def test_where_something_happens_all_the_time_pages_are_left_for_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.ahead.pages.drop(house.ahead.stamp)
    numbers = iter(range(1_000))
    monkeypatch.setattr(preparing, "ask", lambda _: f"{next(numbers)}")
    made = house.ahead.make()
    assert (made.made, made.later) == (0, ALL)


def test_a_page_at_which_our_code_fails_is_refused_and_fails_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.ahead.pages.drop(house.ahead.stamp)
    whole = preparing.whole

    def failing(site: object, one: ServerId) -> object:
        if one == house.server:
            raise ZeroDivisionError
        return whole(site, one)  # type: ignore[arg-type]

    monkeypatch.setattr(preparing, "whole", failing)
    with pytest.raises(ZeroDivisionError):
        house.ahead.make()
    made = house.ahead.make()
    assert (made.made + made.there, made.left_out) == (ALL, 0)
    house.desk.seconds += 2
    assert len(house.ahead.bodies()) == OTHERS


def test_it_stops_where_there_is_no_room(house: House, tmp_path: Path) -> None:
    small = Prepared.over(house.store, house.desk, tmp_path / "small", most=60_000)
    made = small.make()
    assert made.full
    assert made.made < ALL
    assert house.desk.limits  # the site answers all the same
    with small.client() as visitor:
        assert visitor.get(f"/servers/{house.server}").status_code == 200
    small.pages.close()


def test_what_was_made_before_is_not_made_again(house: House) -> None:
    made = house.ahead.make()
    assert (made.made, made.there) == (0, ALL)
    assert made.seen == ALL


def test_a_night_as_long_ago_as_the_last_one_has_a_stamp_of_its_own(house: House) -> None:
    stamps = {house.ahead.stamp}
    again: Run = replace(THIRD, as_of=SECOND.as_of)
    put(house.store, again, [poisoned()], judged(poisoned()))
    stamps.add(house.ahead.stamp)
    assert len(stamps) == 2
