"""The way without GraphQL: few REST calls per repository, for the public allowance and for an old Enterprise Server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from crawler.collectors.repository.facts import HOST, releases
from crawler.collectors.repository.files import Files
from crawler.collectors.repository.people import Person, is_bot
from crawler.collectors.repository.responsiveness import YEAR, Thread, Word, summary
from crawler.collectors.repository.values import count, flag, items, members, moment, newness, objects, text, time
from evidence.canonical import Json

PAGE: Final = 100
PATHS: Final[Mapping[str, tuple[str, Mapping[str, str | int]]]] = {
    "commits": ("commits", {"per_page": PAGE}),
    "releases": ("releases", {"per_page": PAGE}),
    "threads": ("issues", {"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE}),
    "comments": ("issues/comments", {"sort": "created", "direction": "desc", "per_page": PAGE}),
    "tree": ("git/trees/HEAD", {"recursive": 1}),
}
"""What is asked below `/repos/OWNER/REPO`, besides the parts that GraphQL lacks as well."""

CALLS: Final = len(PATHS) + 3
"""What a repository costs on this way after the first call: the pages, and the three parts that GraphQL lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """REST's answers, each a first page with the newest first; None for one that could not be read."""

    repository: Mapping[str, Json]
    commits: Json = None
    releases: Json = None
    threads: Json = None
    comments: Json = None
    tree: Json = None
    profile: Json = None


def facts(pages: Pages, now: datetime) -> dict[str, Json]:
    """Members of the body, as `facts.facts` gives them of a GraphQL node."""
    said = pages.repository
    commits = objects(pages.commits)
    owner = members(said.get("owner"))
    return {
        "host": HOST,
        "name": text(said.get("full_name")),
        "default_branch": text(said.get("default_branch")),
        "head": text(commits[0].get("sha")) if commits else None,
        "archived": flag(said.get("archived")),
        "fork": flag(said.get("fork")),
        "disabled": flag(said.get("disabled")),
        "template": flag(said.get("is_template")),
        "created_at": time(said.get("created_at")),
        "pushed_at": time(said.get("pushed_at")),
        "last_commit_at": max((date for _, date in _by_persons(commits)), key=newness, default=None),
        "commits_year": _commits_year(pages.commits, now),
        "licence": text(members(said.get("license")).get("spdx_id")),
        "topics": sorted({topic for item in items(said.get("topics")) if (topic := text(item))}),
        "language": text(said.get("language")),
        "size_kb": count(said.get("size")),
        "stars": count(said.get("stargazers_count")),
        "forks": count(said.get("forks_count")),
        "open_issues": _open(pages.threads, pulls=False),
        "open_pulls": _open(pages.threads, pulls=True),
        "releases": releases(_whole(pages.releases), objects(pages.releases), "published_at", "tag_name"),
        "tags": None,
        "issues": _issues(pages, now),
        # Reviews would cost a call per pull request, and without them an answered one looks unanswered.
        "pulls": None,
        **_files(pages),
        "owner": {
            "login": text(owner.get("login")) or "",
            "type": kind if (kind := owner.get("type")) in {"Organization", "User"} else None,
            "verified": None,
            "website": None,
        },
    }


def persons_of_year(commits: Json, now: datetime) -> int | None:
    """How many persons committed in the last year; None when the page does not reach back so far."""
    if _commits_year(commits, now) is None:
        return None
    since = now - YEAR
    return len({who for who, date in _by_persons(objects(commits)) if (at := moment(date)) and at >= since})


def _commits_year(commits: Json, now: datetime) -> int | None:
    if not isinstance(commits, list):
        return None
    dates = [at for commit in objects(commits) if (at := moment(_date(commit))) is not None]
    recent = [at for at in dates if at >= now - YEAR]
    return None if len(commits) >= PAGE and len(recent) == len(dates) else len(recent)


def _by_persons(commits: Sequence[Mapping[str, Json]]) -> list[tuple[str, str]]:
    """Who wrote each commit, as an account or by name, and when; without those of bots."""
    found: list[tuple[str, str]] = []
    for commit in commits:
        account = Person.of(commit.get("author"))
        name = text(members(members(commit.get("commit")).get("author")).get("name"))
        date = time(_date(commit))
        who = f"@{account.login.lower()}" if account else name
        if who and date and not (account.bot if account else is_bot(who)):
            found.append((who, date))
    return found


def _date(commit: Mapping[str, Json]) -> Json:
    return members(members(commit.get("commit")).get("committer")).get("date")


def _whole(listed: Json) -> int | None:
    """The length of a list that fits into one page."""
    return len(listed) if isinstance(listed, list) and len(listed) < PAGE else None


def _open(threads: Json, *, pulls: bool) -> int | None:
    if _whole(threads) is None:
        return None
    return sum(("pull_request" in entry) == pulls for entry in objects(threads) if entry.get("state") == "open")


def _issues(pages: Pages, now: datetime) -> Json:
    if not isinstance(pages.threads, list) or not isinstance(pages.comments, list):
        return None
    words: dict[str, list[Word]] = defaultdict(list)
    for comment in objects(pages.comments):
        if (word := _word(comment)) is not None:
            words[_number(comment.get("issue_url"))].append(word)
    full = len(pages.comments) >= PAGE
    since = min((word.at for listed in words.values() for word in listed), default=now) if full else None
    read = [_thread(entry, words, since) for entry in objects(pages.threads) if "pull_request" not in entry]
    total = len(read) if _whole(pages.threads) is not None else None
    return summary([thread for thread in read if thread is not None], total, now)


def _thread(entry: Mapping[str, Json], words: Mapping[str, Sequence[Word]], since: datetime | None) -> Thread | None:
    """An issue; its words were all read when it is no older than the oldest word that fitted into the page."""
    opened = moment(entry.get("created_at"))
    if opened is None:
        return None
    return Thread(
        opened=opened,
        closed=moment(entry.get("closed_at")),
        author=Person.of(entry.get("user")),
        association=text(entry.get("author_association")) or "",
        words=tuple(words.get(str(entry.get("number")), ())),
        whole=since is None or opened >= since,
    )


def _word(comment: Mapping[str, Json]) -> Word | None:
    at = moment(comment.get("created_at"))
    by = Person.of(comment.get("user"))
    return None if at is None else Word(at, by, text(comment.get("author_association")) or "")


def _number(url: Json) -> str:
    return url.rpartition("/")[2] if isinstance(url, str) else ""


def _files(pages: Pages) -> dict[str, Json]:
    tree = members(pages.tree)
    listed = tree.get("tree")
    found = (
        Files(path for entry in objects(listed) if (path := text(entry.get("path")))) if listed is not None else None
    )
    complete = tree.get("truncated") is not True

    def there(name: str, stated: bool | None = None) -> bool | None:
        """True when found or stated; False only when all was listed, or stated, to be missing."""
        seen = bool(getattr(found, name)) if found is not None else None
        if seen or stated:
            return True
        return False if (seen is not None and complete) or stated is not None else None

    profile = members(pages.profile).get("files")
    stated = {name: bool(value) for name, value in members(profile).items()}
    return {
        "community": {
            "health": None,
            "contributing": there("contributing", stated.get("contributing")),
            "code_of_conduct": there("code_of_conduct", stated.get("code_of_conduct")),
            "issue_template": there("issue_template", stated.get("issue_template")),
            "pull_template": there("pull_template", stated.get("pull_request_template")),
            # The owner's policy for all repositories is not to be seen here.
            "security": there("security") or None,
        },
        "ci": there("ci"),
        "changelog": there("changelog"),
        "readme": there("readme", stated.get("readme")),
    }
