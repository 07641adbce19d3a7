"""REST: answers to GET requests in the documented shapes, without the members that no caller reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from tests.servers.github.world import Account, Answer, Commit, Discussion, Repository, World

NOT_FOUND = Answer(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"})
_REPOSITORY = re.compile(r"/repos/([^/]+/[^/]+)(?:/(.+))?")
_BY_NUMBER = re.compile(r"/repositories/(\d+)(?:/(.+))?")


def answer(world: World, base: str, path: str, query: dict[str, str], token: str | None) -> Answer:
    """The answer to a GET; quotas and ETags are the caller's business."""
    if path == "/user/repos":
        return _own(world, query, token)
    if match := _REPOSITORY.fullmatch(path):
        name, rest = match[1], match[2]
        if name.lower() in world.moved:
            moved = world.find(name)
            assert moved is not None
            location = f"{base}/repositories/{moved.id}" + (f"/{rest}" if rest else "")
            return Answer(301, {"message": "Moved Permanently", "url": location}, {"Location": location})
        repository = world.repositories.get(name.lower())
    elif match := _BY_NUMBER.fullmatch(path):
        rest = match[2]
        repository = next((one for one in world.repositories.values() if one.id == int(match[1])), None)
    else:
        return NOT_FOUND
    if repository is None or (repository.private and token not in repository.writers):
        return NOT_FOUND
    if repository.status != 200:
        return Answer(
            repository.status, {"message": repository.message or "Not available", "status": str(repository.status)}
        )
    return _about(repository, rest or "", query, token, base)


def _about(repository: Repository, rest: str, query: dict[str, str], token: str | None, base: str) -> Answer:
    first, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
    part = slice(first * (page - 1), first * page)
    match rest.split("/"):
        case [""]:
            return Answer(200, metadata(repository))
        case ["contributors"]:
            return _contributors(repository, first)
        case ["stats", "contributors"]:
            if repository.statistics_pending:
                repository.statistics_pending -= 1
                return Answer(202, {})
            return Answer(200, repository.statistics)
        case ["community", "profile"]:
            return NOT_FOUND if repository.fork else Answer(200, _profile(repository))
        case ["security-advisories"]:
            state = query.get("state")
            listed = [one for one in repository.advisories if one.get("state", "published") == state or not state]
            return _by_cursor(listed, query, f"{base}/repos/{repository.name}/security-advisories")
        case ["dependabot", "alerts"]:
            return _alerts(repository, query, token, base)
        case ["dependency-graph", "sbom"]:
            return NOT_FOUND if repository.sbom is None else Answer(200, _sbom(repository))
        case ["tarball", *ref]:
            if repository.archive is None:
                return NOT_FOUND
            archive = f"{base}/_archive/{repository.name}/{quote('/'.join(ref))}?token=signed"
            return Answer(302, None, {"Location": archive})
        case ["commits"]:
            if repository.head is None:
                return Answer(409, {"message": "Git Repository is empty."})
            return Answer(
                200, [_commit(repository, place, commit) for place, commit in enumerate(repository.commits)][part]
            )
        case ["releases"]:
            return Answer(200, [_release(tag, at) for tag, at in repository.releases][part])
        case ["issues"]:
            return Answer(200, _issues(repository)[part])
        case ["issues", "comments"]:
            return Answer(200, _comments(repository)[part])
        case ["git", "trees", "HEAD"]:
            return (
                Answer(409, {"message": "Git Repository is empty."}) if repository.head is None else _tree(repository)
            )
        case _:
            return NOT_FOUND


def metadata(repository: Repository) -> dict[str, Any]:
    owner, _, name = repository.name.partition("/")
    return {
        "id": repository.id,
        "name": name,
        "full_name": repository.name,
        "private": repository.private,
        "visibility": "internal" if repository.internal else "private" if repository.private else "public",
        "owner": {"login": owner, "type": repository.owner_type},
        "fork": repository.fork,
        "archived": repository.archived,
        "disabled": repository.disabled,
        "is_template": repository.template,
        "created_at": repository.created,
        "pushed_at": repository.pushed,
        "size": repository.size,
        "stargazers_count": repository.stars,
        "forks_count": repository.forks,
        "open_issues_count": len([one for one in (*repository.issues, *repository.pulls) if one.closed is None]),
        "language": repository.language,
        "license": {"spdx_id": repository.licence} if repository.licence else None,
        "topics": repository.topics,
        "default_branch": repository.branch or "main",
        "has_issues": True,
    }


def user(account: Account | None) -> dict[str, str] | None:
    return None if account is None else {"login": account.login, "type": account.type}


