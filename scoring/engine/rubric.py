"""Declaration of a published methodology: its criteria, checks, components and dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from scoring.engine.assessment import Assessment, Question
from scoring.engine.rule import ParamValue, Rule, discover_rules
from scoring.engine.walk import Pages
from scoring.results.outcome import NotMeasured, Severity
from scoring.results.scorecard import DimensionScore, Line, Scorecard

NO_PARAMS: Final[Mapping[str, ParamValue]] = MappingProxyType({})


class Criterion(Struct, frozen=True, kw_only=True, dict=True):
    """A rubric's use of a rule. `cites` is the published id; `points` is the cost (or the weight) of one finding."""

    cites: str
    rule: str
    severity: Severity
    points: Decimal = Decimal(0)
    params: Mapping[str, ParamValue] = field(default_factory=lambda: NO_PARAMS)
    pages: Pages = Pages.ALL

    @cached_property
    def declared(self) -> Rule:
        """The cited rule; KeyError when no rule has this id."""
        return discover_rules()[self.rule]

    @cached_property
    def severity_word(self) -> str:
        """The severity as lines of receipts name it."""
        return self.severity.value

    @cached_property
    def question(self) -> Question:
        """The question to ask; raise InvalidRule for a parameter that the rule does not have."""
        return Question(self.rule, self.declared.with_defaults(self.params), self.pages)


class Check(Struct, frozen=True, kw_only=True):
    """Criteria about one scope that are judged together: a thing passes when no criterion has a finding about it.

    `otherwise` replaces this check when it has nothing to check, and then has the same weight; its evidence is not
    complete, so floor and ceiling treat the check as unmeasured. A `supplementary` check does not measure a component
    alone: when only supplementary checks were measured, the component is not measured. A check that `rejudges` looks
    at what other checks of its component judge too, so that it adds no observation to theirs.
    """

    criteria: tuple[Criterion, ...]
    weight: Decimal = Decimal(1)
    otherwise: Check | None = None
    supplementary: bool = False
    rejudges: bool = False

    @property
    def all_criteria(self) -> tuple[Criterion, ...]:
        """The criteria of this check and of its replacement."""
        return (*self.criteria, *(self.otherwise.all_criteria if self.otherwise else ()))


class Component(Struct, frozen=True, kw_only=True):
    """One named part of a dimension.

    Two members are read by `adaptive@2` only. `pooled`: its loss saturates over all checks together, not in each check.
    `half`: the number of observations at which half of its points are guaranteed; 0 where the evidence is complete.
    """

    name: str
    title: str
    checks: tuple[Check, ...] = ()
    weight: Decimal = Decimal(1)
    pooled: bool = False
    half: int = 0

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for check in self.checks for criterion in check.all_criteria)


class Dimension(Struct, frozen=True, kw_only=True):
    """One weighted part of a methodology."""

    name: str
    title: str
    weight: Decimal
    components: tuple[Component, ...]


class Cap(Struct, frozen=True, kw_only=True):
    """The highest value that a gate which is shut allows, and its line of the receipt, with 0 points.

    `cost`: points taken before, so that a value below the ceiling loses too; of several caps the highest cost counts.
    `withholds` are dimensions that count nothing under the cap.
    """

    ceiling: Decimal
    line: Line
    cost: Decimal = Decimal(0)
    withholds: tuple[str, ...] = ()


class VerdictParts(Struct, frozen=True, kw_only=True):
    """What a verdict is assembled from. `unscorable` is why there is no score whatever the dimensions are.

    `caveats` follow from the evidence, apart from those that follow from the dimensions.
    """

    dimensions: tuple[DimensionScore, ...]
    caps: tuple[Cap, ...] = ()
    unscorable: NotMeasured | None = None
    caveats: tuple[str, ...] = ()


class CapTerms(Struct, frozen=True, kw_only=True):
    """The published terms of a cap.

    `cites` is the id of its line in receipts, `grade` the highest grade under it, `cost` the points that it takes
    besides, once for all caps, `withholds` are dimensions that count nothing under it. `rules` are those whose findings
    cause it; without rules, evidence that could not be examined does.
    """

    cites: str
    grade: str
    lifted_by: str
    rules: tuple[str, ...] = ()
    cost: Decimal = Decimal(0)
    withholds: tuple[str, ...] = ()


class VerdictMethod(Struct, frozen=True, kw_only=True):
    """The two pure steps of a rubric with caps; verification replaces components between them.

    `scale` maps guaranteed points to values before caps, by straight lines between its corners.
    """

    examine: Callable[[Assessment], VerdictParts]
    assemble: Callable[[VerdictParts, Assessment], Scorecard]
    caps: tuple[CapTerms, ...]
    scale: tuple[tuple[Decimal, Decimal], ...]


class Rubric(Struct, frozen=True, kw_only=True, dict=True):
    """One version of a methodology. `settled` lists our decisions where the published text leaves a question open.

    The scores of a `dated` rubric depend on the evidence and on `as_of`, because some of its rules read the date.
    `revise` makes the scorecard from an earlier one and an assessment of those components that may have changed, whole
    components only; it returns None when the earlier one does not hold enough (`scoring.engine.reuse`).
    """

    id: str
    version: int
    source_version: str
    title: str
    summary: str
    source: str
    criteria: tuple[Criterion, ...]
    settled: tuple[str, ...]
    judge: Callable[[Assessment], Scorecard]
    dimensions: tuple[Dimension, ...] = ()
    bands: tuple[tuple[Decimal, str], ...] = ()
    default: bool = False
    dated: bool = False
    method: VerdictMethod | None = None
    revise: Callable[[Scorecard, Assessment], Scorecard | None] | None = None

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The distinct questions of the criteria."""
        return tuple(dict.fromkeys(criterion.question for criterion in self.criteria))

    @cached_property
    def questions_of_components(self) -> Mapping[str, frozenset[Question]]:
        """The questions of each component by `dimension.component`."""
        return {
            f"{dimension.name}.{part.name}": frozenset(criterion.question for criterion in part.criteria)
            for dimension in self.dimensions
            for part in dimension.components
        }

    @property
    def name(self) -> str:
        """Id and version, such as `lint@1`."""
        return f"{self.id}@{self.version}"

    def score(self, assessment: Assessment) -> Scorecard:
        """The scorecard of one server; a pure function of the assessment."""
        return self.judge(assessment)
