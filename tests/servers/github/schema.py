"""The GraphQL types of the local GitHub: what a repository resolves to, by GitHub's public names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.servers.github.world import Account, Commit, Discussion, Repository, Said

Resolver = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Object:
    """A value with fields; a field is a value, or a function of its arguments."""

    type: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Connection:
    """A list that is asked for in part: `first` nodes."""

    nodes: Sequence[Any]


def repository(one: Repository) -> Object:
    fields: dict[str, Any] = {
        "nameWithOwner": one.name,
        "visibility": "PRIVATE" if one.private else "PUBLIC",
        "isPrivate": one.private,
        "isArchived": one.archived,
        "isFork": one.fork,
        "isDisabled": one.disabled,
        "isTemplate": one.template,
        "isEmpty": not one.commits,
        "createdAt": one.created,
        "pushedAt": one.pushed,
        "licenseInfo": Object("License", {"spdxId": one.licence}) if one.licence else None,
        "repositoryTopics": lambda _: Connection([_topic(name) for name in one.topics]),
        "primaryLanguage": Object("Language", {"name": one.language}) if one.language else None,
        "diskUsage": one.size,
        "stargazerCount": one.stars,
        "forkCount": one.forks,
        "issues": lambda given: _threads(one.issues, given, pulls=False),
        "pullRequests": lambda given: _threads(one.pulls, given, pulls=True),
        "defaultBranchRef": _branch(one),
        "releases": lambda _: Connection([_release(tag, at) for tag, at in one.releases]),
        "refs": lambda _: Connection([Object("Ref", {"name": name}) for name in one.tags]),
        "codeOfConduct": _when(one, "CODE_OF_CONDUCT.md", Object("CodeOfConduct", {"key": "contributor_covenant"})),
        "contributingGuidelines": _when(
            one, "CONTRIBUTING.md", Object("ContributingGuidelines", {"url": "https://github.example/c"})
        ),
        "issueTemplates": [],
        "pullRequestTemplates": [],
        "isSecurityPolicyEnabled": one.security_policy,
        "object": lambda given: _tree(one, str(given["expression"])),
        "owner": _owner(one),
    }
    return Object("Repository", fields)


def actor(account: Account | None) -> Object | None:
    return None if account is None else Object(account.type, {"login": account.login})


def _topic(name: str) -> Object:
    return Object("RepositoryTopic", {"topic": Object("Topic", {"name": name})})


def _release(tag: str, at: str) -> Object:
    return Object("Release", {"tagName": tag, "publishedAt": at, "isDraft": False})


def _when(one: Repository, path: str, value: Object) -> Object | None:
    return value if path in one.files else None


def _owner(one: Repository) -> Object:
    fields: dict[str, Any] = {"login": one.login, "websiteUrl": one.website}
    return Object(one.owner_type, fields | ({"isVerified": one.verified} if one.owner_type == "Organization" else {}))


def _branch(one: Repository) -> Object | None:
    if one.head is None:
        return None
    target = Object("Commit", {"oid": one.head, "history": lambda given: _history(one.commits, given)})
    rule = Object("RefUpdateRule", {"allowsForcePushes": False}) if one.protected else None
    rules = [Object("RepositoryRule", {"type": name}) for name in one.rules]
    return Object(
        "Ref", {"name": one.branch, "target": target, "refUpdateRule": rule, "rules": lambda _: Connection(rules)}
    )


def _history(commits: Sequence[Commit], given: Mapping[str, Any]) -> Connection:
    return Connection([_commit(commit) for commit in commits if commit.at >= str(given.get("since", ""))])


def _commit(commit: Commit) -> Object:
    # A bot is no User, so GitHub gives its commits none.
    account = commit.account if commit.account and commit.account.type == "User" else None
    author = Object("GitActor", {"name": commit.name, "user": actor(account)})
    return Object("Commit", {"committedDate": commit.at, "author": author})


def _threads(threads: Sequence[Discussion], given: Mapping[str, Any], *, pulls: bool) -> Connection:
    if given.get("states") == ["OPEN"]:
        threads = [one for one in threads if one.closed is None]
    ordered = sorted(threads, key=lambda one: one.opened, reverse=True)
    return Connection([_pull(one) if pulls else _issue(one) for one in ordered])


def _thread(one: Discussion) -> dict[str, Any]:
    return {
        "createdAt": one.opened,
        "closedAt": one.closed,
        "authorAssociation": one.as_,
        "author": actor(one.by),
        "comments": lambda _: Connection([_said(said, "IssueComment", "createdAt") for said in one.comments]),
    }


def _issue(one: Discussion) -> Object:
    return Object("Issue", _thread(one))


def _pull(one: Discussion) -> Object:
    more = {
        "mergedAt": one.merged,
        "mergedBy": actor(one.merged_by),
        "reviews": lambda _: Connection([_said(said, "PullRequestReview", "submittedAt") for said in one.reviews]),
    }
    return Object("PullRequest", _thread(one) | more)


def _said(said: Said, kind: str, when: str) -> Object:
    return Object(kind, {when: said.at, "authorAssociation": said.as_, "author": actor(said.by)})


def _tree(one: Repository, expression: str) -> Object | None:
    folder = expression.partition(":")[2]
    prefix = f"{folder}/" if folder else ""
    inside = [path.removeprefix(prefix) for path in one.files if path.startswith(prefix)]
    if one.head is None or not inside:
        return None
    names = sorted({path.partition("/")[0] for path in inside})
    kinds = {name: "tree" if any(path.startswith(f"{name}/") for path in inside) else "blob" for name in names}
    return Object("Tree", {"entries": [Object("TreeEntry", {"name": name, "type": kinds[name]}) for name in names]})
