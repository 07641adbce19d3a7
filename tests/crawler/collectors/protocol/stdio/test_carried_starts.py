"""An unchanged package is started on one night in seven; its score is that of a package that is started every night."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.collectors.earlier_values import CARRIED_FROM
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.stdio.carried_starts import ENOUGH_STARTS, is_start_due
from evidence.kinds import access, behaviour, exchanges, falls, handouts, listing, samples, trials
from evidence.kinds.samples import Sample
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from scoring.engine.assess import assess_dossier
from scoring.results.scorecard import Scorecard
from scoring.rubrics.adaptive_dimensions import STABILITY
from tests.crawler.collectors.protocol.probing import NOW, collector, records_of
from tests.crawler.collectors.protocol.stdio.test_start_attempts import SERVER, Started
from workers.cli.rubric_selection import select_rubrics

DAY = timedelta(days=1)
PACKAGE = Target(type=TargetType.NPM, identifier="notes-server", version="1.0.0")
SERVER_ID = Server(ref="test", name="test").id
NIGHTS = [NOW + DAY * n for n in range(21)]
FIRST = next(n for n in range(7) if is_start_due(SERVER_ID, NIGHTS[n], NIGHTS[n]))  # the server's weekday


@dataclass
class Package:
    """A package that is visited night after night, each time with the records of the night before."""

    folder: Path
    checks: str = ""
    identity: str | None = "version 1, layer a, bubblewrap, pins 1"
    target: Target = PACKAGE
    records: Mapping[str, Record] = field(default_factory=dict)
    asked: int = 0

    async def _identify(self, target: Target) -> str | None:
        self.asked += 1
        return self.identity

    def visit(
        self, at: datetime, *, carries: bool = True, depth: str = "core", chosen: QuestionSelection | None = None
    ) -> int:
        """Collect on one night; return how many processes were started."""
        script = self.folder / "server.py"
        script.write_text(SERVER.replace("{checks}", self.checks))
        launcher = Started(script)
        prober = collector(
            launcher=launcher, at=at, depth=depth, chosen=chosen, identify=self._identify if carries else None
        )
        self.records = asyncio.run(records_of(prober, self.target, earlier=self.records))
        return len(launcher.launched)

    def visit_all(self, nights: Sequence[datetime], **options: bool) -> list[int]:
        return [min(1, self.visit(at, **options)) for at in nights]

    def settled(self) -> Package:
        """After the nights that end before its weekday comes again, on which it is carried."""
        started = self.visit_all(NIGHTS[FIRST : FIRST + ENOUGH_STARTS])
        assert started == [1] * ENOUGH_STARTS
        return self

    @property
    def listed(self) -> Record:
        return self.records[listing.KIND]


NEXT = NIGHTS[FIRST + ENOUGH_STARTS]


def score(records: Mapping[str, Record], at: datetime) -> Scorecard:
    dossier = Dossier(server=Server(ref="test", name="test", targets=(PACKAGE,)), as_of=at, records=records)
    [rubric] = select_rubrics(["adaptive"])
    return rubric.score(assess_dossier(dossier, [rubric]))


def guaranteed_stability(records: Mapping[str, Record], at: datetime) -> Decimal:
    parts = {part.name: part for one in score(records, at).dimensions for part in one.components}
    floor = parts[STABILITY].floor
    assert floor is not None
    return floor


def test_an_unchanged_package_is_started_until_three_starts_agree_and_then_on_its_weekday(tmp_path: Path) -> None:
    started = Package(tmp_path).visit_all(NIGHTS[FIRST + 1 : FIRST + 15])
    assert started == [1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]


def test_a_night_with_carried_records_has_the_score_of_one_where_all_were_started(tmp_path: Path) -> None:
    nights = NIGHTS[FIRST : FIRST + 6]
    carried, started = Package(tmp_path), Package(tmp_path)
    assert carried.visit_all(nights) == [1, 1, 1, 0, 0, 0]
    assert started.visit_all(nights, carries=False) == [1] * len(nights)
    same_attempts = {**carried.records, samples.KIND: started.records[samples.KIND]}
    assert score(same_attempts, nights[-1]) == score(started.records, nights[-1])
    for kind in (listing.KIND, exchanges.KIND, access.KIND, trials.KIND, handouts.KIND, behaviour.KIND, falls.KIND):
        assert carried.records[kind].content == started.records[kind].content, kind


def test_nights_without_a_start_never_raise_a_score(tmp_path: Path) -> None:
    """Attempts that were not made guarantee nothing, and those of more than 30 days ago count no more."""
    carried, started = Package(tmp_path), Package(tmp_path)
    started.visit_all(NIGHTS[FIRST : FIRST + 4], carries=False)
    before = guaranteed_stability(carried.settled().records, NIGHTS[FIRST + 2])
    carried.visit(NEXT)
    assert guaranteed_stability(carried.records, NEXT) == before
    assert guaranteed_stability(started.records, NEXT) > before


def test_carried_records_keep_their_time_and_say_so(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    last = package.listed
    for at in (NEXT, NEXT + DAY):
        assert package.visit(at) == 0
        assert package.listed.observed_at == last.observed_at < at
        assert package.listed.observation[CARRIED_FROM] == last.observed_at.isoformat()
        assert package.records[behaviour.KIND].observed_at == last.observed_at


def test_a_night_without_a_start_adds_no_attempt_to_connect(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    package.visit(NEXT)
    window = samples.read_samples(package.records[samples.KIND].observation)
    assert [sample.at for sample in window] == NIGHTS[FIRST : FIRST + ENOUGH_STARTS]


@pytest.mark.parametrize(
    "identity", ["version 2, layer a, bubblewrap, pins 1", "version 1, layer b, bubblewrap, pins 1", None]
)
def test_a_changed_package_sandbox_or_code_starts_it(tmp_path: Path, identity: str | None) -> None:
    package = Package(tmp_path).settled()
    package.identity = identity
    assert package.visit(NEXT) == 1
    assert CARRIED_FROM not in package.listed.observation


def test_a_changed_declaration_starts_it(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    package.target = replace(PACKAGE, environment=(("MODE", "fast"),))
    assert package.visit(NEXT) == 1


def test_a_full_probe_and_a_retest_start_it(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    before = package.records
    assert package.visit(NEXT, depth="full") > 0
    package.records = before
    assert package.visit(NEXT, chosen=QuestionSelection()) > 0


def test_a_package_with_a_failed_attempt_is_started_every_night(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    record = package.records[samples.KIND]
    window = [*samples.read_samples(record.observation), Sample(NEXT - DAY / 2, samples.TIMEOUT)]
    package.records = {**package.records, samples.KIND: replace(record, observation=samples.write_samples(window))}
    assert package.visit(NEXT) == 1


def test_records_of_several_times_are_not_carried(tmp_path: Path) -> None:
    """They were put together because the newest start failed."""
    package = Package(tmp_path).settled()
    newer = replace(package.records[behaviour.KIND], observed_at=NEXT - DAY / 2)
    package.records = {**package.records, behaviour.KIND: newer}
    assert package.visit(NEXT) == 1


def test_another_outcome_is_confirmed_by_further_starts(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    package.checks = "tools = []"
    package.identity = "version 2"
    assert package.visit_all(NIGHTS[FIRST + 3 : FIRST + 7]) == [1, 1, 1, 0]


def test_a_failure_is_repeated_three_nights_before_it_is_carried(tmp_path: Path) -> None:
    package = Package(tmp_path, checks="sys.exit('no database')")
    assert package.visit_all(NIGHTS[FIRST : FIRST + 4]) == [1, 1, 1, 0]
    assert isinstance(package.listed.content, Absent)
    assert package.listed.content.reason is Reason.START_FAILED


def test_a_failure_is_not_carried_when_another_target_may_be_tried(tmp_path: Path) -> None:
    package = Package(tmp_path, checks="sys.exit('no database')")
    for at in NIGHTS[FIRST : FIRST + 4]:
        script = tmp_path / "server.py"
        script.write_text(SERVER.replace("{checks}", package.checks))
        launcher = Started(script)
        prober = collector(launcher=launcher, at=at, identify=package._identify)
        other = replace(PACKAGE, identifier="other-server")
        package.records = asyncio.run(records_of(prober, PACKAGE, other, earlier=package.records))
        assert launcher.launched


def test_weekdays_spread_the_starts_over_a_week() -> None:
    ids = [Server(ref=f"npm:{n}", name="").id for n in range(700)]
    for at in NIGHTS[:7]:
        due = sum(is_start_due(one, at - DAY, at) for one in ids)
        assert 60 <= due <= 140
    assert all(sum(is_start_due(one, at - DAY, at) for at in NIGHTS[:7]) == 1 for one in ids)


def test_a_start_of_a_week_ago_or_of_the_future_is_not_carried() -> None:
    ids = [Server(ref=f"npm:{n}", name="").id for n in range(7)]
    assert all(is_start_due(one, NOW - DAY * 7, NOW) for one in ids)
    assert all(is_start_due(one, NOW + DAY, NOW) for one in ids)


def test_nothing_observed_is_made_of_nothing(tmp_path: Path) -> None:
    package = Package(tmp_path).settled()
    package.records = {kind: record for kind, record in package.records.items() if kind != trials.KIND}
    assert package.visit(NEXT) == 1
    assert isinstance(package.listed.content, Observed)
