"""A process that reads repositories with a budget that others use too: `python -m tests.workers.github_user API REDIS`.

It reads the names of repositories from its arguments, in one go, and prints how many were read.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from redis.asyncio import Redis

from crawler.collectors.repository import CallLimits, GitHub, GitHubLimits
from crawler.collectors.repository.api.responses import CollectionPrevented
from workers.coordination.shared_github_quota import SharedGitHubBudgets


async def read(api: str, redis_url: str, names: list[str]) -> int:
    async with Redis.from_url(redis_url) as redis:
        github = GitHub(
            api,
            ("shared-token",),
            now=lambda: datetime.now(UTC),
            user_agent="hallmark-tests",
            limits=GitHubLimits(calls=CallLimits(timeout=60), linger=0.01, pace=0.0, max_wait=20, batch=4),
            budgets=SharedGitHubBudgets(redis),
        )
        try:
            looks = [github.probe(name, None) for name in names]
            found = await asyncio.gather(*looks, return_exceptions=True)
        finally:
            github.close()
    other = [one for one in found if isinstance(one, BaseException) and not isinstance(one, CollectionPrevented)]
    if other:
        raise other[0]
    return sum(not isinstance(one, BaseException) for one in found)


if __name__ == "__main__":
    sys.stdout.write(f"{asyncio.run(read(sys.argv[1], sys.argv[2], sys.argv[3:]))}\n")
