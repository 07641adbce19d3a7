"""The GraphQL query: one alias per repository, one fragment for the facts about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from evidence.canonical import Json

SAMPLED_THREADS: Final = 30  # newest issues, and pull requests
SAMPLED_REPLIES: Final = 8  # first comments of each
COMMITS: Final = 100
RELEASES: Final = 30
RULES: Final = 10

PROTECTION: Final = frozenset({"refUpdateRule", "rules"})
"""Fields that some tokens may not read; without them the rest of an answer is complete."""

POINTS: Final = 1
"""What a repository costs at most: 97 connections, of which a hundred are a point.

https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

FRAGMENT: Final = f"""
fragment facts on Repository {{
  nameWithOwner visibility isPrivate isArchived isFork isDisabled isTemplate isEmpty createdAt pushedAt
  licenseInfo {{ spdxId }}
  repositoryTopics(first: 20) {{ nodes {{ topic {{ name }} }} }}
  primaryLanguage {{ name }}
  diskUsage stargazerCount forkCount
  openIssues: issues(states: [OPEN]) {{ totalCount }}
  openPulls: pullRequests(states: [OPEN]) {{ totalCount }}
  defaultBranchRef {{
    name
    refUpdateRule {{ allowsForcePushes }}
    rules(first: {RULES}) {{ nodes {{ type }} }}
    target {{
      oid
      ... on Commit {{
        year: history(since: $since) {{ totalCount }}
        latest: history(first: {COMMITS}) {{
          nodes {{ committedDate author {{ name user {{ login __typename }} }} }}
        }}
      }}
    }}
  }}
  releases(first: {RELEASES}, orderBy: {{field: CREATED_AT, direction: DESC}}) {{
    totalCount
    nodes {{ tagName publishedAt isDraft }}
  }}
  tags: refs(refPrefix: "refs/tags/", first: 1, orderBy: {{field: TAG_COMMIT_DATE, direction: DESC}}) {{
    totalCount
    nodes {{ name }}
  }}
  issues(first: {SAMPLED_THREADS}, orderBy: {{field: CREATED_AT, direction: DESC}}) {{
    totalCount
    nodes {{
      createdAt closedAt authorAssociation author {{ login __typename }}
      comments(first: {SAMPLED_REPLIES}) {{ totalCount nodes {{ ...word }} }}
    }}
  }}
  pullRequests(first: {SAMPLED_THREADS}, orderBy: {{field: CREATED_AT, direction: DESC}}) {{
    totalCount
    nodes {{
      createdAt closedAt mergedAt mergedBy {{ login __typename }} authorAssociation author {{ login __typename }}
      comments(first: {SAMPLED_REPLIES}) {{ totalCount nodes {{ ...word }} }}
      reviews(first: {SAMPLED_REPLIES}) {{
        totalCount
        nodes {{ submittedAt authorAssociation author {{ login __typename }} }}
      }}
    }}
  }}
  codeOfConduct {{ key }}
  contributingGuidelines {{ url }}
  issueTemplates {{ name }}
  pullRequestTemplates {{ filename }}
  isSecurityPolicyEnabled
  root: object(expression: "HEAD:") {{ ... on Tree {{ entries {{ name type }} }} }}
  meta: object(expression: "HEAD:.github") {{ ... on Tree {{ entries {{ name type }} }} }}
  workflows: object(expression: "HEAD:.github/workflows") {{ ... on Tree {{ entries {{ name type }} }} }}
  owner {{ login __typename ... on Organization {{ isVerified websiteUrl }} ... on User {{ websiteUrl }} }}
}}
fragment word on IssueComment {{ createdAt authorAssociation author {{ login __typename }} }}
"""


def repository_alias(index: int) -> str:
    """The alias of the repository at this index of the batch, counted from 0."""
    return f"r{index}"


def build_query(count: int) -> str:
    """The query for so many repositories; their names are in the variables."""
    indexes = range(count)
    declared = ", ".join(f"$o{index}: String!, $n{index}: String!" for index in indexes)
    aliases = [(repository_alias(at), at) for at in indexes]
    fields = "\n".join(f"  {alias}: repository(owner: $o{at}, name: $n{at}) {{ ...facts }}" for alias, at in aliases)
    return f"query repositories($since: GitTimestamp!, {declared}) {{\n{fields}\n}}{FRAGMENT}"


def build_variables(names: Sequence[str], since: datetime) -> Mapping[str, Json]:
    """The variables of a query for repositories `OWNER/REPO`; commits are counted from `since` on."""
    variables: dict[str, Json] = {"since": since.strftime("%Y-%m-%dT%H:%M:%SZ")}
    for index, name in enumerate(names):
        variables[f"o{index}"], _, variables[f"n{index}"] = name.partition("/")
    return variables
