"""The members of the evidence body from a GraphQL answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from crawler.collectors.repository.parsing.community_files import RepositoryFiles
from crawler.collectors.repository.parsing.contributors import Person, is_bot
from crawler.collectors.repository.parsing.json_values import (
    as_count,
    as_datetime,
    as_flag,
    as_object,
    as_text,
    as_timestamp,
    as_website_url,
    list_nodes,
    list_objects,
    timestamp_sort_key,
)
from crawler.collectors.repository.parsing.responsiveness import YEAR, Thread, ThreadEvent, summarise_threads
from evidence.canonical import Json

HOST: Final = "github"

PROTECTION_UNREAD: Final = "protectionUnread"
"""Our own member of a node whose rules of the default branch the token may not read."""

# Only a maintainer may merge.
_MERGER: Final = "COLLABORATOR"


def read_graphql_facts(node: Mapping[str, Json], now: datetime) -> dict[str, Json]:
    """Members of the body from GraphQL; the year counts back from `now`."""
    branch = as_object(node.get("defaultBranchRef"))
    tip = as_object(branch.get("target"))
    files = _files(node)
    return {
        "host": HOST,
        "name": as_text(node.get("nameWithOwner")),
        "default_branch": as_text(branch.get("name")),
        "head": as_text(tip.get("oid")),
        "protected": _is_protected(node, branch),
        "archived": as_flag(node.get("isArchived")),
        "fork": as_flag(node.get("isFork")),
        "disabled": as_flag(node.get("isDisabled")),
        "template": as_flag(node.get("isTemplate")),
        "created_at": as_timestamp(node.get("createdAt")),
        "pushed_at": as_timestamp(node.get("pushedAt")),
        "last_commit_at": _last_commit(list_nodes(tip.get("latest"))),
        "commits_year": _commits_year(node),
        "licence": as_text(as_object(node.get("licenseInfo")).get("spdxId")),
        "topics": _topics(node),
        "language": as_text(as_object(node.get("primaryLanguage")).get("name")),
        "size_kb": as_count(node.get("diskUsage")),
        "stars": as_count(node.get("stargazerCount")),
        "forks": as_count(node.get("forkCount")),
        "open_issues": _total(node.get("openIssues")),
        "open_pulls": _total(node.get("openPulls")),
        "releases": summarise_releases(
            _total(node.get("releases")), list_nodes(node.get("releases")), "publishedAt", "tagName"
        ),
        "tags": _tags(node.get("tags")),
        "issues": _threads(node.get("issues"), now),
        "pulls": _threads(node.get("pullRequests"), now),
        "community": _community(node, files),
        "ci": files.ci if files else None,
        "changelog": files.changelog if files else None,
        "readme": files.readme if files else None,
        "owner": _owner(as_object(node.get("owner"))),
    }


def count_yearly_committers(node: Mapping[str, Json], now: datetime) -> int | None:
    """How many persons committed in the last year; None when the answer does not list all its commits."""
    total = _commits_year(node)
    listed = list_nodes(as_object(as_object(node.get("defaultBranchRef")).get("target")).get("latest"))
    if total is None or total > len(listed):
        return None
    since = now - YEAR
    committers = {
        name
        for commit in listed
        if (at := as_datetime(commit.get("committedDate"))) and at >= since and (name := _committer(commit)) is not None
    }
    return len(committers)


def summarise_releases(total: int | None, listed: Sequence[Mapping[str, Json]], at: str, tag: str) -> Json:
    """The body's releases, from a list with newest first; drafts are not published and do not count."""
    if total is None:
        return None
    drafts = [entry for entry in listed if entry.get("isDraft") is True or entry.get("draft") is True]
    dated = [(stated, entry) for entry in listed if entry not in drafts and (stated := as_timestamp(entry.get(at)))]
    dated.sort(key=lambda pair: timestamp_sort_key(pair[0]), reverse=True)
    latest = dated[0][1] if dated else {}
    return {
        "count": max(0, total - len(drafts)),
        "latest_at": dated[0][0] if dated else None,
        "latest_tag": as_text(latest.get(tag)),
        "dates": [stated for stated, _ in dated[:30]],
    }


def _is_protected(node: Mapping[str, Json], branch: Mapping[str, Json]) -> bool | None:
    """Whether a rule protects the default branch, as everybody may see; None when the token may not read that."""
    if not branch or node.get(PROTECTION_UNREAD) or not isinstance(branch.get("rules"), Mapping):
        return None
    return bool(branch.get("refUpdateRule")) or bool(list_nodes(branch.get("rules")))


def _commits_year(node: Mapping[str, Json]) -> int | None:
    """Commits of the last year; 0 of an empty repository, which has no branch."""
    tip = as_object(as_object(node.get("defaultBranchRef")).get("target"))
    return 0 if node.get("isEmpty") is True else as_count(as_object(tip.get("year")).get("totalCount"))


