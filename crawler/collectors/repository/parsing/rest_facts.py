"""The facts without GraphQL: few REST calls per repository, for anonymous use and for an old Enterprise Server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from crawler.collectors.repository.parsing.community_files import RepositoryFiles
from crawler.collectors.repository.parsing.contributors import Person, is_bot
from crawler.collectors.repository.parsing.graphql_facts import HOST, summarise_releases
from crawler.collectors.repository.parsing.json_values import (
    as_count,
    as_datetime,
    as_flag,
    as_list,
    as_object,
    as_text,
    as_timestamp,
    list_objects,
    timestamp_sort_key,
)
from crawler.collectors.repository.parsing.responsiveness import YEAR, Thread, ThreadEvent, summarise_threads
from evidence.canonical import Json

PAGE: Final = 100
PATHS: Final[Mapping[str, tuple[str, Mapping[str, str | int]]]] = {
    "commits": ("commits", {"per_page": PAGE}),
    "releases": ("releases", {"per_page": PAGE}),
    "threads": ("issues", {"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE}),
    "comments": ("issues/comments", {"sort": "created", "direction": "desc", "per_page": PAGE}),
    "tree": ("git/trees/HEAD", {"recursive": 1}),
}
"""Paths below `/repos/OWNER/REPO`, without the parts that GraphQL lacks as well."""

CALLS: Final = len(PATHS) + 3
"""Calls per repository after the first one: the pages, and the three parts that GraphQL lacks."""


class RestPages(Struct, frozen=True, kw_only=True):
    """REST's answers, each a first page with the newest first; None for one that could not be read."""

    repository: Mapping[str, Json]
    commits: Json = None
    releases: Json = None
    threads: Json = None
    comments: Json = None
    tree: Json = None
    profile: Json = None


def read_rest_facts(pages: RestPages, now: datetime) -> dict[str, Json]:
    """Members of the body, as `read_graphql_facts` gives them of a GraphQL node."""
    repository = pages.repository
    commits = list_objects(pages.commits)
    owner = as_object(repository.get("owner"))
    return {
        "host": HOST,
        "name": as_text(repository.get("full_name")),
        "default_branch": as_text(repository.get("default_branch")),
        "head": as_text(commits[0].get("sha")) if commits else None,
        "protected": None,
        "archived": as_flag(repository.get("archived")),
        "fork": as_flag(repository.get("fork")),
        "disabled": as_flag(repository.get("disabled")),
        "template": as_flag(repository.get("is_template")),
        "created_at": as_timestamp(repository.get("created_at")),
        "pushed_at": as_timestamp(repository.get("pushed_at")),
        "last_commit_at": max((date for _, date in _list_authors(commits)), key=timestamp_sort_key, default=None),
        "commits_year": _commits_year(pages.commits, now),
        "licence": as_text(as_object(repository.get("license")).get("spdx_id")),
        "topics": sorted({topic for item in as_list(repository.get("topics")) if (topic := as_text(item))}),
        "language": as_text(repository.get("language")),
        "size_kb": as_count(repository.get("size")),
        "stars": as_count(repository.get("stargazers_count")),
        "forks": as_count(repository.get("forks_count")),
        "open_issues": _count_open(pages.threads, pulls=False),
        "open_pulls": _count_open(pages.threads, pulls=True),
        "releases": summarise_releases(
            _count_single_page(pages.releases), list_objects(pages.releases), "published_at", "tag_name"
        ),
        "tags": None,
        "issues": _issues(pages, now),
        # Reviews would cost one call per pull request; without them an answered one seems unanswered.
        "pulls": None,
        **_files(pages),
        "owner": {
            "login": as_text(owner.get("login")) or "",
            "type": kind if (kind := owner.get("type")) in {"Organization", "User"} else None,
            "verified": None,
            "website": None,
        },
    }


def count_listed_committers(commits: Json, now: datetime) -> int | None:
    """How many persons committed in the last year; None when the page does not cover the year."""
    if _commits_year(commits, now) is None:
        return None
    since = now - YEAR
    authors = _list_authors(list_objects(commits))
    return len({author for author, date in authors if (at := as_datetime(date)) and at >= since})


def _commits_year(commits: Json, now: datetime) -> int | None:
    if not isinstance(commits, list):
        return None
    dates = [at for commit in list_objects(commits) if (at := as_datetime(_date(commit))) is not None]
    recent = [at for at in dates if at >= now - YEAR]
    return None if len(commits) >= PAGE and len(recent) == len(dates) else len(recent)


