"""Identifies findings of Hallmark's own scans across runs: server, rule, place, message and content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from evidence.canonical import NotJson, canonical_json, sha256
from evidence.derive.poisoning import list_shown_texts
from evidence.kinds import access, alerts, drift, falls, handouts, listing, secrets
from evidence.kinds.drift import Change, Drift
from evidence.kinds.listing import Listing
from evidence.kinds.secrets import SecretLocation, Secrets
from evidence.model import Absent, Dossier
from evidence.store import DetectedFinding, FindingRow, FindingState
from publish.disclosure import ReviewedFindings, find_private_lines, private_rule_ids
from publish.views.server_summary import finding_lines
from scoring import receipt
from scoring.engine.rule import discover_rules
from scoring.results.outcome import Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.scopes import handout_texts

ID_PREFIX: Final = "fnd_"
DECIDED_STATES: Final = (FindingState.PUBLIC_DISCLOSED, FindingState.DISMISSED)

_CHANGING: Final = frozenset({access.KIND, falls.KIND})
_DIGITS: Final = 20
_SEPARATOR: Final = ": "
_WHOLE_SERVER: Final = "server"


def find_private_findings(dossier: Dossier, cards: Iterable[Scorecard]) -> tuple[DetectedFinding, ...]:
    """The findings behind the private lines of a server's receipts, each once, in the order of the receipts.

    A line without a known rule (a folded one) is no finding and stays withheld. Findings
    of the operator's own alerts and remarks that cost nothing are left out.
    """
    return identify_findings(dossier, (line for card in cards for line in find_private_lines(card)))


def decode_private_lines(body: bytes) -> Iterator[Line]:
    """The private lines of an encoded receipt that name their rule, as all lines of findings do."""
    return (line for line in finding_lines(receipt.decode_stored_scorecard(body)) if line.rule in private_rule_ids())


def identify_findings(dossier: Dossier, lines: Iterable[Line]) -> tuple[DetectedFinding, ...]:
    """The findings behind private lines, each once, in the order of the lines."""
    seen = _Seen(dossier)
    return tuple({one.id: one for line in lines if (one := seen.identify(line)) is not None}.values())


def match_reviews(dossier: Dossier, cards: Iterable[Scorecard], rows: Sequence[FindingRow]) -> ReviewedFindings:
    """The reviews of the private lines of these receipts, from the rows of this server.

    A review applies only if the line's finding has the reviewed identity; changed content is another finding.
    """
    states = {row.finding.id: row.state for row in rows}
    seen = _Seen(dossier)
    decided = [
        ((line.rule or "", line.at, line.why), states.get(one.id))
        for card in cards
        for line in find_private_lines(card)
        if (one := seen.identify(line)) is not None
    ]
    return ReviewedFindings(
        disclosed=frozenset(spot for spot, state in decided if state is FindingState.PUBLIC_DISCLOSED),
        dismissed=frozenset(spot for spot, state in decided if state is FindingState.DISMISSED),
    )


class _Seen:
    """Finds the evidence that a line is about."""

    def __init__(self, dossier: Dossier) -> None:
        self._dossier = dossier
        self._contents: dict[str, str] = {}  # many lines are about the same place, often the whole server

    def identify(self, line: Line) -> DetectedFinding | None:
        """The finding of a line; None if the line has none."""
        declared = discover_rules().get(line.rule or "")
        if declared is None or declared.id not in private_rule_ids() or declared.reads == alerts.KIND:
            return None
        if declared.severity is Severity.INFO:
            return None
        reads = declared.reads
        at = None
        if reads == secrets.KIND and (secret := self._secret(line)) is not None:
            place, words, content = secret.path, secret.pattern, secret.digest
            at = f"{secret.path}:{secret.line}"
        elif reads == drift.KIND and (change := self._changes.get(_below(drift.KIND, line.at))) is not None:
            place, words, content = change.at, line.why, change.after or ""
        elif reads == handouts.KIND and (text := self._handouts.get(line.at)) is not None:
            place, words, content = line.at, line.why, _digest([text])
        elif reads == listing.KIND:
            place, words = self._place(line)
            if place not in self._contents:
                self._contents[place] = self._text(place)
            content = self._contents[place] or line.evidence
        else:  # no digest of some kinds: each change of one would make another finding
            place, words, content = line.at, line.why, "" if reads in _CHANGING else line.evidence
        identity = canonical_json([self._dossier.server.id, declared.id, place, words, content])
        return DetectedFinding(
            id=f"{ID_PREFIX}{sha256(identity)[:_DIGITS]}",
            server=self._dossier.server.id,
            rule=declared.id,
            at=place if at is None else at,
            message=line.why,
            severity=line.severity,
            content=content,
        )

    def _place(self, line: Line) -> tuple[str, str]:
        """Place and message; a rule about the whole server names the place at the beginning of its message."""
        if line.at in {"", _WHOLE_SERVER}:
            place, separator, words = line.why.partition(_SEPARATOR)
            while separator:
                if place in self._texts:
                    return place, words
                more, separator, words = words.partition(_SEPARATOR)
                place = f"{place}{_SEPARATOR}{more}"
        return line.at, line.why

    def _text(self, place: str) -> str:
        """Digest of the text at a place, or of all texts below it; empty if the place is not found."""
        if place in self._texts:
            return _digest([self._texts[place]])
        around = "" if place in {"", _WHOLE_SERVER} else f"{place}/"
        below = [text for at, text in self._texts.items() if at.startswith(around)]
        return _digest(below) if below else ""

    def _secret(self, line: Line) -> SecretLocation | None:
        """The secret at the line's place; it is identified by its path, since line numbers change with edits."""
        where = _below(secrets.KIND, line.at)
        at = [one for one in self._secrets if where in {f"{one.path}/{one.line}", f"{one.path}:{one.line}"}]
        return next((one for one in at if line.why.startswith(one.pattern)), at[0] if at else None)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        seen = self._dossier.parsed(listing.KIND, Listing.parse)
        found: dict[str, list[str]] = {}
        for place, _, text in list_shown_texts(seen) if seen else ():
            found.setdefault(place, []).append(text)
        return {place: "\0".join(parts) for place, parts in found.items()}

    @cached_property
    def _handouts(self) -> Mapping[str, str]:
        """The texts that the server handed out, by their place."""
        body = self._body(handouts.KIND)
        try:
            things = (
                [one for kind in handout_texts.SCOPES for one in handout_texts.build_handout_scopes(kind, body)]
                if body
                else []
            )
        except NotJson:
            return {}
        return {thing.at: thing.handed.text for thing in things}

    @cached_property
    def _secrets(self) -> tuple[SecretLocation, ...]:
        found = self._dossier.parsed(secrets.KIND, Secrets.parse)
        return found.counting if found else ()

    @cached_property
    def _changes(self) -> Mapping[str, Change]:
        found = self._dossier.parsed(drift.KIND, Drift.parse)
        return {_unescaped(change.at): change for change in (found.changes if found else ())}

    def _body(self, kind: str) -> bytes:
        content = self._dossier.read(kind)
        return b"" if isinstance(content, Absent) else content.body


def _below(kind: str, at: str) -> str:
    """The place within a kind of evidence that a line's path names."""
    return _unescaped(at.removeprefix(f"{kind}/"))


def _unescaped(at: str) -> str:
    """A path as the evidence writes it; a place that is a path itself was escaped once more."""
    for _ in range(2):
        at = at.replace("~2", "@").replace("~1", "/").replace("~0", "~")
    return at


def _digest(parts: Iterable[str]) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
