"""Persons and bots, maintainers and outsiders, and the bus factor of a repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from crawler.collectors.repository.parsing.json_values import as_object, as_text
from evidence.canonical import Json

# https://docs.github.com/en/graphql/reference/enums#commentauthorassociation
MAINTAINERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
TOP: Final = 10

# Bots with an ordinary account, or without an account as authors of commits.
_BOTS: Final = frozenset({
    "allcontributors", "claassistant", "codecov-commenter", "codecov-io", "copilot", "coveralls", "dependabot",
    "dependabot-preview", "github-actions", "github-merge-queue", "gitlab-bot", "greenkeeper", "imgbot", "mergify",
    "pre-commit-ci", "pyup-bot", "release-please", "renovate", "renovate-bot", "semantic-release-bot", "snyk-bot",
    "stale", "web-flow",
})  # fmt: skip


class Person(Struct, frozen=True):
    """An account; None in place of a Person is an unknown person, such as a deleted account."""

    login: str
    bot: bool

    @staticmethod
    def from_account(value: Json) -> Person | None:
        """The account of a GraphQL actor (`__typename`) or a REST user (`type`)."""
        actor = as_object(value)
        login = as_text(actor.get("login"))
        return None if login is None else Person(login, is_bot(login, actor.get("__typename") or actor.get("type")))


def is_bot(name: str, kind: Json = None) -> bool:
    """True for an account of type bot, and for the name of a known bot."""
    lowered = name.lower()
    return kind == "Bot" or lowered.endswith("[bot]") or lowered in _BOTS


def list_commit_counts(listed: Sequence[Mapping[str, Json]]) -> list[int]:
    """Commits of each person in a list of GitHub's contributors, in falling order.

    A person without an account is listed once per address and counts once by name; addresses are not kept.
    """
    commit_counts: dict[str, int] = {}
    for entry in listed:
        login, name, commits = as_text(entry.get("login")), as_text(entry.get("name")), entry.get("contributions")
        person = login or name
        if person is None or not isinstance(commits, int) or isinstance(commits, bool) or commits < 1:
            continue
        if not is_bot(person, entry.get("type")):
            key = f"@{login.lower()}" if login else person
            commit_counts[key] = commit_counts.get(key, 0) + commits
    return sorted(commit_counts.values(), reverse=True)


def compute_bus_factor(shares: Sequence[int]) -> int | None:
    """The smallest number of persons who together made at least half of the commits; None when no person is known."""
    half, covered = sum(shares) / 2, 0
    for persons, share in enumerate(sorted(shares, reverse=True), start=1):
        covered += share
        if covered >= half:
            return persons
    return None
