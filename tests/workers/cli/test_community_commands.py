"""`hallmark disputes`, `tokens`, `control` and `audit`: decisions of operators and their audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest

from evidence.store import Store, open_store
from evidence.store.community.claim_values import ProofMethod
from publish.community import claims, disputes, tokens
from publish.community.disputes import DisputeFiler, DisputeText, FiledDispute
from publish.community.limits import CommunityLimits
from scoring import receipt
from scoring.example_builders import listing
from scoring.results.scorecard import Line
from tests.publish.samples import RUN
from tests.workers.cli.conftest import Hallmark
from workers.settings.environment import read_settings

NOW = datetime(2026, 11, 22, tzinfo=UTC)
WHY = "The description has thirty words; the rule reads the first line only.\x1b[31m"


@contextmanager
def opened() -> Iterator[Store]:
    with closing(open_store(read_settings().store_url)) as store:
        yield store


def tool_line(store: Store) -> tuple[str, str, Line]:
    """A server, a rubric and a line of it about one of its tools."""
    store.listing.write_listing(RUN.id, [], lambda: b"{}")
    for card in store.read_scorecards(RUN.id):
        for line in receipt.decode_scorecard(card.body).lines:
            if line.at.startswith("tools/") and line.at.count("/") == 1:
                return card.server, card.rubric, line
    raise AssertionError("no line about a tool")


@pytest.fixture
def filed(hallmark: Hallmark, stored: Sequence[str]) -> tuple[str, Line]:
    """The id of a dispute, and its line."""
    with opened() as store:
        server, rubric, line = tool_line(store)
        words = DisputeText(
            server=server, rubric=rubric, cites=line.cites, at=line.at, reason=WHY, contact="me@example.com"
        )
        asked = disputes.file_dispute(store, CommunityLimits(), NOW, words, DisputeFiler(client="anyone:1"))
    assert isinstance(asked, FiledDispute)
    return asked.dispute.id, line


def test_an_accepted_dispute_leaves_an_example_of_the_rule(hallmark: Hallmark, filed: tuple[str, Line]) -> None:
    number, line = filed
    (listed,) = hallmark("disputes", "list", "--state", "open", "--json").rows
    assert (listed["id"], listed["at"], listed["contact"]) == (number, line.at, "me@example.com")
    table = hallmark("disputes", "list")
    assert "open, unread" in table.out
    assert "\x1b" not in table.out
    accepted = hallmark("disputes", "accept", number[:8], "--answer", "mended", "--by", "ann", "--example")
    assert accepted.code == 0
    comment, where, *code = accepted.out.splitlines()
    assert f"good= of {line.rule or line.cites}" in comment
    assert number in where
    made = eval("\n".join(code).rstrip(","), {"build_tool": listing.build_tool})  # what was printed is Python
    assert made.at == line.at
    shown = hallmark("disputes", "show", number, "--json").rows[0]
    assert (shown["state"], shown["answer"], shown["shown"]) == ("accepted", "mended", True)
    assert [one["after"] for one in shown["trail"]] == ["accepted"]
    assert "me@example.com" in hallmark("disputes", "show", number).out


def test_a_dispute_is_decided_one_step_at_a_time(hallmark: Hallmark, filed: tuple[str, Line]) -> None:
    number, _ = filed
    assert hallmark("disputes", "reject", number, "--answer", " ", "--by", "ann").code == 2
    assert hallmark("disputes", "reopen", number, "--by", "ann").code == 2
    assert hallmark("disputes", "show", number, "--public", "--by", "ann").code == 0
    assert hallmark("disputes", "reject", number, "--answer", "it is right", "--by", "ann").code == 0
    wrong = hallmark("disputes", "accept", number, "--by", "ann")
    assert (wrong.code, "may become open" in wrong.err) == (1, True)
    assert hallmark("disputes", "reopen", number, "--by", "ben", "--note", "new facts").code == 0
    assert hallmark("disputes", "drop", number, "--by", "ben").code == 0
    assert hallmark("disputes", "show", "dsp_none").code == 3
    acts = hallmark("audit", number, "--json").rows
    assert [(one["who"], one["what"]) for one in acts] == [
        ("ben", "dispute.drop"),
        ("ben", "dispute.reopen"),
        ("ann", "dispute.reject"),
        ("ann", "dispute.show"),
    ]
    assert "dispute.drop" in hallmark("audit").out


def test_a_token_is_shown_once_and_ended(hallmark: Hallmark, stored: Sequence[str]) -> None:
    made = hallmark("tokens", "new", "--scope", "admin:disputes", "--name", "triage bot", "--by", "ann")
    text = made.out.strip()
    assert text.startswith("hmk_")
    with opened() as store:
        bearer = tokens.authenticate_token(store, text, NOW)
    assert bearer is not None
    assert (bearer.name, bearer.may("admin:disputes"), bearer.may("admin:audit")) == ("triage bot", True, False)
    (listed,) = hallmark("tokens", "list", "--json").rows
    assert (listed["name"], listed["counts"]) == ("triage bot", True)
    assert text.split("_", 2)[2] not in hallmark("tokens", "list", "--all").out + hallmark("audit", "--json").out
    assert hallmark("tokens", "revoke", str(listed["id"]), "--by", "ann").code == 0
    assert hallmark("tokens", "revoke", str(listed["id"]), "--by", "ann").code == 3
    with opened() as store:
        assert tokens.authenticate_token(store, text, NOW) is None


@pytest.mark.parametrize(
    "wrong",
    [
        ("--scope", "owner:srv_1", "--name", "x"),
        ("--scope", "admin:everything", "--name", "x"),
        ("--scope", "admin:audit", "--name", "a\nb"),
    ],
)
def test_a_token_for_anything_else_is_refused(hallmark: Hallmark, stored: Sequence[str], wrong: Sequence[str]) -> None:
    assert hallmark("tokens", "new", *wrong, "--by", "ann").code == 2
    assert hallmark("tokens", "list", "--json").rows == []


def test_claims_are_listed_and_withdrawn(hallmark: Hallmark, stored: Sequence[str]) -> None:
    with opened() as store:
        server = store.list_active_servers()[0]
        started = claims.start_claim(store, CommunityLimits(), NOW, server, way=ProofMethod.SERVER, client="anyone:1")
    assert isinstance(started, claims.ClaimWithToken)
    (listed,) = hallmark("control", "list", "--json").rows
    assert (listed["id"], listed["state"]) == (started.claim.id, "waiting")
    assert hallmark("control", "withdraw", started.claim.id, "--by", "ann").code == 0
    assert hallmark("control", "withdraw", started.claim.id, "--by", "ann").code == 3
    assert hallmark("control", "list", "--json").rows == []
    assert "0 re-tests, 0 proofs checked, 0 messages sent" in hallmark("attend").err
    assert hallmark("control", "webhooks").code == 0
