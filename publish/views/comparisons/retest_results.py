"""What a finished re-test changed: the main receipt before and after, the rules behind it, and the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evidence.store import Retest, Store
from publish.views.comparisons.dimension_moves import DimensionMove, compare_dimension_bars
from publish.views.comparisons.evidence_changes import Changes, compare_evidence
from publish.views.comparisons.receipts import Comparison, compare_receipts
from publish.views.comparisons.rule_costs import RuleChange, compare_rule_costs
from publish.views.fix_costs import RuleCost, rank_costs
from publish.views.public_servers import read_public_server
from publish.views.server_in_run import order_newest
from scoring.results.scorecard import Scorecard


class RetestResult(Struct, frozen=True, kw_only=True):
    """The main receipt before and after with its comparison, and those of the other rubrics in `others`.

    `before` and `evidence` are None if nothing of the run before is public or kept. `left` costs points still.
    """

    before: Scorecard | None
    after: Scorecard
    comparison: Comparison
    rules: Sequence[RuleChange]
    dimensions: Sequence[DimensionMove]
    others: Sequence[Comparison]
    evidence: Changes | None
    left: Sequence[RuleCost]

    @property
    def same_evidence(self) -> bool:
        """Whether no tool, resource, prompt or fact differs, as far as both runs could be read."""
        found = self.evidence
        return found is not None and not (found.lists or found.facts or found.unread)

    @property
    def nothing_changed(self) -> bool:
        """Whether no receipt differs either."""
        moved = self.dimensions or any(one.changed for one in (self.comparison, *self.others))
        return self.same_evidence and not moved


def read_retest_result(store: Store, retest: Retest) -> RetestResult | None:
    """What is public of the result of a finished re-test; None if that is nothing."""
    new = read_public_server(store, retest.run, retest.server) if retest.run else None
    cards = order_newest(new) if new is not None else []
    if new is None or not cards:
        return None
    old = read_public_server(store, retest.before, retest.server) if retest.before else None
    earlier = order_newest(old) if old is not None else []
    main, *others = compare_receipts(earlier, cards)
    after = cards[0]
    before = next((card for card in earlier if (card.rubric, card.version) == (after.rubric, after.version)), None)
    return RetestResult(
        before=before,
        after=after,
        comparison=main,
        rules=() if before is None else compare_rule_costs(before, after, main.rules),
        dimensions=() if before is None else tuple(compare_dimension_bars(before, after)),
        others=others,
        evidence=compare_evidence(old.dossier, new.dossier) if old is not None and old.dossier.records else None,
        left=rank_costs([after]),
    )
