"""RepositoryCollector: how a server's repository is maintained, and its alerts where they may be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from crawler.collector import Scarce, make_record
from crawler.collectors.earlier_values import parse_body, read_time
from crawler.collectors.repository.api.responses import CollectionPrevented, RepositoryGone
from crawler.collectors.repository.github import GitHub
from crawler.collectors.repository.repository_address import (
    DeclaredRepository,
    OtherRepository,
    find_declared_repository,
)
from crawler.collectors.repository.shared_probes import EarlierRepository, RepositoryProbe
from evidence.canonical import Json, canonical_json
from evidence.kinds import alerts, repository
from evidence.model import Absent, Dossier, Observed, Reason, Record

VERSION: Final = 2
STANDS: Final = timedelta(days=14)

LOOKED_AT: Final = "looked_at"
_FULL_AT: Final = "full_at"
_ETAGS: Final = "etags"
_ASKED: Final = "asked"
_OF_THE_SERVER: Final = (_ASKED, "subfolder")


class RepositoryCollector:
    """Follower for kinds `repository` and `alerts` of servers whose repository is on this GitHub."""

    name: Final = "repository"
    version: Final = VERSION
    kinds: Final = (repository.KIND, alerts.KIND)
    needs: Final = Scarce.GITHUB

    def __init__(self, github: GitHub, clock: Callable[[], datetime], *, stands: timedelta = STANDS) -> None:
        """After a failure of ours, an earlier observation of at most `stands` ago is recorded again."""
        self._github = github
        self._clock = clock
        self._stands = stands

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        """One record of each kind: the facts, why there are none, or those of the earlier record."""
        declared = find_declared_repository(found, self._github.host)
        if isinstance(declared, OtherRepository):
            absent = Absent(Reason.NO_REPOSITORY, declared.found)
            return [self._record(found, kind, absent, {}) for kind in self.kinds]
        known = earlier.records.get(repository.KIND)
        try:
            probed = await self._github.probe(declared.name, self._known(known, declared))
        except RepositoryGone as error:
            observation: dict[str, Json] = {LOOKED_AT: self._clock().isoformat(), _ASKED: declared.name}
            return [self._record(found, kind, error.absent, observation) for kind in self.kinds]
        except CollectionPrevented as error:
            earlier = earlier if known and _is_about(known, declared.name) else replace(earlier, records={})
            return [self._earlier(found, earlier, kind, error) for kind in self.kinds]
        record = self._record(found, repository.KIND, _body(probed, declared), _observation(probed))
        return [record, await self._alerts(found, earlier, str(probed.facts.get("name") or declared.name))]

    async def _alerts(self, found: Dossier, earlier: Dossier, name: str) -> Record:
        try:
            content = await self._github.alerts(name)
        except CollectionPrevented as error:
            return self._earlier(found, earlier, alerts.KIND, error)
        observation = {LOOKED_AT: self._clock().isoformat()} if isinstance(content, Observed) else {}
        return self._record(found, alerts.KIND, content, observation)

    def _earlier(self, found: Dossier, earlier: Dossier, kind: str, error: CollectionPrevented) -> Record:
        """The earlier record when it is young enough: a score does not change because of a failure of ours.

        An absence because the repository was gone also stands: only a successful request puts the time into an
        observation.
        """
        record = earlier.records.get(kind)
        time = read_time(record, LOOKED_AT)
        if record is None or time is None or self._clock() - time > self._stands:
            return self._record(found, kind, error.absent, {})
        return self._record(found, kind, record.content, record.observation)

    def _known(self, record: Record | None, declared: DeclaredRepository) -> EarlierRepository | None:
        """The facts of an earlier record, if this version of the collector wrote it about the same address."""
        if record is None or not isinstance(record.content, Observed):
            return None
        if (record.collector, record.collector_version, record.schema) != (self.name, VERSION, repository.SCHEMA):
            return None
        body = parse_body(record)
        if not _is_about(record, declared.name):
            return None
        return EarlierRepository(
            facts={name: value for name, value in body.items() if name not in _OF_THE_SERVER},
            etags=_texts(record.observation.get(_ETAGS)),
            full_at=read_time(record, _FULL_AT),
        )

    def _record(self, found: Dossier, kind: str, content: Observed | Absent, observation: Mapping[str, Json]) -> Record:
        return make_record(self, found.server, kind, content, observation, at=self._clock())


def _is_about(record: Record, name: str) -> bool:
    """True when a record of kind `repository` is about the repository that is declared now."""
    body = parse_body(record)
    known = (body.get("name"), body.get(_ASKED), record.observation.get(_ASKED))
    return name.lower() in {one.lower() for one in known if isinstance(one, str)}


def _texts(value: Json) -> Mapping[str, str]:
    stated = value if isinstance(value, Mapping) else {}
    return {name: text for name, text in stated.items() if isinstance(text, str)}


def _body(probed: RepositoryProbe, declared: DeclaredRepository) -> Observed:
    name = probed.facts.get("name")
    renamed = isinstance(name, str) and name.lower() != declared.name.lower()
    body: dict[str, Json] = {
        **probed.facts,
        _ASKED: declared.name if renamed else None,
        "subfolder": declared.subfolder,
    }
    return Observed(canonical_json(body))


def _observation(probed: RepositoryProbe) -> dict[str, Json]:
    observation: dict[str, Json] = {
        LOOKED_AT: probed.looked_at.isoformat(),
        _FULL_AT: probed.full_at.isoformat(),
        _ETAGS: dict(probed.etags),
        "way": probed.way,
    }
    return observation | ({"unread": list(probed.unread)} if probed.unread else {})