def _contributors(repository: Repository, first: int) -> Answer:
    if repository.contributors_status != 200:
        message = "The history or contributor list is too large to list contributors for this repository via the API."
        return Answer(repository.contributors_status, {"message": message})
    listed = repository.contributors
    if listed is None:
        made = Counter((one.name, one.account.login if one.account else "") for one in repository.commits)
        accounts = {one.account.login: one.account for one in repository.commits if one.account}
        listed = [
            {**(user(accounts[login]) or {}), "contributions": count}
            if login
            else {"type": "Anonymous", "name": name, "email": "a@mail.example", "contributions": count}
            for (name, login), count in made.most_common()
        ]
    if not listed:
        return Answer(204)
    more = {"Link": '<https://api.github.example/x?page=2>; rel="next"'} if len(listed) > first else {}
    return Answer(200, listed[:first], more)


def _profile(repository: Repository) -> dict[str, Any]:
    def there(*names: str) -> dict[str, str] | None:
        return {"url": "https://api.github.example"} if set(names) & set(repository.files) else None

    return {
        "health_percentage": repository.health,
        "files": {
            "code_of_conduct": there("CODE_OF_CONDUCT.md"),
            "contributing": there("CONTRIBUTING.md"),
            "issue_template": there(".github/ISSUE_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug.md"),
            "pull_request_template": there(".github/PULL_REQUEST_TEMPLATE.md"),
            "readme": there("README.md"),
        },
        "updated_at": repository.pushed,
    }


def _alerts(repository: Repository, query: dict[str, str], token: str | None, base: str) -> Answer:
    if token not in repository.writers:
        return Answer(403, {"message": "Resource not accessible by personal access token"})
    if repository.alerts_status != 200:
        return Answer(repository.alerts_status, {"message": "Dependabot alerts are disabled for this repository."})
    return _by_cursor(repository.alerts, query, f"{base}/repos/{repository.name}/dependabot/alerts")


def _by_cursor(listed: list[dict[str, Any]], query: dict[str, str], address: str) -> Answer:
    start, first = int(query.get("after", "0")), int(query.get("per_page", "30"))
    following = f"{address}?per_page={first}&after={start + first}"
    more = start + first < len(listed)
    return Answer(200, listed[start : start + first], {"Link": f'<{following}>; rel="next"'} if more else {})


def _sbom(repository: Repository) -> dict[str, Any]:
    packages = [
        {
            "name": purl,
            "SPDXID": f"SPDXRef-{place}",
            "externalRefs": [
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
            ],
        }
        for place, purl in enumerate([*(repository.sbom or ()), f"pkg:github/{repository.name}@main"])
    ]
    return {"sbom": {"SPDXID": "SPDXRef-DOCUMENT", "spdxVersion": "SPDX-2.3", "packages": packages}}


def _commit(repository: Repository, place: int, commit: Commit) -> dict[str, Any]:
    signed = {"name": commit.name, "email": commit.mail, "date": commit.at}
    sha = repository.head if place == 0 else f"{repository.id + place:040x}"
    return {"sha": sha, "commit": {"author": signed, "committer": signed}, "author": user(commit.account)}


def _release(tag: str, at: str) -> dict[str, Any]:
    return {"tag_name": tag, "published_at": at, "created_at": at, "draft": False, "prerelease": False}


def _numbered(repository: Repository) -> list[tuple[int, Discussion, bool]]:
    listed = [(one, False) for one in repository.issues] + [(one, True) for one in repository.pulls]
    listed.sort(key=lambda pair: pair[0].opened)
    return [(number, one, pull) for number, (one, pull) in enumerate(listed, start=1)][::-1]


def _issues(repository: Repository) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "state": "closed" if one.closed else "open",
            "created_at": one.opened,
            "closed_at": one.closed,
            "user": user(one.by),
            "author_association": one.as_,
            **({"pull_request": {"merged_at": one.merged}} if pull else {}),
        }
        for number, one, pull in _numbered(repository)
    ]


def _comments(repository: Repository) -> Sequence[dict[str, Any]]:
    listed = [
        {
            "created_at": said.at,
            "user": user(said.by),
            "author_association": said.as_,
            "issue_url": f"https://api.github.example/repos/{repository.name}/issues/{number}",
        }
        for number, one, _ in _numbered(repository)
        for said in one.comments
    ]
    return sorted(listed, key=lambda comment: str(comment["created_at"]), reverse=True)


def _tree(repository: Repository) -> Answer:
    entries = [{"path": path, "type": "blob"} for path in repository.files]
    return Answer(200, {"sha": repository.head, "tree": entries, "truncated": False})


def _own(world: World, query: dict[str, str], token: str | None) -> Answer:
    if token is None:
        return Answer(401, {"message": "Requires authentication"})
    first, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
    own = [one for one in world.repositories.values() if token in one.writers]
    listed = [{"full_name": one.name, "permissions": {"admin": False, "push": True, "pull": True}} for one in own]
    return Answer(200, listed[first * (page - 1) : first * page])
