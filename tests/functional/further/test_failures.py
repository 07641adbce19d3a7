"""What fails on our side between two nights moves no score; what fails in the world is recorded as what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import pytest

from evidence.kinds import advisories, package, repository, secrets, source
from evidence.model import Reason
from tests.functional.further import in_process_nights
from tests.functional.further.first_night import Before, assert_nothing_moved, assert_same_scores
from tests.functional.further.mixed_world import (
    KEPT,
    NPM_DOCUMENT,
    NPM_FILE,
    OURS,
    Town,
)
from tests.functional.further.nights import Home
from tests.servers.github.world import Answer, Fault, Quota, broken, secondary, too_many
from tests.servers.indexes import Answer as IndexAnswer
from tests.servers.osv.world import Answer as OsvAnswer

pytestmark = pytest.mark.xdist_group("functional-further")

OFTEN = 10**6
BATCH, EXPORT = "/v1/querybatch", "/npm/all.zip"


def _github(answer: Callable[[], Answer]) -> Callable[[Town], None]:
    return lambda around: around.github.world.faults.append(Fault("", answer, OFTEN))


def _spent(around: Town) -> None:
    world = around.github.world
    for who in (OURS, None):
        for resource in ("core", "graphql"):
            world.quotas[who, resource] = Quota(5000, 0, world.clock() + 3600)


def _revoked(around: Town) -> None:
    around.github.world.refused.add(OURS)


def _revoked_and_spent(around: Town) -> None:
    _spent(around)
    _revoked(around)


def _some(names: Iterable[str], *, of: AbstractSet[str]) -> list[Any]:
    """All names, of which `of` are tried in every test run and the others when there is time."""
    return [pytest.param(name, marks=() if name in of else pytest.mark.soak) for name in names]


GITHUB = {
    "down": (_github(broken), Reason.UNREACHABLE),
    "secondary limit": (_github(lambda: secondary(3600)), Reason.RATE_LIMITED),
    "429": (_github(lambda: too_many(3600)), Reason.RATE_LIMITED),
    "quota spent": (_spent, Reason.RATE_LIMITED),
    "token revoked": (_revoked, None),
    "token revoked and nothing left without": (_revoked_and_spent, Reason.RATE_LIMITED),
}


@pytest.mark.parametrize("name", _some(GITHUB, of={"down", "token revoked and nothing left without"}))
def test_no_score_moves_while_github_cannot_be_asked(before: Before, home: Home, around: Town, name: str) -> None:
    GITHUB[name][0](around)
    assert_nothing_moved(before.night, in_process_nights.night(home))


@pytest.mark.parametrize("name", _some([name for name, (_, reason) in GITHUB.items() if reason], of={"quota spent"}))
def test_the_first_night_says_why_github_could_not_be_asked(fresh: Home, around: Town, name: str) -> None:
    fail, reason = GITHUB[name]
    fail(around)
    night = in_process_nights.night(fresh)
    for server in ("kept", "left", "gone"):
        for kind in (repository.KIND, source.KIND, secrets.KIND):
            assert night.absence(server, kind).reason is reason, (server, kind, night.absence(server, kind))
        assert "maintenance.activity" not in night.measured(server)


@pytest.mark.parametrize(
    ("status", "reason"), [(500, Reason.UNREACHABLE), pytest.param(429, Reason.RATE_LIMITED, marks=pytest.mark.soak)]
)
def test_no_score_moves_while_the_index_fails(
    before: Before, home: Home, fresh: Home, around: Town, status: int, reason: Reason
) -> None:
    around.index.script(NPM_DOCUMENT, IndexAnswer(status))
    assert_nothing_moved(before.night, in_process_nights.night(home))
    assert in_process_nights.night(fresh).absence("npm", package.KIND).reason is reason


@pytest.mark.soak
@pytest.mark.parametrize(
    ("status", "reason"), [pytest.param(503, Reason.UNREACHABLE, marks=pytest.mark.soak), (429, Reason.RATE_LIMITED)]
)
def test_an_archive_that_the_index_does_not_give_is_recorded_with_its_reason(
    fresh: Home, around: Town, status: int, reason: Reason
) -> None:
    around.index.script(NPM_FILE, IndexAnswer(status))
    assert in_process_nights.night(fresh).absence("npm", source.KIND).reason is reason


def _garbage(file: Path) -> None:
    file.write_bytes(b"no database at all" * 1000)


def _half(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _no_file(file: Path) -> None:
    file.unlink()


@pytest.mark.soak
@pytest.mark.parametrize(
    "spoil", [_half, *(pytest.param(one, marks=pytest.mark.soak) for one in (_garbage, _empty, _no_file))]
)
def test_no_score_moves_while_the_mirror_is_broken_and_the_api_is_down(
    before: Before, home: Home, around: Town, spoil: Callable[[Path], None]
) -> None:
    _spoil_mirror(home, spoil)
    around.osv.faults[BATCH] = [OsvAnswer(503, b"") for _ in range(200)]
    assert_nothing_moved(before.night, in_process_nights.night(home))


@pytest.mark.parametrize("spoil", [_garbage, pytest.param(_no_file, marks=pytest.mark.soak)])
def test_a_night_without_a_mirror_asks_the_api_and_finds_the_same(
    before: Before, home: Home, around: Town, spoil: Callable[[Path], None]
) -> None:
    _spoil_mirror(home, spoil)
    night = in_process_nights.night(home)
    assert around.osv.batches
    for server in ("kept", "left", "npm", "python"):
        assert night.body(server, advisories.KIND)["groups"] == before.night.body(server, advisories.KIND)["groups"]
    assert_same_scores(before.night, night)


def test_the_first_night_says_that_neither_mirror_nor_api_can_be_asked(fresh: Home, around: Town) -> None:
    _spoil_mirror(fresh, _garbage)
    around.osv.faults[BATCH] = [OsvAnswer(503, b"") for _ in range(200)]
    night = in_process_nights.night(fresh)
    assert night.absence("left", advisories.KIND).reason is Reason.UNREACHABLE
    assert "security.dependencies" not in night.measured("left")


@pytest.mark.parametrize(
    "answer",
    [
        OsvAnswer(200, b"x" * 5000, cut=100),
        pytest.param(OsvAnswer(500, b""), marks=pytest.mark.soak),
        pytest.param(OsvAnswer(200, b"PK\x03\x04 and no more"), marks=pytest.mark.soak),
    ],
)
def test_an_export_that_cannot_be_read_leaves_the_mirror_as_it_was(
    before: Before, home: Home, around: Town, answer: OsvAnswer
) -> None:
    for path in (EXPORT, "/npm/modified_id.csv"):
        around.osv.faults[path] = [answer] * 50
    assert in_process_nights.refresh(home, anew=True) == {"npm": "failed", "PyPI": "loaded"}
    around.osv.faults[BATCH] = [OsvAnswer(503, b"") for _ in range(200)]
    assert_nothing_moved(before.night, in_process_nights.night(home))


@pytest.mark.soak
def test_a_repository_that_went_away_is_named_and_may_move_the_score(before: Before, home: Home, around: Town) -> None:
    del around.github.world.repositories[KEPT]
    night = in_process_nights.night(home)
    seen = night.absence("kept", repository.KIND)
    assert (seen.reason, seen.detail) == (Reason.NO_REPOSITORY, "HTTP 404: GitHub does not know the repository")
    assert night.absence("kept", source.KIND).reason is Reason.NO_REPOSITORY
    assert night.cites("kept", "registration-repository-not-found")
    assert not before.night.cites("kept", "registration-repository-not-found")
    assert night.score("kept") != before.night.score("kept")
    for server in ("left", "npm", "bare"):
        assert night.score(server) == before.night.score(server)


def _spoil_mirror(home: Home, spoil: Callable[[Path], None]) -> None:
    for path in (home.folder / "cache").glob("advisories.sqlite?*"):
        path.unlink()
    spoil(home.folder / "cache" / "advisories.sqlite")
