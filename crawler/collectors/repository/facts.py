"""What GraphQL says of a repository, as members of the evidence body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from crawler.collectors.repository.files import Files
from crawler.collectors.repository.people import Person, is_bot
from crawler.collectors.repository.responsiveness import YEAR, Thread, Word, summary
from crawler.collectors.repository.values import (
    count,
    flag,
    members,
    moment,
    newness,
    nodes,
    objects,
    text,
    time,
    website,
)
from evidence.canonical import Json

HOST: Final = "github"

# A merge is a maintainer's act: nobody else may.
_MERGER: Final = "COLLABORATOR"


def facts(node: Mapping[str, Json], now: datetime) -> dict[str, Json]:
    """Members of the body that GraphQL knows; the year counts back from `now`."""
    branch = members(node.get("defaultBranchRef"))
    tip = members(branch.get("target"))
    files = _files(node)
    return {
        "host": HOST,
        "name": text(node.get("nameWithOwner")),
        "default_branch": text(branch.get("name")),
        "head": text(tip.get("oid")),
        "archived": flag(node.get("isArchived")),
        "fork": flag(node.get("isFork")),
        "disabled": flag(node.get("isDisabled")),
        "template": flag(node.get("isTemplate")),
        "created_at": time(node.get("createdAt")),
        "pushed_at": time(node.get("pushedAt")),
        "last_commit_at": _last_commit(nodes(tip.get("latest"))),
        "commits_year": _commits_year(node),
        "licence": text(members(node.get("licenseInfo")).get("spdxId")),
        "topics": _topics(node),
        "language": text(members(node.get("primaryLanguage")).get("name")),
        "size_kb": count(node.get("diskUsage")),
        "stars": count(node.get("stargazerCount")),
        "forks": count(node.get("forkCount")),
        "open_issues": _total(node.get("openIssues")),
        "open_pulls": _total(node.get("openPulls")),
        "releases": releases(_total(node.get("releases")), nodes(node.get("releases")), "publishedAt", "tagName"),
        "tags": _tags(node.get("tags")),
        "issues": _threads(node.get("issues"), now),
        "pulls": _threads(node.get("pullRequests"), now),
        "community": _community(node, files),
        "ci": files.ci if files else None,
        "changelog": files.changelog if files else None,
        "readme": files.readme if files else None,
        "owner": _owner(members(node.get("owner"))),
    }


def persons_of_year(node: Mapping[str, Json], now: datetime) -> int | None:
    """How many persons committed in the last year, when all its commits were listed; None when there are more."""
    total = _commits_year(node)
    listed = nodes(members(members(node.get("defaultBranchRef")).get("target")).get("latest"))
    if total is None or total > len(listed):
        return None
    since = now - YEAR
    who = {
        name
        for commit in listed
        if (at := moment(commit.get("committedDate"))) and at >= since and (name := _committer(commit)) is not None
    }
    return len(who)


def releases(total: int | None, listed: Sequence[Mapping[str, Json]], at: str, tag: str) -> Json:
    """The body's releases, from a list with newest first; drafts are not published and do not count."""
    if total is None:
        return None
    drafts = [entry for entry in listed if entry.get("isDraft") is True or entry.get("draft") is True]
    dated = [(stated, entry) for entry in listed if entry not in drafts and (stated := time(entry.get(at)))]
    dated.sort(key=lambda pair: newness(pair[0]), reverse=True)
    latest = dated[0][1] if dated else {}
    return {
        "count": max(0, total - len(drafts)),
        "latest_at": dated[0][0] if dated else None,
        "latest_tag": text(latest.get(tag)),
        "dates": [stated for stated, _ in dated[:30]],
    }


def _commits_year(node: Mapping[str, Json]) -> int | None:
    """Commits of the last year; 0 of an empty repository, which has no branch to count them on."""
    tip = members(members(node.get("defaultBranchRef")).get("target"))
    return 0 if node.get("isEmpty") is True else count(members(tip.get("year")).get("totalCount"))


def _last_commit(listed: Sequence[Mapping[str, Json]]) -> str | None:
    dates = [
        date for commit in listed if _committer(commit) is not None and (date := time(commit.get("committedDate")))
    ]
    return max(dates, key=newness, default=None)


