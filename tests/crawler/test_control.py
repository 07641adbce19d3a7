"""A proof is where it has to be, on a line of its own, or it is not there, or nobody could look."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from crawler.collectors.repository import GitHub
from crawler.control import DnsRecords, Found, Grounds, Missing, Sight, Unseen
from crawler.wire.guard import Guard
from crawler.wire.http import Engine
from evidence.model import Absent, Reason
from evidence.store.claim_rows import Way
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


def engine(*, allow_private: bool = True) -> Engine:
    return Engine(user_agent="hallmark/test", guard=Guard(allow_private=allow_private))


def look(way: Way, place: str, grounds: Grounds | None = None) -> Sight:
    return asyncio.run((grounds or Grounds(engine(), Kept())).look(way, place, CHALLENGE))


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, CHALLENGE, Found),
        (200, f"# ours\r\n  {CHALLENGE}  \r\nother", Found),
        (200, f"you asked for {CHALLENGE}", Missing),
        (200, CHALLENGE + "0", Missing),
        (200, f"<p>{CHALLENGE}</p>", Missing),
        (404, CHALLENGE, Missing),
        (403, CHALLENGE, Missing),
        (429, CHALLENGE, Unseen),
        (503, CHALLENGE, Unseen),
        (200, "x" * 70_000 + "\n" + CHALLENGE, Unseen),
    ],
)
def test_a_file_proves_control_on_a_line_of_its_own(status: int, body: str, expected: type[Sight]) -> None:
    with website() as site:
        site.pages[WELL_KNOWN] = (status, body.encode())
        assert isinstance(look(Way.WELL_KNOWN, site.url + WELL_KNOWN), expected)
        assert site.asked == [WELL_KNOWN]


def test_a_redirect_proves_nothing_and_is_not_followed() -> None:
    with website() as site, website() as other:
        other.pages["/"] = (200, CHALLENGE.encode())
        site.pages[WELL_KNOWN] = (302, b"")
        site.headers["Location"] = other.url + "/"
        assert isinstance(look(Way.WELL_KNOWN, site.url + WELL_KNOWN), Missing)
        assert other.asked == []


def test_a_private_address_is_not_contacted() -> None:
    with website() as site:
        site.pages[WELL_KNOWN] = (200, CHALLENGE.encode())
        careful = Grounds(engine(allow_private=False), Kept())
        assert isinstance(look(Way.WELL_KNOWN, site.url + WELL_KNOWN, careful), Unseen)
        assert site.asked == []


def test_a_record_proves_control_of_exactly_its_name() -> None:
    records = {"_hallmark.a.example": ["v=spf1", CHALLENGE], "_hallmark.b.example": [SPLIT, CHALLENGE + "x"]}
    with name_server(records) as port:
        grounds = Grounds(engine(), Kept(), DnsRecords(["127.0.0.1"], port))
        assert look(Way.DNS, "_hallmark.a.example", grounds) == Found()
        missing = look(Way.DNS, "_hallmark.b.example", grounds)
        assert isinstance(missing, Missing)
        assert "has 2 TXT records" in missing.note
        assert isinstance(look(Way.DNS, "_hallmark.c.a.example", grounds), Missing)
        assert isinstance(look(Way.DNS, "_hallmark.broken.example", grounds), Unseen)
        assert asyncio.run(DnsRecords(["127.0.0.1"], port).texts("_hallmark.b.example")) == [SPLIT, CHALLENGE + "x"]


def test_a_repository_proves_control_by_its_file_or_its_readme() -> None:
    def sight(**files: bytes | Absent) -> Sight:
        known = {("o/r", {"file": ".well-known/hallmark.txt", "readme": ""}[name]): one for name, one in files.items()}
        return look(Way.REPOSITORY, "o/r", Grounds(engine(), Kept(known)))

    limited = Absent(Reason.RATE_LIMITED, "the quota is used up")
    assert sight(file=CHALLENGE.encode()) == Found()
    assert sight(readme=f"# Title\n\n`{CHALLENGE}`\n".encode()) == Found()
    assert sight(file=b"else", readme=CHALLENGE.encode()) == Found()
    assert isinstance(sight(), Missing)
    assert isinstance(sight(file=b"else"), Missing)
    assert isinstance(sight(file=limited), Unseen)
    assert isinstance(sight(readme=limited), Unseen)
    assert sight(file=CHALLENGE.encode(), readme=limited) == Found()


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