def _list_authors(commits: Sequence[Mapping[str, Json]]) -> list[tuple[str, str]]:
    """The author (account or name) and the time of each commit, without those of bots."""
    found: list[tuple[str, str]] = []
    for commit in commits:
        account = Person.from_account(commit.get("author"))
        name = as_text(as_object(as_object(commit.get("commit")).get("author")).get("name"))
        date = as_timestamp(_date(commit))
        author = f"@{account.login.lower()}" if account else name
        if author and date and not (account.bot if account else is_bot(author)):
            found.append((author, date))
    return found


def _date(commit: Mapping[str, Json]) -> Json:
    return as_object(as_object(commit.get("commit")).get("committer")).get("date")


def _count_single_page(listed: Json) -> int | None:
    """The length of a list that fits into one page."""
    return len(listed) if isinstance(listed, list) and len(listed) < PAGE else None


def _count_open(threads: Json, *, pulls: bool) -> int | None:
    if _count_single_page(threads) is None:
        return None
    return sum(("pull_request" in entry) == pulls for entry in list_objects(threads) if entry.get("state") == "open")


def _issues(pages: RestPages, now: datetime) -> Json:
    if not isinstance(pages.threads, list) or not isinstance(pages.comments, list):
        return None
    events: dict[str, list[ThreadEvent]] = defaultdict(list)
    for comment in list_objects(pages.comments):
        if (event := _event(comment)) is not None:
            events[_number(comment.get("issue_url"))].append(event)
    full = len(pages.comments) >= PAGE
    since = min((event.at for listed in events.values() for event in listed), default=now) if full else None
    read = [_thread(entry, events, since) for entry in list_objects(pages.threads) if "pull_request" not in entry]
    total = len(read) if _count_single_page(pages.threads) is not None else None
    return summarise_threads([thread for thread in read if thread is not None], total, now)


def _thread(
    entry: Mapping[str, Json], events: Mapping[str, Sequence[ThreadEvent]], since: datetime | None
) -> Thread | None:
    """An issue. All its comments were read if it is no older than the oldest comment on the page."""
    opened = as_datetime(entry.get("created_at"))
    if opened is None:
        return None
    return Thread(
        opened=opened,
        closed=as_datetime(entry.get("closed_at")),
        author=Person.from_account(entry.get("user")),
        association=as_text(entry.get("author_association")) or "",
        events=tuple(events.get(str(entry.get("number")), ())),
        is_complete=since is None or opened >= since,
    )


def _event(comment: Mapping[str, Json]) -> ThreadEvent | None:
    at = as_datetime(comment.get("created_at"))
    by = Person.from_account(comment.get("user"))
    return None if at is None else ThreadEvent(at, by, as_text(comment.get("author_association")) or "")


def _number(url: Json) -> str:
    return url.rpartition("/")[2] if isinstance(url, str) else ""


def _files(pages: RestPages) -> dict[str, Json]:
    tree = as_object(pages.tree)
    listed = tree.get("tree")
    found = (
        RepositoryFiles(path for entry in list_objects(listed) if (path := as_text(entry.get("path"))))
        if listed is not None
        else None
    )
    complete = tree.get("truncated") is not True

    def is_present(name: str, stated: bool | None = None) -> bool | None:
        """True when found or stated; False only when a complete list, or the statement, lacks it."""
        seen = bool(getattr(found, name)) if found is not None else None
        if seen or stated:
            return True
        return False if (seen is not None and complete) or stated is not None else None

    profile = as_object(pages.profile).get("files")
    stated = {name: bool(value) for name, value in as_object(profile).items()}
    return {
        "community": {
            "health": None,
            "contributing": is_present("contributing", stated.get("contributing")),
            "code_of_conduct": is_present("code_of_conduct", stated.get("code_of_conduct")),
            "issue_template": is_present("issue_template", stated.get("issue_template")),
            "pull_template": is_present("pull_template", stated.get("pull_request_template")),
            # REST does not show the owner's policy for all repositories.
            "security": is_present("security") or None,
        },
        "ci": is_present("ci"),
        "changelog": is_present("changelog"),
        "readme": is_present("readme", stated.get("readme")),
    }
