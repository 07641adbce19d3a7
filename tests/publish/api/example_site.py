"""The installation that the examples of the API are asked, and the recorder of its answers.

python -m tests.publish.api.example_site --write
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import replace
from starlette.testclient import TestClient

from evidence.kinds import listing
from evidence.model import Dossier, Observed, Server, Target, TargetType, Trigger
from evidence.store import Retest, Store, open_store
from evidence.store.community.claim_values import Claim, ClaimLimits, ProofMethod
from evidence.store.community.dispute_values import Dispute, DisputedLine, DisputeLimits
from evidence.store.community.webhook_values import Webhook
from evidence.store.decisions.audit_trail import AuditEntry
from publish.api.app import BASE_PATH
from publish.api.examples import ORIGIN, RECORDED, ExampleRequest, cut_lists, make_request
from publish.api.guide import make_openapi_document
from publish.app import create_app
from publish.community.tokens import ADMIN_SCOPES, create_token, owner_scope
from publish.publication.listing_writer import write_listing
from tests.publish import samples
from tests.publish.community.retest_backend import RetestBackend
from tests.publish.filled_stores import fill
from tests.publish.site.plain_backend import NOW

RUN: Final = replace(samples.RUN, id="20260301T030000Z-nightly", trigger=Trigger.NIGHTLY)
EARLIER: Final = replace(RUN, id="20260228T030000Z-nightly", as_of=RUN.as_of - timedelta(days=1))
NOT_RECORDED: Final = frozenset({"listDatasets"})
"""Operations of which the installation has nothing to show."""

_AFTER: Final = {"optIn": "optOut"}
"""Operations that another one makes possible."""

_MADE_UP: Final = (
    (re.compile(r'"(dsp|whk|clm)_[0-9a-f]{16}"'), r'"\1_0123456789abcdef"'),
    (re.compile(r"(hallmark-control=srv_[0-9a-f]{20})\.[0-9a-f]+"), r"\1.CHALLENGE"),
    (re.compile(r'"(hmk|whsec)_[^"]+"'), r'"\1_SECRET"'),
)
"""Random parts of answers, and what stands for them."""

_DAY: Final = timedelta(days=1)
_TOOLS: Final = (
    {"name": "search", "title": "Search notes", "inputSchema": {"type": "object"}},
    {"name": "create_note", "description": "Creates a note. Use it for text that must be kept."},
)


@dataclass(frozen=True, slots=True)
class ExampleSite:
    """A client of the installation, and a token that may do everything."""

    client: TestClient
    token: str

    def ask(self, request: ExampleRequest) -> Any:
        """The response to a request."""
        headers = {"Authorization": f"Bearer {self.token}"} if request.needs_token else {}
        sent = json.loads(request.body) if request.body else None
        return self.client.request(request.method, request.url.removeprefix(ORIGIN), json=sent, headers=headers)


def list_requests() -> Iterator[tuple[str, ExampleRequest, dict[str, Any]]]:
    """Each operation of the OpenAPI document: its id, its request and itself."""
    for path, methods in make_openapi_document()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], make_request(BASE_PATH, method, path, operation), operation


@contextmanager
def open_example_site(folder: Path) -> Iterator[ExampleSite]:
    """A new installation in an empty folder."""
    store = open_store(f"sqlite:///{folder}/example.db")
    store.migrate()
    server = _publish(store)
    _add_requests(store, server)
    minted = create_token("ana", (*ADMIN_SCOPES, owner_scope(server.id)), now=NOW)
    store.api_tokens.put_token(minted.token, AuditEntry(at=NOW, who="op", what="token.new", subject="tok_example"))
    with TestClient(create_app(store, RetestBackend(store=store)), follow_redirects=False) as client:
        yield ExampleSite(client, minted.text)
    store.close()


def ask_all(folder: Path) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """The id, the description and the response of each operation; one that changes something has its own site."""
    requests = list(list_requests())
    with open_example_site(folder) as site:
        for name, request, operation in requests:
            if request.method == "GET":
                yield name, operation, site.ask(request)
    for name, request, operation in requests:
        if request.method != "GET":
            (own := folder / name).mkdir()
            with open_example_site(own) as site:
                if name in _AFTER:
                    site.ask(next(other for known, other, _ in requests if known == _AFTER[name]))
                yield name, operation, site.ask(request)


def read_answer(answer: Any) -> Any:
    """The JSON of a response as an example shows it: with lists cut, and without random parts."""
    text = answer.text
    for pattern, replacement in _MADE_UP:
        text = pattern.sub(replacement, text)
    return cut_lists(json.loads(text))


def record_answers(folder: Path) -> dict[str, Any]:
    """The answers of the operations with lists cut."""
    answers = {name: answer for name, _, answer in ask_all(folder) if answer.content and name not in NOT_RECORDED}
    failed = {name: answer.text for name, answer in answers.items() if not answer.is_success}
    assert not failed, failed
    return {name: read_answer(answer) for name, answer in sorted(answers.items())}


def _publish(store: Store) -> Server:
    dossier = _make_dossier()
    fill(store, [replace(dossier, as_of=EARLIER.as_of)], EARLIER)
    fill(store, [dossier], RUN)
    write_listing(store, RUN)
    return dossier.server


def _make_dossier() -> Dossier:
    made = samples.dossiers(1)[0]
    server = Server(
        ref="npm:@example/notes",
        name="com.example/notes",
        targets=(Target(type=TargetType.NPM, identifier="@example/notes", version="1.0.0"),),
        seen_in=("official",),
        repository="https://git.example/notes",
    )
    record = made.records[listing.KIND]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    body["opening"]["instructions"] = "Reads and writes notes."
    body["opening"]["serverInfo"] = {"name": "notes", "version": "1.0.0"}
    body["lists"]["tools"]["pages"] = [{"tools": list(_TOOLS)}]
    listed = replace(record, server=server.id, content=Observed(json.dumps(body).encode()))
    return replace(made, server=server, records={listing.KIND: listed})


def _add_requests(store: Store, server: Server) -> None:
    """A re-test, a dispute, a claim and a webhook with the ids of the examples."""
    act = AuditEntry(at=NOW, who="op", what="webhook.new", subject="whk_0123456789abcdef")
    store.retests.request_retest(
        Retest(id="20260301T090000Z-0123456789ab", server=server.id, client="anyone:x", asked_at=NOW)
    )
    line = DisputedLine(
        server=server.id,
        run=RUN.id,
        rubric="lint",
        version=1,
        cites="tool-no-description",
        at="tools/search",
        why="no description",
        rule="tool-no-description-rule",
    )
    dispute = Dispute(id="dsp_0123456789abcdef", line=line, reason="The title says it.", client="x", filed_at=NOW)
    store.disputes.put_dispute(dispute, DisputeLimits(of_client=9, since=NOW - _DAY, of_server=9, of_line=9))
    claim = Claim(
        id="clm_0123456789abcdef",
        server=server.id,
        way=ProofMethod.SERVER,
        place="server",
        challenge=f"hallmark-control={server.id}.{'0f' * 16}",
        client="x",
        asked_at=NOW,
        due_at=NOW,
    )
    owner = create_token("its owner", (owner_scope(server.id),), now=NOW)
    store.claims.put_claim(claim, owner.token, ClaimLimits(9, NOW - _DAY, 9, NOW - _DAY))
    webhook = Webhook(
        id="whk_0123456789abcdef", server=server.id, url="https://ci.example/hallmark", token=None, made_at=NOW
    )
    store.webhooks.put_webhook(webhook, 9, act)


if __name__ == "__main__":
    assert sys.argv[1:] == ["--write"], __doc__
    RECORDED.write_text("{}")  # a merge may have left it unreadable
    with TemporaryDirectory() as folder:
        RECORDED.write_text(json.dumps(record_answers(Path(folder)), indent=1, ensure_ascii=False) + "\n")
