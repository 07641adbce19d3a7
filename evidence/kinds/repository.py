"""Kind `repository`: facts about the maintenance of a server's source repository. Public.

Body, schema 1 (canonical JSON):

    {"host": "github", "name": "OWNER/REPO", "asked": NAME | null, "subfolder": PATH | null,
     "default_branch": NAME | null, "head": COMMIT | null, "protected": BOOL | null,
     "archived": BOOL | null, "fork": BOOL | null, "disabled": BOOL | null, "template": BOOL | null,
     "created_at": TIME | null, "pushed_at": TIME | null, "last_commit_at": TIME | null, "commits_year": INT | null,
     "licence": SPDX | null, "topics": [TEXT, ...], "language": TEXT | null, "size_kb": INT | null,
     "stars": INT | null, "forks": INT | null, "open_issues": INT | null, "open_pulls": INT | null,
     "contributors": {"count": INT, "capped": BOOL, "year": INT | null, "shares": [INT, ...]} | null,
     "bus_factor": INT | null,
     "releases": {"count": INT, "latest_at": TIME | null, "latest_tag": TEXT | null, "dates": [TIME, ...]} | null,
     "tags": {"count": INT, "latest_tag": TEXT | null} | null,
     "issues": THREADS | null, "pulls": THREADS | null,
     "community": {"health": INT | null, "contributing": BOOL | null, "code_of_conduct": BOOL | null,
                   "issue_template": BOOL | null, "pull_template": BOOL | null, "security": BOOL | null},
     "ci": BOOL | null, "changelog": BOOL | null, "readme": BOOL | null,
     "owner": {"login": NAME, "type": "Organization" | "User" | null, "verified": BOOL | null, "website": URL | null},
     "advisories": [{"id": GHSA, "cve": TEXT | null, "severity": TEXT | null, "published_at": TIME | null,
                     "withdrawn_at": TIME | null, "package": NAME | null, "ecosystem": NAME | null,
                     "vulnerable": RANGE | null, "patched": TEXT | null}, ...] | null}

    THREADS = {"sampled": INT, "opened_year": INT | null, "answered": INT, "median_response_s": INT | null,
               "median_close_s": INT | null, "unanswered": INT}

Times are RFC 3339 as the host gave them, durations whole seconds, and null means unknown, never none. `name` is the
current name; `asked` is the declared one when the repository was renamed or moved. `last_commit_at` and `contributors`
exclude bots. `protected` states whether a branch protection or a ruleset covers the default branch. `shares` are the
commits of the ten most active contributors, and `capped` states that the host did not list more contributors than were
counted. `bus_factor` is the smallest number of persons who together made half of the commits. THREADS are a bounded
sample of the newest issues, or pull requests, of the last year whose author is neither a maintainer nor a bot; an
answer is the first comment of a maintainer who is not the author and not a bot. `licence` is NOASSERTION when the host
found an unknown licence. `releases.dates` are the newest 30 that were published, newest first. There is one entry in
`advisories` per published advisory and affected package.

Observation: `looked_at`, when the content was last confirmed; `full_at`, when it was last read completely; `etags`, by
part, for conditional requests; `way`, how it was read (`graphql`, `rest`, `unchanged`); `unread`, the parts that the
host did not return, each with its earlier value, or unknown. Over REST alone `protected`, `tags`, `pulls` and
`owner.verified` are unknown.
"""

from __future__ import annotations

from typing import Final, TypeVar

from msgspec import Struct, field

from evidence.canonical import Json, parse_json
from evidence.json_members import count_or_none, object_or_empty, objects_in, read_members, text_or_none
from evidence.kinds.traits import Traits

KIND: Final = "repository"
SCHEMA: Final = 1
TRAITS: Final = Traits(
    licence="Facts that the source host publishes, under the terms of that host.",
    # The other members depend on the operator's token.
    public_observation=frozenset({"looked_at", "full_at"}),
    stands_with=KIND,
)


