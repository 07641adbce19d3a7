"""Nights in this process, for failures of which there are many: the same wiring from settings, without the waiting."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crawler.advisories.http_client import AdvisoryClient, AdvisoryRetryPolicy
from crawler.collectors.package import PackageCollector
from crawler.collectors.package.index_client import IndexRetryPolicy
from crawler.collectors.repository import GitHub, GitHubLimits
from crawler.collectors.repository.api.calls import CallLimits
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from tests.functional.further.nights import Home, Night
from workers import embedded
from workers.clock import clock_at
from workers.context import open_context
from workers.runs.options import RunOptions
from workers.settings.environment import read_settings, read_tool_environment
from workers.wiring import network, project_collectors
from workers.wiring.advisory_mirror import refresh_advisories

HURRIED = GitHubLimits(calls=CallLimits(timeout=60, pause=0.01), linger=0.05, pace=0.0, max_wait=0.5)


class _Hurried(PackageCollector):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, retries=IndexRetryPolicy(attempts=2, first=0.01, longest=0.05), **named)


def hurry(patch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> None:
    """Shorten the waits of the rate limiters, and ask the package tools for their index once."""
    for name, value in environ.items():
        patch.setenv(name, value)
    indexes = ConfiguredIndexes(read_tool_environment(), read_settings().cache)
    patch.setattr(network, "ConfiguredIndexes", lambda *_: indexes)
    patch.setattr(project_collectors, "GitHub", partial(GitHub, limits=HURRIED))
    patch.setattr(project_collectors, "PackageCollector", _Hurried)
    patch.setattr(
        project_collectors,
        "AdvisoryClient",
        partial(AdvisoryClient, insistence=AdvisoryRetryPolicy(attempts=2, first=0.01, longest=0.05)),
    )


def night(home: Home) -> Night:
    """One whole run in the home's own settings, all of which `hurry` has set but those of the home."""
    with settings_of(home):
        asyncio.run(_run())
    return home.newest()


def refresh(home: Home, *, anew: bool = False) -> dict[str, str]:
    """Refresh the mirror of advisories: what became of each ecosystem."""
    with settings_of(home):
        settings = read_settings()
        done = asyncio.run(refresh_advisories(settings, clock_at(settings.clock), anew=anew))
    return {one.ecosystem: one.how.value for one in done}


@contextmanager
def settings_of(home: Home) -> Iterator[None]:
    """The environment of an installation."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in home.environment().items():
            patch.setenv(name, value)
        yield


def moved(home: Home, folder: Path) -> Home:
    """A copy of an installation, for nights that its original does not have."""
    shutil.copytree(home.folder, folder)
    return replace(home, folder=folder, changes=dict(home.changes), said=[])


async def _run() -> None:
    settings = read_settings()
    async with open_context(settings) as ctx:
        result = await embedded.run_embedded(ctx, RunOptions(registries=settings.registry_names, fresh=True))
        assert result.ok, result.hint
