"""Which collectors a run has follows from its settings, and its pins say the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.workers.world import settings
from workers.clock import SystemClock
from workers.outside import Network


@pytest.mark.parametrize(
    ("depth", "interop", "names"),
    [
        ("core", "full", ["protocol"]),
        ("weekly", "full", ["protocol"]),
        ("full", "full", ["protocol", "interop"]),
        ("core", "weekly", ["protocol", "interop"]),
        ("full", "off", ["protocol"]),
    ],
)
def test_the_official_client_is_sent_when_it_was_asked_for(
    tmp_path: Path, depth: str, interop: str, names: list[str]
) -> None:
    async def main() -> None:
        network = Network(settings(tmp_path, depth=depth, interop=interop, sources=()), SystemClock())
        assert [collector.name for collector in await network.collectors()] == names
        assert [pinned.name for pinned in network.versions] == names
        await network.close()

    asyncio.run(main())


def test_probes_and_the_official_client_share_the_slots_of_one_sandbox(tmp_path: Path) -> None:
    async def main() -> None:
        network = Network(settings(tmp_path, depth="full", sources=()), SystemClock())
        protocol, interop = await network.collectors()
        assert protocol._launcher is interop._launcher is not None  # type: ignore[attr-defined]
        await network.close()

    asyncio.run(main())