def _committer(commit: Mapping[str, Json]) -> str | None:
    """The person who wrote a commit, as an account or by name; None for a bot and for nobody."""
    author = members(commit.get("author"))
    person, name = Person.of(author.get("user")), text(author.get("name"))
    if person is not None:
        return None if person.bot else f"@{person.login.lower()}"
    return None if name is None or is_bot(name) else name


def _topics(node: Mapping[str, Json]) -> Json:
    named = [text(members(entry.get("topic")).get("name")) for entry in nodes(node.get("repositoryTopics"))]
    return sorted({name for name in named if name is not None})


def _total(connection: Json) -> int | None:
    return count(members(connection).get("totalCount"))


def _tags(connection: Json) -> Json:
    total, listed = _total(connection), nodes(connection)
    return None if total is None else {"count": total, "latest_tag": text(listed[0].get("name")) if listed else None}


def _threads(connection: Json, now: datetime) -> Json:
    total = _total(connection)
    if total is None:
        return None
    read = [thread for node in nodes(connection) if (thread := _thread(node)) is not None]
    return summary(read, total, now)


def _thread(node: Mapping[str, Json]) -> Thread | None:
    opened = moment(node.get("createdAt"))
    if opened is None:
        return None
    comments, reviews = node.get("comments"), node.get("reviews")
    words = [_word(entry, "createdAt") for entry in nodes(comments)]
    words += [_word(entry, "submittedAt") for entry in nodes(reviews)]
    if (merged := moment(node.get("mergedAt"))) is not None:
        words.append(Word(merged, Person.of(node.get("mergedBy")), _MERGER))
    return Thread(
        opened=opened,
        closed=moment(node.get("closedAt")),
        author=Person.of(node.get("author")),
        association=text(node.get("authorAssociation")) or "",
        words=tuple(word for word in words if word is not None),
        whole=all((_total(part) or 0) <= len(nodes(part)) for part in (comments, reviews)),
    )


def _word(node: Mapping[str, Json], when: str) -> Word | None:
    at = moment(node.get(when))
    by = Person.of(node.get("author"))
    return None if at is None else Word(at, by, text(node.get("authorAssociation")) or "")


def _files(node: Mapping[str, Json]) -> Files | None:
    """Root, `.github` and workflows of the head; None where the head could not be listed or there is none."""
    if not isinstance(members(node.get("root")).get("entries"), list):
        return None
    paths = [
        f"{folder}{name}"
        for member, folder in (("root", ""), ("meta", ".github/"), ("workflows", ".github/workflows/"))
        for entry in objects(members(node.get(member)).get("entries"))
        if (name := text(entry.get("name"))) is not None
    ]
    return Files(paths)


def _community(node: Mapping[str, Json], files: Files | None) -> Json:
    """Files of the repository, or those that its owner's `.github` repository lends it."""
    return {
        "health": None,
        "contributing": _either(files.contributing if files else None, _there(node, "contributingGuidelines")),
        "code_of_conduct": _either(files.code_of_conduct if files else None, _there(node, "codeOfConduct")),
        "issue_template": _either(files.issue_template if files else None, _there(node, "issueTemplates")),
        "pull_template": _either(files.pull_template if files else None, _there(node, "pullRequestTemplates")),
        "security": _either(files.security if files else None, flag(node.get("isSecurityPolicyEnabled"))),
    }


def _there(node: Mapping[str, Json], member: str) -> bool | None:
    """True for an object or a list with something in it; a null says no, a member that is not there nothing."""
    return bool(node[member]) if member in node else None


def _either(found: bool | None, stated: bool | None) -> bool | None:
    if found or stated:
        return True
    return False if found is not None or stated is not None else None


def _owner(owner: Mapping[str, Json]) -> Json:
    return {
        "login": text(owner.get("login")) or "",
        "type": kind if (kind := owner.get("__typename")) in {"Organization", "User"} else None,
        "verified": flag(owner.get("isVerified")),
        "website": website(owner.get("websiteUrl")),
    }
