"""Whole servers with evidence of every kind: their receipts, and what must hold of any of them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evidence.model import Absent, Dossier, Reason
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Question
from scoring.receipt import START_FACT, encode_scorecard, recompute_score
from scoring.results.outcome import Finding, Measured, NotMeasured
from scoring.results.scorecard import ComponentScore, Scorecard
from scoring.rubrics.enterprise import POINTS
from tests.dossiers import AS_OF
from tests.golden import rich as golden
from tests.sampling import examples, some
from tests.scoring.dossiers import dossier, listed
from tests.scoring.rich import KINDS, PACKAGE, RICH, SOURCE, abandoned, adding, changed, sourced, well_kept, without

ADAPTIVE, ENTERPRISE = catalogue.get_rubric("adaptive@1"), catalogue.get_rubric("enterprise@1")
ASSESSED = {name: assess_dossier(make()) for name, make in RICH.items()}
OUTSIDE = [
    question for question in catalogue.list_questions() if catalogue.get_rule(question.rule).reads in KINDS
]  # what only the new kinds answer
REASONS = [Reason.NO_REPOSITORY, Reason.NO_PACKAGE, Reason.RATE_LIMITED, Reason.UNREACHABLE, Reason.TOO_LARGE]

NEEDS = {
    "security.dependencies": ("advisories",),
    "security.secrets": ("secrets",),
    "setup.readme": ("source", "repository"),
    "setup.guides": ("source",),
    "maintenance.activity": ("repository",),
    "maintenance.releases": ("repository", "package"),
    "maintenance.responsiveness": ("repository",),
    "maintenance.community": ("repository", "source"),
}
"""Components that only the new kinds measure, and the kinds of which any one is enough."""


def adaptive(evidence: Dossier) -> Scorecard:
    return ADAPTIVE.score(assess_dossier(evidence, [ADAPTIVE]))


def component(card: Scorecard, name: str) -> ComponentScore:
    dimension, _, inner = name.partition(".")
    parts = next(part for part in card.dimensions if part.name == dimension).components
    return next(part for part in parts if part.name == inner)


def number(card: Scorecard) -> Decimal:
    assert isinstance(card.score, Decimal)
    return card.score


@pytest.mark.parametrize("name", RICH)
def test_receipts_of_whole_servers_are_as_reviewed(name: str) -> None:
    assert golden.current()[name] == golden.committed()[name], "if meant: `python -m tests.golden.rich --write`"


def test_the_files_for_impact_are_these_servers() -> None:
    written = {path.name: path.read_bytes() for path in golden.SAVED.iterdir()}
    assert written == golden.saved(), "run `python -m tests.golden.rich --write`"


@pytest.mark.parametrize("name", RICH)
def test_lines_and_recomputation_give_the_score(name: str) -> None:
    for rubric in catalogue.list_rubrics():
        card = rubric.score(ASSESSED[name])
        assert recompute_score(card) == card.score
        if not isinstance(card.score, NotMeasured):
            assert int(card.facts.get(START_FACT, 0)) + sum(line.points for line in card.lines) == card.score
            assert card.floor <= card.score <= card.ceiling


@pytest.mark.parametrize("name", RICH)
def test_the_order_of_records_does_not_matter(name: str) -> None:
    evidence = RICH[name]()
    backwards = replace(evidence, records=dict(reversed(list(evidence.records.items()))))
    assert encode_scorecard(adaptive(evidence)) == encode_scorecard(adaptive(backwards))


def test_a_project_that_is_kept_well_loses_nothing_and_one_that_was_given_up_much() -> None:
    kept, ended = adaptive(well_kept()), adaptive(abandoned())
    assert number(kept) == 100
    assert number(ended) < 75
    assert component(ended, "maintenance.activity").result == 0
    assert component(ended, "security.secrets").result == 2
    assert kept.coverage > Decimal("0.7")


@pytest.mark.parametrize("name", NEEDS)
def test_each_component_is_measured_by_any_of_its_kinds_alone_and_by_no_other(name: str) -> None:
    evidence = well_kept()
    for kind in KINDS:
        alone = without(evidence, *(set(KINDS) - {kind}))
        measured = isinstance(component(adaptive(alone), name).result, Decimal)
        assert measured == (kind in NEEDS[name]), f"{name} with {kind} alone"


@pytest.mark.parametrize(
    "absence", some(product(KINDS, REASONS), 4, besides=[(kind, REASONS[at % 5]) for at, kind in enumerate(KINDS)])
)
def test_every_absence_of_a_kind_redistributes_and_is_no_zero(absence: tuple[str, Reason]) -> None:
    kind, reason = absence
    for evidence in (well_kept(), abandoned()):
        missing, unseen = adding(evidence, {kind: Absent(reason, "why")}), without(evidence, kind)
        assert adaptive(missing).score == adaptive(unseen).score
        for name, kinds in NEEDS.items():
            found = component(adaptive(missing), name).result
            assert isinstance(found, NotMeasured) == (kinds == (kind,)), f"{name} without {kind}"
            if kinds == (kind,):
                assert found == NotMeasured(reason.value, "why")


@pytest.mark.parametrize("kind", KINDS)
def test_hiding_a_kind_never_raises_the_floor(kind: str) -> None:
    for evidence in (well_kept(), abandoned(), sourced()):
        hidden = adding(evidence, {kind: Absent(Reason.FORBIDDEN)})
        assert adaptive(hidden).floor <= adaptive(evidence).floor
        unseen, seen = ENTERPRISE.score(assess_dossier(hidden)).floor, ENTERPRISE.score(assess_dossier(evidence)).floor
        assert unseen <= seen + POINTS["M1"], "an unknown publisher costs nothing, docs/decisions/0026"


def test_a_server_without_a_package_is_not_open_to_what_one_would_be_judged_by() -> None:
    evidence = well_kept()
    none = component(adaptive(adding(evidence, {"package": Absent(Reason.NO_PACKAGE, "none declared")})), TRANSPORT)
    unknown = component(adaptive(without(evidence, "package")), TRANSPORT)
    assert none.floor == none.ceiling == 10
    assert unknown.floor < unknown.ceiling


TRANSPORT = "setup.transport_dx"


@pytest.mark.parametrize("found", ["HTTP 404: unknown", "GitHub does not know the repository (404)", "HTTP 451: law"])
def test_a_declared_repository_that_does_not_exist_is_a_finding(found: str) -> None:
    gone = adding(sourced(), {"repository": Absent(Reason.NO_REPOSITORY, found)})
    assert component(adaptive(gone), "documentation.metadata").result == 8


@pytest.mark.parametrize(
    "absence",
    [
        Absent(Reason.NO_REPOSITORY, "a GitLab repository is declared"),
        Absent(Reason.RATE_LIMITED, "HTTP 404 requests left"),
        Absent(Reason.UNREACHABLE),
    ],
)
def test_a_repository_that_could_not_be_read_is_none(absence: Absent) -> None:
    assert component(adaptive(adding(sourced(), {"repository": absence})), "documentation.metadata").result == 10


def test_time_alone_costs_a_resting_project_points_in_the_adaptive_score_only() -> None:
    evidence = well_kept()
    later = replace(evidence, as_of=AS_OF + timedelta(days=900))
    assert number(adaptive(later)) < number(adaptive(evidence))
    for rubric in catalogue.list_rubrics():
        if not rubric.dated:
            before, after = (rubric.score(assess_dossier(each)) for each in (evidence, later))
            assert replace(before, as_of=AS_OF) == replace(after, as_of=AS_OF)


def test_only_the_adaptive_score_is_dated() -> None:
    assert [rubric.name for rubric in catalogue.list_rubrics() if rubric.dated] == ["adaptive@1", "adaptive@2"]


def test_a_change_since_the_approval_is_listed_and_costs_nothing() -> None:
    alarmed = component(adaptive(abandoned()), "security.poisoning")
    assert [(line.rule, line.points) for line in alarmed.lines] == [("definitions-changed-since-approval", Decimal(0))]
    assert alarmed == replace(
        component(adaptive(without(abandoned(), "drift")), "security.poisoning"), lines=alarmed.lines
    )


def test_a_lockfile_alone_is_no_audit() -> None:
    card = adaptive(without(well_kept(), "advisories"))
    assert isinstance(component(card, "security.dependencies").result, NotMeasured)


def test_a_package_that_is_released_makes_up_for_a_repository_that_is_not() -> None:
    old = {"count": 1, "latest_at": "2020-01-01T00:00:00Z", "latest_tag": "v0", "dates": []}
    evidence = changed(well_kept(), "repository", releases=old)
    assert component(adaptive(evidence), "maintenance.releases").result == 10
    assert component(adaptive(without(evidence, "package")), "maintenance.releases").result == 0


def test_descriptions_come_from_the_source_when_nothing_is_listed_and_say_so() -> None:
    poor = {**SOURCE, "tools": [{**SOURCE["tools"][0], "description": "x"}]}  # type: ignore[index]
    card = adaptive(adding(sourced(), {"source": poor}))
    (line,) = component(card, "documentation.descriptions").lines
    assert line.at == "source/tools/get-record"
    assert any("read from the source" in caveat for caveat in card.caveats)
    listed = adaptive(adding(well_kept(), {"source": poor}))
    assert component(listed, "documentation.descriptions").lines == ()


def test_a_tool_whose_text_is_computed_is_not_blamed() -> None:
    silent = {**SOURCE["tools"][0], "description": None}  # type: ignore[index]
    card = adaptive(adding(sourced(), {"source": {**SOURCE, "tools": [silent]}}))
    assert component(card, "documentation.schemas").result == NotMeasured(
        "not_collected", "no listing record in this run"
    )


@pytest.mark.parametrize("versions", [{"exists": False, "version_exists": False}, {"version_exists": False}])
def test_a_package_that_cannot_be_installed_is_charged_once(versions: dict[str, Any]) -> None:
    broken = adding(well_kept(), {"package": {**PACKAGE, **versions}})
    found = [line for line in component(adaptive(broken), TRANSPORT).lines if "published" in str(line.rule)]
    assert len(found) == 1
    assert found[0].points < 0


@settings(derandomize=True, max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(sorted(RICH)),
    st.sampled_from(OUTSIDE),
    st.sampled_from([Decimal(1), Decimal("0.4"), Decimal("0.01")]),
)
def test_another_finding_never_raises_a_score(name: str, question: Question, share: Decimal) -> None:
    assessment = ASSESSED[name]
    outcome = assessment.outcome(question)
    if not isinstance(outcome, Measured) or not outcome.checked:
        return
    thing = assessment.walks[question.pages].list_things(catalogue.get_rule(question.rule).scope)[0]
    finding = Finding(question.rule, thing.at, "made up", "", thing.position, share=share)
    worse = replace(outcome, findings=(*outcome.findings, finding))
    after = replace(assessment, outcomes={**assessment.outcomes, question: worse})
    for rubric in (ADAPTIVE, ENTERPRISE):
        before_card, after_card = rubric.score(assessment), rubric.score(after)
        assert recompute_score(after_card) == after_card.score
        if isinstance(before_card.score, Decimal) and isinstance(after_card.score, Decimal):
            assert after_card.score <= before_card.score
            assert after_card.floor <= before_card.floor


def test_a_server_that_lists_no_tools_is_not_judged_by_those_in_its_source() -> None:
    empty = replace(well_kept(), records={**well_kept().records, **dossier(listed=listed()).records})
    card = adaptive(empty)
    assert isinstance(component(card, "documentation.schemas").result, NotMeasured)
    assert not any("read from the source" in caveat for caveat in card.caveats)
    assert isinstance(ENTERPRISE.score(assess_dossier(empty)).score, NotMeasured)
