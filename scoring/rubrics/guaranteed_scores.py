"""Scores one component of `adaptive@2`: its result on 0 to 10, and the part of it that the evidence guarantees.

A loss saturates: the first affected tool costs most, each further one less, and sound tools never make it disappear.
What could not be seen counts as failed in the guaranteed part, so that hidden evidence never raises it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import chain
from typing import Final

from msgspec import Struct

from evidence.kinds import access, listing
from evidence.model import Reason
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Component, Criterion
from scoring.results import arithmetic, weighting
from scoring.results.outcome import WHOLE_SHARE, Finding, NotMeasured
from scoring.results.scorecard import ComponentScore, Line
from scoring.rubrics.check_results import (
    MAX_LINES,
    NOTHING_TO_CHECK,
    WITHOUT_PACKAGE,
    CheckResult,
    build_line,
    compute_failed_parts,
    evaluate_check,
    explain_unmeasured,
    list_findings,
)
from scoring.rubrics.line_folding import fold_lines
from scoring.scopes.base import Param, Tool

ANY_PARAMETER: Final = Decimal("0.5")
"""Damage of a tool with one bad parameter; the rest of the damage is the share of its parameters that are bad."""


_WITHOUT_SUBJECT: Final = WITHOUT_PACKAGE | {Reason.COLLECTOR_OFFLINE}

NO_SCHEMA: Final = "no input schema, so nothing is known about the parameters"


class _Loss(Struct, frozen=True):
    """What the findings of one check damage: `damage` of `things`, and how much of it each finding causes.

    `bare` are tools that count as failed besides; their findings are made when a receipt shows them.
    """

    result: CheckResult
    findings: Sequence[tuple[Criterion, Finding]]
    damage: Decimal
    things: Decimal
    parts: Sequence[Decimal]
    bare: Sequence[Tool] = ()

    @property
    def weight(self) -> Decimal:
        return self.result.check.weight

    @property
    def observations(self) -> int:
        return self.result.checked or int(self.things)

    @property
    def share(self) -> Decimal:
        return self.damage / self.things


def score_component(component: Component, assessment: Assessment, *, dimension: str) -> ComponentScore:
    """The component with `floor` as guaranteed points and `ceiling` with everything unseen at full.

    A component without a subject in complete evidence is NotMeasured as `not_applicable`.
    """
    results = [evaluate_check(check, assessment, has_subject=_has_subject) for check in component.checks]
    unseen = sum((result.check.weight for result in results if not result.complete), Decimal(0))
    losses = [loss for result in results if (loss := _measure_loss(result, assessment)) is not None]
    if all(loss.result.check.supplementary for loss in losses):
        why = explain_unmeasured(results)
        if not unseen and why.reason != Reason.COLLECTOR_OFFLINE:
            why = NotMeasured(weighting.NOT_APPLICABLE, NOTHING_TO_CHECK.detail)
        return ComponentScore(
            name=component.name, base_weight=component.weight, effective_weight=Decimal(0), result=why
        )
    combine = _combine_pooled if component.pooled else _combine
    costs, low, high = combine(losses, unseen)
    cites, evidence = f"{dimension}.{component.name}", assessment.dossier.read(listing.KIND).digest
    lines = tuple(
        line for loss, cost in zip(losses, costs, strict=True) for line in _build_lines(loss, cost, cites, evidence)
    )
    observations = _count_observations([loss for loss in losses if loss.weight])
    trust = Decimal(observations) / (observations + component.half)
    return ComponentScore(
        name=component.name,
        base_weight=component.weight,
        effective_weight=Decimal(0),
        result=weighting.compute_component_result(lines),
        checked=observations,
        lines=lines,
        floor=_normalize(low * trust),
        ceiling=_normalize(weighting.FULL_POINTS - (weighting.FULL_POINTS - high) * trust),
    )


def _count_observations(losses: Sequence[_Loss]) -> int:
    """Each thing once: an answer with an error guarantees no more than one without."""
    apart = sum(loss.observations for loss in losses if not loss.result.check.rejudges)
    return max(apart, *(loss.observations for loss in losses if loss.result.check.rejudges), 0)


def _has_subject(criterion: Criterion, missing: NotMeasured) -> bool:
    """False also for the access of a server without a remote, and while this installation had no network."""
    if missing.reason in _WITHOUT_SUBJECT:
        return False
    return missing.reason != Reason.TRANSPORT_UNSUPPORTED or criterion.declared.reads != access.KIND


def _measure_loss(result: CheckResult, assessment: Assessment) -> _Loss | None:
    """Things are what the check judges; parameters are judged by tool. None when there is nothing to judge."""
    criterion = result.check.criteria[0]
    if criterion.declared.scope is not Param:
        return _measure_share(result) if result.checked else None
    bare = _list_bare_tools(criterion, assessment)
    if not result.checked and not bare:
        return None
    loss = _measure_parameter_loss(result, assessment)
    damage, things = loss.damage + len(bare), loss.things + len(bare)
    return _Loss(result, loss.findings, damage, things, [*loss.parts, *[WHOLE_SHARE] * len(bare)], bare)


def _measure_share(result: CheckResult) -> _Loss:
    findings = list_findings(result)
    if not findings:
        return _Loss(result, (), Decimal(0), Decimal(result.checked), ())
    parts = compute_failed_parts([finding for _, finding in findings])
    return _Loss(result, findings, sum(parts, Decimal(0)), Decimal(result.checked), parts)


def _list_bare_tools(criterion: Criterion, assessment: Assessment) -> tuple[Tool, ...]:
    """The tools whose input schema leaves open what their parameters are: all of them count as bad."""
    walk = assessment.walks[criterion.pages]
    return () if walk.absent(criterion.declared.reads) else walk.bare_tools


def _measure_parameter_loss(result: CheckResult, assessment: Assessment) -> _Loss:
    found = list_findings(result)
    sizes = assessment.walks[result.check.criteria[0].pages].parameter_counts
    if not found:
        return _Loss(result, (), Decimal(0), Decimal(len(sizes)), ())
    parts = compute_failed_parts([finding for _, finding in found])
    tools = [finding.position[0] for _, finding in found]
    failed: dict[int, Decimal] = dict.fromkeys(tools, Decimal(0))
    for tool, part in zip(tools, parts, strict=True):
        failed[tool] += part
    damage = {
        tool: ANY_PARAMETER + (1 - ANY_PARAMETER) * count / max(1, sizes[tool])
        for tool, count in failed.items()
        if count
    }
    whole = {tool: WHOLE_SHARE / failed[tool] * cost for tool, cost in damage.items()}  # of most findings
    by_tool = [
        whole[tool] if part is WHOLE_SHARE else part / failed[tool] * damage[tool] if part else part
        for tool, part in zip(tools, parts, strict=True)
    ]
    return _Loss(result, found, sum(damage.values(), Decimal(0)), Decimal(len(sizes)), by_tool)


def _combine(losses: Sequence[_Loss], unseen: Decimal) -> tuple[list[Decimal], Decimal, Decimal]:
    """Cost of each check, guaranteed and possible points, where each check saturates by itself."""
    total = sum((loss.weight for loss in losses), Decimal(0))
    lost = [(loss, arithmetic.saturate_loss(loss.damage, loss.things)) for loss in losses]
    costs = [weighting.FULL_POINTS * loss.weight / total * saturated for loss, saturated in lost]
    certain = [(loss.weight, saturated) for loss, saturated in lost if loss.result.complete]
    kept = sum((weight * (1 - saturated) for weight, saturated in certain), Decimal(0))
    whole = sum((weight for weight, _ in certain), unseen)
    return costs, weighting.FULL_POINTS * kept / whole, weighting.FULL_POINTS * (kept + unseen) / whole


def _combine_pooled(losses: Sequence[_Loss], unseen: Decimal) -> tuple[list[Decimal], Decimal, Decimal]:
    """The same where the checks are the things that saturate, in units of the heaviest check."""
    unit = max(loss.weight for loss in losses)
    damages = [loss.weight / unit * loss.share for loss in losses]
    damage, things = sum(damages, Decimal(0)), sum((loss.weight for loss in losses), Decimal(0)) / unit
    cost = weighting.FULL_POINTS * arithmetic.saturate_loss(damage, things)
    costs = [cost * part / damage if damage else Decimal(0) for part in damages]
    certain = [(part, loss.weight / unit) for part, loss in zip(damages, losses, strict=True) if loss.result.complete]
    damage = sum((part for part, _ in certain), Decimal(0))
    things = sum((weight for _, weight in certain), unseen / unit)
    low = 1 - arithmetic.saturate_loss(damage + unseen / unit, things)
    return costs, weighting.FULL_POINTS * low, weighting.FULL_POINTS * (1 - arithmetic.saturate_loss(damage, things))


def _build_lines(loss: _Loss, cost: Decimal, cites: str, evidence: str) -> tuple[Line, ...]:
    if not loss.parts:
        return ()
    cost = arithmetic.round_to_quantum(cost)
    parts = arithmetic.apportion_total(cost, loss.parts) if cost else [Decimal(0)] * len(loss.parts)
    checked = loss.result.checked
    criterion = loss.result.check.criteria[0]
    bare = ((criterion, Finding(criterion.rule, tool.at, NO_SCHEMA, evidence, tool.position)) for tool in loss.bare)
    lines = (
        build_line(criterion, finding, -part, cites, checked=checked)
        for (criterion, finding), part in zip(chain(loss.findings, bare), parts, strict=True)
    )
    return fold_lines(lines, MAX_LINES)


def _normalize(value: Decimal) -> Decimal:
    return arithmetic.normalize_decimal(arithmetic.round_to_quantum(value))
