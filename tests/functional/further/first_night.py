"""A night in which everything went well, for tests of the next one, in which something does not."""

from __future__ import annotations

from dataclasses import dataclass

from evidence.kinds import advisories, package, repository, secrets, source
from evidence.model import Absent
from tests.functional.further.mixed_world import Town
from tests.functional.further.nights import Home, Night


@dataclass
class Before:
    """A night in which everything went well, and the installation after it."""

    town: Town
    home: Home
    night: Night


def assert_nothing_moved(before: Night, after: Night) -> None:
    """Scores are the same, and so is what they rest on."""
    for server, dossier in after.dossiers.items():
        for kind in (package, repository, source, secrets, advisories):
            if isinstance(before.dossiers[server].read(kind.KIND), Absent):
                continue  # what is not there may be absent for another reason when we cannot look
            assert dossier.read(kind.KIND) == before.dossiers[server].read(kind.KIND), (server, kind.KIND)
    assert_same_scores(before, after)


def assert_same_scores(before: Night, after: Night) -> None:
    for server in after.dossiers:
        assert after.cards[server]["score"] == before.cards[server]["score"], server
        assert after.components(server) == before.components(server), server
