"""Behaviour as a page shows it."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from evidence.kinds import behaviour
from evidence.kinds.behaviour import Behaviour, Contact, Decoy
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server
from publish.views.evidence.behaviour import MAX_FACTS, view_behaviour

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SERVER = Server(ref="npm:x", name="x")


def dossier(content: Observed | Absent, listed: Observed | Absent | None = None) -> Dossier:
    """A dossier with that behaviour, and perhaps a listing."""
    record = Record(
        server=SERVER.id, kind=behaviour.KIND, schema=behaviour.SCHEMA, collector="protocol", collector_version=1,
        observed_at=NOON, content=content,
    )  # fmt: skip
    records = {behaviour.KIND: record}
    if listed is not None:
        records["listing"] = replace(record, kind="listing", content=listed)
    return Dossier(server=SERVER, as_of=NOON, records=records)


def facts(seen: Behaviour) -> dict[str, str]:
    part = view_behaviour(dossier(seen.observed()))
    assert part is not None
    return dict(part.facts)


def test_everything_is_shown_without_a_verdict() -> None:
    shown = facts(
        Behaviour(
            contacts=(Contact("/run/x.sock"), Contact("::1", 80), Contact("192.0.2.1", 443)),
            names=("a.example", "b.example"),
            programs=("git",),
            decoys=(Decoy(".bashrc", changed=True), Decoy(".ssh/id_rsa")),
        )
    )
    assert shown == {
        "Hosts asked for by name": "a.example, b.example",
        "Addresses and sockets": "/run/x.sock, [::1]:80, 192.0.2.1:443",
        "Programs it tried to start": "git",
        "Files opened for writing, refused": "none",
        "Bait files in its home": ".bashrc (changed), .ssh/id_rsa (opened)",
    }


def test_unwatched_is_not_none() -> None:
    assert facts(Behaviour())["Bait files in its home"] == "not watched"
    assert facts(Behaviour(decoys=()))["Bait files in its home"] == "none"


def test_long_lists_say_what_is_left_out() -> None:
    shown = facts(Behaviour(names=tuple(f"h{number:03}.example" for number in range(MAX_FACTS + 3)), cut=True))
    assert shown["Hosts asked for by name"].endswith(", and 3 more")
    assert shown["Not complete"] == "more was observed than is stored"


def test_remote_server_has_no_such_part() -> None:
    assert view_behaviour(dossier(Absent(Reason.TRANSPORT_UNSUPPORTED))) is None


def test_reason_is_said_once() -> None:
    refused = Absent(Reason.SANDBOX_RESTRICTED, "no box")
    assert view_behaviour(dossier(refused, refused)) is None
    part = view_behaviour(dossier(refused, Observed(b"{}")))
    assert part is not None
    assert part.absent == refused


def test_broken_body_of_ours_shows_nothing() -> None:
    assert view_behaviour(dossier(Observed(b"{"))) is None