def _last_commit(listed: Sequence[Mapping[str, Json]]) -> str | None:
    dates = [
        date
        for commit in listed
        if _committer(commit) is not None and (date := as_timestamp(commit.get("committedDate")))
    ]
    return max(dates, key=timestamp_sort_key, default=None)


def _committer(commit: Mapping[str, Json]) -> str | None:
    """The person who wrote a commit, as an account or by name; None for a bot or an unknown author."""
    author = as_object(commit.get("author"))
    person, name = Person.from_account(author.get("user")), as_text(author.get("name"))
    if person is not None:
        return None if person.bot else f"@{person.login.lower()}"
    return None if name is None or is_bot(name) else name


def _topics(node: Mapping[str, Json]) -> Json:
    named = [as_text(as_object(entry.get("topic")).get("name")) for entry in list_nodes(node.get("repositoryTopics"))]
    return sorted({name for name in named if name is not None})


def _total(connection: Json) -> int | None:
    return as_count(as_object(connection).get("totalCount"))


def _tags(connection: Json) -> Json:
    total, listed = _total(connection), list_nodes(connection)
    return None if total is None else {"count": total, "latest_tag": as_text(listed[0].get("name")) if listed else None}


def _threads(connection: Json, now: datetime) -> Json:
    total = _total(connection)
    if total is None:
        return None
    read = [thread for node in list_nodes(connection) if (thread := _thread(node)) is not None]
    return summarise_threads(read, total, now)


def _thread(node: Mapping[str, Json]) -> Thread | None:
    opened = as_datetime(node.get("createdAt"))
    if opened is None:
        return None
    comments, reviews = node.get("comments"), node.get("reviews")
    events = [_event(entry, "createdAt") for entry in list_nodes(comments)]
    events += [_event(entry, "submittedAt") for entry in list_nodes(reviews)]
    if (merged := as_datetime(node.get("mergedAt"))) is not None:
        events.append(ThreadEvent(merged, Person.from_account(node.get("mergedBy")), _MERGER))
    return Thread(
        opened=opened,
        closed=as_datetime(node.get("closedAt")),
        author=Person.from_account(node.get("author")),
        association=as_text(node.get("authorAssociation")) or "",
        events=tuple(event for event in events if event is not None),
        is_complete=all((_total(part) or 0) <= len(list_nodes(part)) for part in (comments, reviews)),
    )


def _event(node: Mapping[str, Json], when: str) -> ThreadEvent | None:
    at = as_datetime(node.get(when))
    by = Person.from_account(node.get("author"))
    return None if at is None else ThreadEvent(at, by, as_text(node.get("authorAssociation")) or "")


def _files(node: Mapping[str, Json]) -> RepositoryFiles | None:
    """Root, `.github` and workflows of the head; None where the head could not be listed or there is none."""
    if not isinstance(as_object(node.get("root")).get("entries"), list):
        return None
    paths = [
        f"{folder}{name}"
        for member, folder in (("root", ""), ("meta", ".github/"), ("workflows", ".github/workflows/"))
        for entry in list_objects(as_object(node.get(member)).get("entries"))
        if (name := as_text(entry.get("name"))) is not None
    ]
    return RepositoryFiles(paths)


def _community(node: Mapping[str, Json], files: RepositoryFiles | None) -> Json:
    """Community files of the repository, or those inherited from its owner's `.github` repository."""
    return {
        "health": None,
        "contributing": _either(files.contributing if files else None, _is_present(node, "contributingGuidelines")),
        "code_of_conduct": _either(files.code_of_conduct if files else None, _is_present(node, "codeOfConduct")),
        "issue_template": _either(files.issue_template if files else None, _is_present(node, "issueTemplates")),
        "pull_template": _either(files.pull_template if files else None, _is_present(node, "pullRequestTemplates")),
        "security": _either(files.security if files else None, as_flag(node.get("isSecurityPolicyEnabled"))),
    }


def _is_present(node: Mapping[str, Json], member: str) -> bool | None:
    """True for a non-empty object or list, False for null; None when the member is missing."""
    return bool(node[member]) if member in node else None


def _either(found: bool | None, stated: bool | None) -> bool | None:
    if found or stated:
        return True
    return False if found is not None or stated is not None else None


def _owner(owner: Mapping[str, Json]) -> Json:
    return {
        "login": as_text(owner.get("login")) or "",
        "type": kind if (kind := owner.get("__typename")) in {"Organization", "User"} else None,
        "verified": as_flag(owner.get("isVerified")),
        "website": as_website_url(owner.get("websiteUrl")),
    }
