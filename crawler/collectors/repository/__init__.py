"""Evidence from GitHub: how a repository is maintained, and Dependabot's alerts where they may be read."""

from crawler.collectors.repository.api.calls import PUBLIC_API, CallLimits
from crawler.collectors.repository.api.token_budgets import TokenBudgets
from crawler.collectors.repository.collector import RepositoryCollector
from crawler.collectors.repository.github import GitHub, GitHubLimits
from crawler.collectors.repository.parsing.sbom import SbomPart

__all__ = [
    "PUBLIC_API",
    "CallLimits",
    "GitHub",
    "GitHubLimits",
    "RepositoryCollector",
    "SbomPart",
    "TokenBudgets",
]
