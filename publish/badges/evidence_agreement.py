"""Measures whether the evidence of one server is complete and consistent. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Final

from msgspec import Struct

from evidence.authority import Authority
from evidence.kinds import access, exchanges, listing, package, registration, trials
from evidence.kinds.access import Access, AccessClass
from evidence.kinds.listing import LISTS, End, Listing
from evidence.kinds.package import Package
from evidence.kinds.trials import TrialKind, Trials
from evidence.model import Dossier, Observed, Parsed
from scoring import receipt
from scoring.engine import catalogue
from scoring.results import weighting
from scoring.results.scorecard import Scorecard

PARTS: Final = (
    "share of what every server's page needs: its registry entry, every list that it declares read to the end, the "
    "conversation with it, and of a remote its access, of an npm or Python package what the index says"
)
CHECKS: Final = (
    "share of these that hold: each receipt's score follows from its lines, its rubric is known, it cites the evidence "
    "that is shown; every methodology has a receipt, all by one ruleset; a listing that was read is of a server that "
    "is open, or of a package that exists"
)

_WHOLE: Final = frozenset({End.COMPLETE, End.NOT_ASKED})

_REMOTE: Final = ("https://", "http://")
_INDEXED: Final = ("npm:", "pypi:")


class Check(Struct, frozen=True):
    """One consistency condition in words, and whether it holds."""

    name: str
    agrees: bool


class EvidenceReader:
    """Reads a dossier for the gate and the badges; each body is parsed at most once."""

    def __init__(self, dossier: Dossier) -> None:
        self.dossier = dossier

    @property
    def is_remote(self) -> bool:
        return self.dossier.server.ref.startswith(_REMOTE)

    @property
    def is_indexed(self) -> bool:
        """Whether it is a package of an index from which evidence is collected."""
        return self.dossier.server.ref.startswith(_INDEXED)

    @cached_property
    def listing(self) -> Listing | None:
        return self.parsed(listing.KIND, Listing.parse)

    @property
    def is_whole(self) -> bool:
        """Whether every declared list was read to the end."""
        return self.listing is not None and all(self.listing.list_of(name).end in _WHOLE for name in LISTS)

    def holds(self, kind: str) -> bool:
        """Whether there is evidence of a kind."""
        return isinstance(self.dossier.read(kind), Observed)

    def parsed(self, kind: str, parse: Callable[[bytes], Parsed]) -> Parsed | None:
        """The view of a kind; None if it is absent or cannot be parsed."""
        return self.dossier.parsed(kind, parse)


def measure_known_parts(look: EvidenceReader) -> tuple[Decimal, tuple[str, ...]]:
    """The share of the required parts that are known, and the names of the missing ones."""
    parts = {"the registry entry": look.holds(registration.KIND), "every list": look.is_whole}
    parts["the conversation"] = look.holds(exchanges.KIND)
    if look.is_remote:
        parts["its access"] = look.holds(access.KIND)
    elif look.is_indexed:
        parts["its package"] = look.holds(package.KIND)
    missing = tuple(name for name, there in parts.items() if not there)
    return Decimal(len(parts) - len(missing)) / len(parts), missing


def check_agreement(look: EvidenceReader, cards: Sequence[Scorecard]) -> Iterator[Check]:
    """All consistency conditions between receipts, catalogue and evidence.

    A condition on missing evidence does not hold: hidden evidence must not count as consistent.
    """
    for card in cards:
        yield Check(f"{card.rubric}@{card.version} follows from its lines", is_sound_receipt(card))
        yield Check(f"{card.rubric}@{card.version} cites the evidence that is shown", _cites(card, look.dossier))
    scored = {card.rubric for card in cards}
    for rubric in sorted({rubric.id for rubric in catalogue.list_rubrics()}):
        yield Check(f"there is a receipt of {rubric}", rubric in scored)
    yield Check("all receipts are of one ruleset", len({card.versions.get("ruleset") for card in cards}) == 1)
    yield from _between_kinds(look)


def is_sound_receipt(card: Scorecard) -> bool:
    """Whether a receipt's rubric is known and its score, weights, coverage and bounds follow from its own lines."""
    try:
        rubric = catalogue.get_rubric(card.rubric, card.version)
        recomputed = receipt.recompute_score(card)
    except (LookupError, ArithmeticError):  # an unknown rubric, no start, or no number
        return False
    if recomputed != card.score or rubric.source_version != card.source_version:
        return False
    if not rubric.dimensions:
        return True
    return {part.name: part.base_weight for part in card.dimensions} == {
        part.name: part.weight for part in rubric.dimensions
    } and _bounds_follow(card)


def _bounds_follow(card: Scorecard) -> bool:
    """Whether coverage and bounds follow from the components; a guaranteed value is its own floor."""
    if card.facts.get(receipt.FORMULA_FACT) == weighting.GUARANTEED:
        floor = card.score if isinstance(card.score, Decimal) else Decimal(0)
        coverage = weighting.compute_guaranteed_coverage(card.dimensions)
        return coverage == card.coverage and floor == card.floor <= card.ceiling
    return weighting.compute_coverage(card.dimensions) == card.coverage and weighting.compute_bounds(
        card.dimensions
    ) == (card.floor, card.ceiling)


def share_of_safe_tools_called(look: EvidenceReader) -> tuple[Decimal | None, str]:
    """The share of read-only tools with a conclusive call, and the same in words.

    None if no tool was called, or if there is no read-only tool.
    """
    tried = look.parsed(trials.KIND, Trials.parse)
    if tried is None or look.listing is None:
        return None, "no tool was called"
    read = {trial.index for trial in tried.trials if trial.authority == Authority.READ}
    called = {trial.index for trial in tried.answered if trial.kind == TrialKind.CALL} & read
    left = {other.index for other in tried.skipped if other.authority == Authority.READ}
    safe = read | left
    if not safe:
        return None, "it has no tool that is known only to read"
    count = len(safe) + tried.unlisted
    return Decimal(len(called)) / count, f"{len(called)} of {count} tools"


def _between_kinds(look: EvidenceReader) -> Iterator[Check]:
    if look.is_remote:
        gate = look.parsed(access.KIND, Access.parse)
        is_open = gate is not None and gate.access_class is AccessClass.OPEN
        yield Check("it is open, as its listing was read", look.listing is not None and is_open)
    elif look.is_indexed:
        found = look.parsed(package.KIND, Package.parse)
        exists = found is not None and found.exists and found.version_exists
        yield Check("its package exists, as it was started", look.listing is not None and exists)


def _cites(card: Scorecard, dossier: Dossier) -> bool:
    return {kind: record.digest for kind, record in dossier.records.items()} == dict(card.evidence)
