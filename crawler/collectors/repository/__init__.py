"""Evidence out of GitHub: how a repository is kept, and Dependabot's alerts where they may be read."""

from crawler.collectors.repository.budgets import Budgets
from crawler.collectors.repository.calls import PUBLIC_API, CallLimits
from crawler.collectors.repository.collector import RepositoryCollector
from crawler.collectors.repository.github import GitHub, GitHubLimits
from crawler.collectors.repository.ports import BillOfMaterials, Part, Tarballs

__all__ = [
    "PUBLIC_API",
    "BillOfMaterials",
    "Budgets",
    "CallLimits",
    "GitHub",
    "GitHubLimits",
    "Part",
    "RepositoryCollector",
    "Tarballs",
]