class Contributors(Struct, frozen=True, kw_only=True):
    """Persons who committed; `shares` are the commits of the ten most active, in falling order."""

    count: int
    capped: bool = False
    year: int | None = None
    shares: tuple[int, ...] = ()


class Releases(Struct, frozen=True, kw_only=True):
    """Published releases: how many, the newest one, and the times of the newest 30, newest first."""

    count: int
    latest_at: str | None = None
    latest_tag: str | None = None
    dates: tuple[str, ...] = ()


class Tags(Struct, frozen=True, kw_only=True):
    """Tags of the repository, released or not."""

    count: int
    latest_tag: str | None = None


class Threads(Struct, frozen=True, kw_only=True):
    """Answers to a sample of outsiders' issues or pull requests of the last year; medians in seconds."""

    sampled: int
    opened_year: int | None = None
    answered: int = 0
    median_response_s: int | None = None
    median_close_s: int | None = None
    unanswered: int = 0


class Community(Struct, frozen=True, kw_only=True):
    """Files for contributors; `health` is the host's own percentage."""

    health: int | None = None
    contributing: bool | None = None
    code_of_conduct: bool | None = None
    issue_template: bool | None = None
    pull_template: bool | None = None
    security: bool | None = None


class Owner(Struct, frozen=True, kw_only=True):
    """The account that owns the repository; `verified` is only known for organisations."""

    login: str = ""
    type: str | None = None
    verified: bool | None = None
    website: str | None = None


class PublishedAdvisory(Struct, frozen=True, kw_only=True):
    """An advisory that the repository itself published, for one affected package."""

    id: str
    cve: str | None = None
    severity: str | None = None
    published_at: str | None = None
    withdrawn_at: str | None = None
    package: str | None = None
    ecosystem: str | None = None
    vulnerable: str | None = None
    patched: str | None = None


class Repository(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of a repository body: a missing or malformed member is None."""

    name: str
    host: str = ""
    asked: str | None = None
    subfolder: str | None = None
    default_branch: str | None = None
    head: str | None = None
    protected: bool | None = None
    archived: bool | None = None
    fork: bool | None = None
    disabled: bool | None = None
    template: bool | None = None
    created_at: str | None = None
    pushed_at: str | None = None
    last_commit_at: str | None = None
    commits_year: int | None = None
    licence: str | None = None
    topics: tuple[str, ...] = ()
    language: str | None = None
    size_kb: int | None = None
    stars: int | None = None
    forks: int | None = None
    open_issues: int | None = None
    open_pulls: int | None = None
    contributors: Contributors | None = None
    bus_factor: int | None = None
    releases: Releases | None = None
    tags: Tags | None = None
    issues: Threads | None = None
    pulls: Threads | None = None
    community: Community = field(default_factory=Community)
    ci: bool | None = None
    changelog: bool | None = None
    readme: bool | None = None
    owner: Owner = field(default_factory=Owner)
    advisories: tuple[PublishedAdvisory, ...] | None = None

    @staticmethod
    def parse(body: bytes) -> Repository:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        return read_members(
            Repository,
            members,
            contributors=_read_counted(Contributors, members.get("contributors"), "count"),
            releases=_read_counted(Releases, members.get("releases"), "count"),
            tags=_read_counted(Tags, members.get("tags"), "count"),
            issues=_read_counted(Threads, members.get("issues"), "sampled"),
            pulls=_read_counted(Threads, members.get("pulls"), "sampled"),
            community=read_members(Community, object_or_empty(members.get("community"))),
            owner=read_members(Owner, object_or_empty(members.get("owner"))),
            advisories=_read_advisories(members.get("advisories")),
        )


_Counted = TypeVar("_Counted", Contributors, Releases, Tags, Threads)


def _read_counted(kind: type[_Counted], value: Json, count: str) -> _Counted | None:
    """The part of a body; None when its count is unknown."""
    members = object_or_empty(value)
    return None if count_or_none(members.get(count)) is None else read_members(kind, members)


def _read_advisories(value: Json) -> tuple[PublishedAdvisory, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(read_members(PublishedAdvisory, item) for item in objects_in(value) if text_or_none(item.get("id")))
