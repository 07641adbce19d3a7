"""150 attacks as real npm and PyPI packages: stopped, recorded for the right reason, and gone without a trace.

Each source below `attacks/npm` and `attacks/pypi` is built into a package, put on an index on loopback, installed by
the real installers and started as any server is. Those that harm only themselves share one box here; `make soak` gives
each a box and a package of its own. `attacks/archives.py` are packages that attack the process that unpacks them,
`attacks/neighbours.py` attacks beside another server. `make test` tries a quarter of those that need a box of their
own, some beside a server at once, and a sixth of the archives.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.container_engine_variables import ENGINE_VARIABLES
from crawler.sandbox import Rootfs
from tests.crawler.sandbox import unprivileged
from tests.crawler.sandbox.attacks import archives, neighbours, outcome, roster
from tests.crawler.sandbox.attacks.outcome import Outcome
from tests.crawler.sandbox.attacks.packing import names

MODULE = "tests.crawler.sandbox.attacks.running"
ATTACKED = unprivileged.STRANGER + 1  # no other tests leave files or processes of this user
SHARING = [*roster.sharing("npm"), *roster.sharing("pypi")]
Outcomes = dict[str, Outcome]
pytestmark = [pytest.mark.sandbox, pytest.mark.xdist_group("attacks"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder for caches that others may enter; pytest closes its own to them whenever a session starts."""
    with tempfile.TemporaryDirectory(prefix="hallmark-attacks-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture(
    scope="module", params=["the user of the tests", pytest.param("an ordinary user", marks=pytest.mark.soak)]
)
def outcomes(request: pytest.FixtureRequest, folder: Path, shared_cache: Path, rootfs: Rootfs) -> Outcomes:
    """What came of every attack that a test of this session is about."""
    here = [item for item in request.session.items if item.path == Path(__file__)]
    few = () if any(item.get_closest_marker("soak") for item in here) else ("few",)
    return attacked(folder, shared_cache, rootfs, *few, stranger=request.param == "an ordinary user")


def attacked(folder: Path, shared_cache: Path, rootfs: Rootfs, *how: str, stranger: bool) -> Outcomes:
    """Every attack in a process of its own, which shares no descriptors and children."""
    home = folder / "-".join(["stranger" if stranger else "home", *how])
    home.mkdir()
    into = home / "outcomes.json"
    if stranger:
        cache = unprivileged.cache(home, rootfs.path.parents[1] / "tools")
        for path in (home, cache, *cache.rglob("*")):
            os.chown(path, ATTACKED, ATTACKED)
        command = unprivileged.command(MODULE, str(cache), str(home), str(into), *how)
        command = [word.replace(f"id={unprivileged.STRANGER}", f"id={ATTACKED}") for word in command]
        environ = unprivileged.environment(home)
    else:
        cache = home / "cache"
        cache.mkdir()
        for part in ("rootfs", "tools"):
            (cache / part).symlink_to(shared_cache / part)
        command = [sys.executable, "-m", MODULE, str(cache), str(home), str(into), *how]
        engine = {name: os.environ[name] for name in ENGINE_VARIABLES if name in os.environ}
        environ = {"PATH": os.environ["PATH"], **engine, "HOME": str(home)}
    done = subprocess.run(
        command, cwd=unprivileged.REPOSITORY, env=environ, capture_output=True, text=True, check=False, timeout=800
    )
    assert done.returncode == 0, done.stderr
    return outcome.load(into)


def judge(found: Outcome, reasons: tuple[str, ...], says: str = "") -> None:
    """Nothing got through, nothing is left, and what is recorded is what happened."""
    assert found.got_through() == {}
    assert found.left == ()
    assert found.reason in (reasons or ("",)), found
    assert says in f"{found.detail} {found.stopped}", found


@pytest.mark.parametrize(
    "found",
    [
        Outcome(reports={"the door": "got through: opened"}),
        Outcome(reports={"broken": "OSError: it was not tried"}),
        Outcome(left=("processes: 17 python",)),
        Outcome(reason="sandbox_restricted"),
    ],
)
def test_an_attack_that_gets_through_is_found(found: Outcome) -> None:
    with pytest.raises(AssertionError):
        judge(found, ())


def test_there_are_attacks_enough() -> None:
    assert len(names("npm")) + len(names("pypi")) >= 60
    assert len(archives.ALL) >= 40
    assert len(names("npm")) + len(names("pypi")) + len(archives.ALL) + len(neighbours.NAMES) >= 150


@pytest.mark.parametrize("name", SHARING)
def test_what_an_attack_tries_is_refused(outcomes: Outcomes, name: str) -> None:
    assert outcomes[name].reports, outcomes[name]
    judge(outcomes[name], ())


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in roster.OFTEN else pytest.mark.soak) for one in roster.ALONE]
)
def test_an_attack_on_the_machine_is_stopped_and_recorded(outcomes: Outcomes, name: str) -> None:
    expected = roster.ALONE[name]
    judge(outcomes[name], tuple(reason.value for reason in expected.reasons), expected.says)


@pytest.mark.parametrize(
    "archive",
    [pytest.param(one, marks=() if one in archives.OFTEN else pytest.mark.soak, id=one.name) for one in archives.ALL],
)
def test_a_hostile_archive_changes_nothing_but_its_own_layer(outcomes: Outcomes, archive: archives.Archive) -> None:
    judge(outcomes[archive.name], tuple(reason.value for reason in archive.reason))


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in neighbours.OFTEN else pytest.mark.soak) for one in neighbours.NAMES]
)
def test_beside_an_attacker_a_server_is_recorded_as_alone(outcomes: Outcomes, name: str) -> None:
    found = outcomes[name]
    ordinary = found.detail != "user 0"
    known = neighbours.KNOWN.get(name, frozenset()) if ordinary else frozenset()
    if ordinary and name in neighbours.SLOWS:
        assert found.got_through().keys() <= {neighbours.LISTING}, found
        assert found.left == ()
        return
    assert found.reports[neighbours.LISTING], found
    assert found.got_through().keys() - ({neighbours.LISTING} if known else set()) == known, found
    assert found.left == ()


@pytest.mark.parametrize("ecosystem", ["npm", "pypi"])
def test_a_package_installed_after_all_attacks_is_what_its_author_made(outcomes: Outcomes, ecosystem: str) -> None:
    assert outcomes[f"victim ({ecosystem})"].reports
    judge(outcomes[f"victim ({ecosystem})"], ())


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("stranger", [False, True])
def test_each_attack_by_itself_is_stopped(folder: Path, shared_cache: Path, rootfs: Rootfs, stranger: bool) -> None:
    found = attacked(folder, shared_cache, rootfs, "thorough", stranger=stranger)
    for name in SHARING:
        assert found[name].reports, name
        judge(found[name], ())
    for name, expected in roster.ALONE.items():
        judge(found[name], tuple(reason.value for reason in expected.reasons), expected.says)
