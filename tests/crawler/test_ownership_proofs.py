"""A proof is found on a line of its own at the expected place, or it is missing, or it could not be checked."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from crawler.collectors.repository import GitHub
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.ownership_proofs import (
    DnsRecords,
    ProofFinder,
    ProofFound,
    ProofMissing,
    ProofNotChecked,
    ProofPlace,
    ProofResult,
)
from evidence.model import Absent, Reason
from evidence.store.community.claim_values import ProofMethod
from tests.servers.github.server import serve
from tests.servers.github.world import Answer, Fault
from tests.servers.grounds import name_server, website

CHALLENGE = "hallmark-control=srv_0.0123456789abcdef"
WELL_KNOWN = "/.well-known/hallmark.txt"
SPLIT = "x" * 300


@dataclass
class Kept:
    """Files of repositories by name and path; everything else is not there."""

    files: Mapping[tuple[str, str], bytes | Absent] = field(default_factory=dict)

    async def file(self, name: str, path: str) -> bytes | Absent:
        return self.files.get((name, path), Absent(Reason.NO_REPOSITORY, "HTTP 404"))


def engine(*, allow_private: bool = True) -> HttpEngine:
    return HttpEngine(user_agent="hallmark/test", guard=AddressGuard(allow_private=allow_private))


def look(way: ProofMethod, place: str, grounds: ProofFinder | None = None) -> ProofResult:
    content = asyncio.run((grounds or ProofFinder(engine(), Kept())).read(way, place))
    return content.judge(CHALLENGE) if isinstance(content, ProofPlace) else content


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, CHALLENGE, ProofFound),
        (200, f"# ours\r\n  {CHALLENGE}  \r\nother", ProofFound),
        (200, f"you asked for {CHALLENGE}", ProofMissing),
        (200, CHALLENGE + "0", ProofMissing),
        (200, f"<p>{CHALLENGE}</p>", ProofMissing),
        (404, CHALLENGE, ProofMissing),
        (403, CHALLENGE, ProofMissing),
        (429, CHALLENGE, ProofNotChecked),
        (503, CHALLENGE, ProofNotChecked),
        (200, "x" * 70_000 + "\n" + CHALLENGE, ProofNotChecked),
    ],
)
def test_a_file_proves_control_on_a_line_of_its_own(status: int, body: str, expected: type[ProofResult]) -> None:
    with website() as site:
        site.pages[WELL_KNOWN] = (status, body.encode())
        assert isinstance(look(ProofMethod.WELL_KNOWN, site.url + WELL_KNOWN), expected)
        assert site.asked == [WELL_KNOWN]


def test_a_redirect_proves_nothing_and_is_not_followed() -> None:
    with website() as site, website() as other:
        other.pages["/"] = (200, CHALLENGE.encode())
        site.pages[WELL_KNOWN] = (302, b"")
        site.headers["Location"] = other.url + "/"
        assert isinstance(look(ProofMethod.WELL_KNOWN, site.url + WELL_KNOWN), ProofMissing)
        assert other.asked == []


def test_a_private_address_is_not_contacted() -> None:
    with website() as site:
        site.pages[WELL_KNOWN] = (200, CHALLENGE.encode())
        careful = ProofFinder(engine(allow_private=False), Kept())
        assert isinstance(look(ProofMethod.WELL_KNOWN, site.url + WELL_KNOWN, careful), ProofNotChecked)
        assert site.asked == []


def test_a_record_proves_control_of_exactly_its_name() -> None:
    records = {"_hallmark.a.example": ["v=spf1", CHALLENGE], "_hallmark.b.example": [SPLIT, CHALLENGE + "x"]}
    with name_server(records) as port:
        grounds = ProofFinder(engine(), Kept(), DnsRecords(["127.0.0.1"], port))
        assert look(ProofMethod.DNS, "_hallmark.a.example", grounds) == ProofFound()
        missing = look(ProofMethod.DNS, "_hallmark.b.example", grounds)
        assert isinstance(missing, ProofMissing)
        assert "has 2 TXT records" in missing.note
        assert isinstance(look(ProofMethod.DNS, "_hallmark.c.a.example", grounds), ProofMissing)
        assert isinstance(look(ProofMethod.DNS, "_hallmark.broken.example", grounds), ProofNotChecked)
        assert asyncio.run(DnsRecords(["127.0.0.1"], port).texts("_hallmark.b.example")) == [SPLIT, CHALLENGE + "x"]


def test_a_repository_proves_control_by_its_file_or_its_readme() -> None:
    def sight(**files: bytes | Absent) -> ProofResult:
        known = {("o/r", {"file": ".well-known/hallmark.txt", "readme": ""}[name]): one for name, one in files.items()}
        return look(ProofMethod.REPOSITORY, "o/r", ProofFinder(engine(), Kept(known)))

    limited = Absent(Reason.RATE_LIMITED, "the quota is used up")
    assert sight(file=CHALLENGE.encode()) == ProofFound()
    assert sight(readme=f"# Title\n\n`{CHALLENGE}`\n".encode()) == ProofFound()
    assert sight(file=b"else", readme=CHALLENGE.encode()) == ProofFound()
    assert isinstance(sight(), ProofMissing)
    assert isinstance(sight(file=b"else"), ProofMissing)
    assert isinstance(sight(file=limited), ProofNotChecked)
    assert isinstance(sight(readme=limited), ProofNotChecked)
    assert sight(file=CHALLENGE.encode(), readme=limited) == ProofFound()


def test_github_gives_a_file_and_the_readme() -> None:
    def content(text: str) -> Answer:
        return Answer(200, {"encoding": "base64", "content": base64.encodebytes(text.encode()).decode()})

    async def read() -> list[bytes | Absent]:
        with serve() as local:
            local.world.faults += [
                Fault("/repos/o/r/contents/.well-known/hallmark.txt", lambda: content(CHALLENGE)),
                Fault("/repos/o/r/readme", lambda: Answer(200, [{"name": "a folder"}])),
            ]
            github = GitHub(local.api, (), now=lambda: datetime.now(UTC), user_agent="test")
            try:
                asked = (("o/r", ".well-known/hallmark.txt"), ("o/r", ""), ("o/none", ""), ("../x", ""))
                return [await github.file(name, path) for name, path in asked]
            finally:
                github.close()

    found, folder, missing, unnamed = asyncio.run(read())
    assert found == CHALLENGE.encode()
    assert isinstance(folder, Absent)
    assert folder.reason is Reason.UNREACHABLE
    for none in (missing, unnamed):
        assert isinstance(none, Absent)
        assert none.reason is Reason.NO_REPOSITORY
