"""A store in which a word stands wherever something is private, another one for each reason why it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from evidence.kinds import access, listing
from evidence.model import (
    Dossier,
    Observed,
    Record,
    Run,
    Server,
    ServerRef,
    Status,
    Target,
    TargetType,
    Trigger,
)
from evidence.store import (
    Disclosure,
    FindingState,
    OptOut,
    OptOutScope,
    Retest,
    RetestState,
    RunAction,
    RunEvent,
    RunState,
    Store,
)
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community import disputes, tokens
from publish.community.disputes import DisputeFiler, DisputeText, FiledDispute
from publish.community.limits import CommunityLimits
from publish.disclosure import PRIVATE_KINDS, private_rule_ids
from publish.findings.identity import find_private_findings
from publish.publication.listing_writer import write_listing
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results.scorecard import Line, Scorecard
from tests.publish import projects, samples
from tests.publish.filled_stores import stored

FOUND: Final = "zzfoundzz"
"""In evidence of private kinds, and in the lines of undisclosed findings."""
UNPUBLISHED: Final = "zzunpublishedzz"
"""In what servers said in nights that were not published."""
UNSHOWN: Final = "zzunshownzz"
"""In everything about servers that ran without a sandbox or with credentials."""
GONE: Final = "zzgonezz"
"""In everything about a server that opted out since."""
PRIVATE: Final = "zztolduszz"
"""In private texts of visitors and operators: reasons not reviewed yet, contacts, notes, names of tokens."""
WORDS: Final = (FOUND, UNPUBLISHED, UNSHOWN, GONE, PRIVATE)

BEFORE: Final = replace(samples.RUN, id="20260228T030000Z-nightly", as_of=samples.AS_OF - timedelta(days=1))
NIGHT: Final = replace(samples.RUN, id="20260301T030000Z-nightly")
AGAIN: Final = replace(
    samples.RUN, id="20260301T090000Z-retest", trigger=Trigger.RETEST, as_of=samples.AS_OF + timedelta(hours=6)
)
WITHHELD: Final = replace(samples.RUN, id="20260302T030000Z-nightly", as_of=samples.AS_OF + timedelta(days=1))
LIMITS: Final = CommunityLimits()


@dataclass(frozen=True)
class Planted:
    """What there is to ask for, and what no answer may hold."""

    marked: Dossier
    plain: Sequence[Dossier]
    gone: Server
    runs: Sequence[str]
    retest: str
    dispute: str
    traces: dict[str, str]

    @property
    def servers(self) -> list[str]:
        """Ids of all servers, those that are not shown too."""
        return [self.marked.server.id, *(dossier.server.id for dossier in self.plain), self.gone.id]


def plant(store: Store) -> Planted:
    """Two published nights, a re-test, and a night that is withheld; with findings, a dispute and notes about them."""
    marked = projects.with_project(samples.dossiers(1)[0], private=FOUND)
    marked = replace(marked, records={**marked.records, access.KIND: _access(marked)})
    plain, hidden = samples.dossiers(3)[1:], [_unsandboxed(), _entered(), _named(GONE)]
    everybody = [marked, *plain, *hidden]
    for run in (BEFORE, NIGHT):
        _night(store, [replace(dossier, as_of=run.as_of) for dossier in everybody], run)
    _retest(store, marked)
    _withheld(store, [_saying(marked, UNPUBLISHED), *plain])
    store.opt_outs.add_opt_out(
        OptOut(scope=OptOutScope.SERVER, value=_named(GONE).server.id, at=WITHHELD.as_of, who=PRIVATE, note=PRIVATE)
    )
    return Planted(
        marked=marked,
        plain=plain,
        gone=_named(GONE).server,
        runs=[run.id for run in (BEFORE, NIGHT, AGAIN, WITHHELD)],
        retest="r1",
        dispute=_people(store, marked),
        traces={**_forms(), **_evidence(marked), **{row.finding.id: "finding" for row in store.read_findings()}},
    )


def _night(store: Store, dossiers: Sequence[Dossier], run: Run) -> None:
    _scored(store, dossiers, run)
    store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)
    write_listing(store, run)


def _scored(store: Store, dossiers: Sequence[Dossier], run: Run) -> None:
    """Collected and scored under every methodology, with the findings of the first server in private triage."""
    store.add_run(run)
    refs = [(one.server, _ref(one.server)) for one in dossiers]
    store.put_registry_page(run.id, "starter", refs, cursor=None, done=True, at=run.as_of)
    ids = [one.server.id for one in dossiers]
    store.plan_run(run.id, ids, run.as_of)
    store.put_records(run.id, [it for one in dossiers for it in one.records.values()], done=ids, at=run.as_of)
    for number, dossier in enumerate(dossiers):
        assessment = assess_dossier(dossier)
        cards = [rubric.score(assessment) for rubric in catalogue.list_rubrics()]
        cards = [_with_lines(card) for card in cards] if number == 0 else cards
        store.put_scorecards(run.id, [stored(card) for card in cards], done=[dossier.server.id], at=run.as_of)
        store.put_findings(find_private_findings(dossier, cards), run.as_of)


def _ref(server: Server) -> ServerRef:
    return ServerRef(registry="starter", name=server.name, version="1.0.0", status=Status.ACTIVE, entry=b"{}")


def _with_lines(card: Scorecard) -> Scorecard:
    """The receipt with a line of every private rule at every level, and with what repeats such a line."""
    lines = tuple(_line(rule) for rule in sorted(private_rule_ids()))
    parts = tuple(
        replace(
            part,
            lines=(*part.lines, *lines),
            components=tuple(replace(one, lines=(*one.lines, *lines)) for one in part.components),
        )
        for part in card.dimensions
    )
    outline = {"caveats": (*card.caveats, lines[0].why), "facts": {**card.facts, "worst": lines[-1].why}}
    return replace(card, lines=(*card.lines, *lines), dimensions=parts, **outline)  # type: ignore[arg-type]


def _line(rule: str) -> Line:
    return Line(
        cites="x", points=Decimal(0), why=f"{FOUND} {rule}", rule=rule, at=f"tools/{FOUND}", severity="error",
        evidence="e" * 64,
    )  # fmt: skip


def _retest(store: Store, marked: Dossier) -> None:
    store.retests.request_retest(Retest(id="r1", server=marked.server.id, client=PRIVATE, asked_at=AGAIN.as_of))
    _scored(store, [replace(marked, as_of=AGAIN.as_of)], AGAIN)
    store.retests.admit_retest("r1", AGAIN.id, AGAIN.as_of)
    store.set_run_state(AGAIN.id, RunState.DONE, AGAIN.as_of)
    store.retests.finish_retest("r1", RetestState.DONE, AGAIN.as_of)


def _withheld(store: Store, dossiers: Sequence[Dossier]) -> None:
    _scored(store, dossiers, WITHHELD)
    for what, who in ((RunAction.PAUSED, PRIVATE), (RunAction.RESUMED, PRIVATE), (RunAction.WITHHELD, "hallmark")):
        note = "too many failures of our own" if who == "hallmark" else PRIVATE
        store.apply_run_action(WITHHELD.id, RunEvent(at=WITHHELD.as_of, who=who, what=what, note=note))


def _people(store: Store, marked: Dossier) -> str:
    """A dispute without a review, a token, and notes in the trail of a finding."""
    at = WITHHELD.as_of
    first = store.read_findings()[0].finding.id
    for before, after in (
        (FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_TRIAGE),
        (FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED),
    ):
        store.transition_finding(
            first, Disclosure(at=at, who=PRIVATE, before=before, after=after, note=PRIVATE, recipient=PRIVATE)
        )
    minted = tokens.create_token(PRIVATE, (tokens.ADMIN_AUDIT,), now=at)
    store.api_tokens.put_token(minted.token, AuditEntry(at=at, who=PRIVATE, what="token.new", subject=minted.token.id))
    card = next(
        card for card in store.read_scorecards(NIGHT.id, servers=[marked.server.id], rubric="lint") if card.version
    )
    line = next(line for line in receipt.decode_scorecard(card.body).lines if line.rule not in private_rule_ids())
    words = DisputeText(
        server=marked.server.id, rubric="lint", cites=line.cites, at=line.at,
        reason=f"{PRIVATE} this line is about another tool", contact=f"{PRIVATE}@example.com",
    )  # fmt: skip
    filed = disputes.file_dispute(store, LIMITS, at, words, DisputeFiler(client=PRIVATE, owns=False))
    assert isinstance(filed, FiledDispute), filed
    return filed.dispute.id


def _access(dossier: Dossier) -> Record:
    """A gate that any token opens: the hole that its owner may not know of."""
    body = {
        "registered": dossier.server.ref, "class": "gated_at_connect",
        "gate": {"step": "initialize", "era": "modern", "status": 401, "reason": "oauth_required", "detail": ""},
        "versions": {}, "answers": [], "challenges": [], "resource_metadata": [], "authorization_servers": [],
        "bogus": {"step": "initialize", "status": 200, "outcome": "accepted", "detail": FOUND}, "cut": [],
    }  # fmt: skip
    content = Observed(json.dumps(body).encode())
    return replace(
        dossier.records[listing.KIND], kind=access.KIND, content=content, observation={"statuses": {FOUND: 200}}
    )


def _unsandboxed() -> Dossier:
    found = samples.unsandboxed_dossier()
    return _renamed(found, replace(found.server, ref=f"command:{UNSHOWN}", name=UNSHOWN))


def _entered() -> Dossier:
    """A server that was entered with credentials of its operator."""
    found = _named(f"{UNSHOWN}-entered")
    seen = found.records[listing.KIND]
    return replace(found, records={**found.records, listing.KIND: replace(seen, observation={"credentials": "bearer"})})


def _named(name: str) -> Dossier:
    """A whole server that has a word in its name, its address and its texts."""
    target = Target(type=TargetType.STREAMABLE_HTTP, identifier=f"https://{name}.example/mcp")
    server = Server(ref=target.identifier, name=f"com.example/{name}", targets=(target,), seen_in=("starter",))
    return _saying(_renamed(samples.dossiers(1)[0], server), name)


def _renamed(dossier: Dossier, server: Server) -> Dossier:
    records = {kind: replace(record, server=server.id) for kind, record in dossier.records.items()}
    return replace(dossier, server=server, records=records)


def _saying(dossier: Dossier, word: str) -> Dossier:
    """The dossier of a server whose instructions hold a word."""
    seen = dossier.records[listing.KIND]
    assert isinstance(seen.content, Observed)
    body = json.loads(seen.content.body)
    body["opening"]["instructions"] = f"{word} is said here"
    content = Observed(json.dumps(body).encode())
    return replace(dossier, records={**dossier.records, listing.KIND: replace(seen, content=content)})


def _evidence(marked: Dossier) -> dict[str, str]:
    """Digests of what is private, by which a reader could confirm a guess, and addresses of the operator's own."""
    private = {kind: record for kind, record in marked.records.items() if kind in {*PRIVATE_KINDS, access.KIND}}
    digests = {record.content.digest: f"digest of {kind}" for kind, record in private.items()}
    canonical = {
        record.content.canonical: f"canonical digest of {kind}"
        for kind, record in private.items()
        if isinstance(record.content, Observed) and record.content.canonical
    }
    return {**digests, **canonical, "index.internal": "address of an index", "e" * 64: "digest of a line"}


def _forms() -> dict[str, str]:
    """Every word as it is, and as encodings of it would look."""
    found = {}
    for word in WORDS:
        data = word.encode()
        found[word] = word
        found[data.hex()] = f"{word} in hexadecimal"
        found["".join(f"\\u{ord(letter):04x}" for letter in word)] = f"{word} escaped"
        for shift in range(3):
            inner = base64.b64encode(b"\0" * shift + data)[4 if shift else 0 :].rstrip(b"=")[:-2]
            found[inner.decode()] = f"{word} in base64"
    return found
