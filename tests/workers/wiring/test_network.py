"""Which collectors a run has follows from its settings, and its pins say the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from crawler.collector import Collector, Follower
from evidence.model import Target, TargetType
from tests.workers.world import settings
from workers.clock import SystemClock
from workers.settings.environment import InvalidSetting
from workers.wiring.network import NetworkWiring


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
        network = NetworkWiring(settings(tmp_path, depth=depth, interop=interop, sources=()), SystemClock())
        assert [collector.name for collector in await network.collectors()] == names
        assert [pinned.name for pinned in network.versions] == names
        await network.close()

    asyncio.run(main())


@pytest.mark.parametrize(("setting", "names"), [(True, True), (False, False)])
def test_starts_are_carried_unless_the_setting_says_no(tmp_path: Path, setting: bool, names: bool) -> None:
    async def main() -> None:
        network = NetworkWiring(settings(tmp_path, carry_starts=setting, sources=()), SystemClock())
        [counted] = await network.collectors()
        assert (counted.collector._identify is not None) is names  # type: ignore[attr-defined]
        await network.close()

    asyncio.run(main())


def test_other_code_names_another_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def name(commit: str) -> str | None:
        network = NetworkWiring(settings(tmp_path, commit=commit, sources=()), SystemClock())
        monkeypatch.setattr(network._packages, "identify", AsyncMock(return_value="layer a"))
        return await network._identify(Target(type=TargetType.NPM, identifier="server"))

    assert len({asyncio.run(name("one")), asyncio.run(name("one")), asyncio.run(name("other"))}) == 2


def test_probes_and_the_official_client_share_the_slots_of_one_sandbox(tmp_path: Path) -> None:
    async def main() -> None:
        network = NetworkWiring(settings(tmp_path, depth="full", interop="full", sources=()), SystemClock())
        protocol, interop = await network.collectors()
        launchers = [counted.collector._launcher for counted in (protocol, interop)]  # type: ignore[attr-defined]
        assert launchers[0] is launchers[1] is not None
        await network.close()

    asyncio.run(main())


EVERYTHING = ("package", "repository", "source", "advisories")


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (EVERYTHING, ["protocol", "package", "repository", "source", "advisories"]),
        (("advisories", "source"), ["protocol", "source", "advisories"]),
        ((), ["protocol"]),
    ],
)
def test_the_settings_choose_the_sources_besides_the_server(
    tmp_path: Path, sources: tuple[str, ...], names: list[str]
) -> None:
    async def main() -> None:
        network = NetworkWiring(settings(tmp_path, depth="core", sources=sources), SystemClock())
        found: list[Collector | Follower] = [*await network.collectors(), *await network.followers()]
        assert [one.name for one in found] == names
        assert [pinned.name for pinned in network.versions] == names
        assert [pinned.version for pinned in network.versions] == [one.version for one in found]
        await network.close()

    asyncio.run(main())


@pytest.mark.parametrize(("spread", "asked"), [(True, False), (False, True)])
def test_the_workers_of_a_fleet_do_not_ask_osv_about_every_server(tmp_path: Path, spread: bool, asked: bool) -> None:
    async def main() -> None:
        network = NetworkWiring(settings(tmp_path, sources=("advisories",)), SystemClock(), spread=spread)
        (advisories,) = await network.followers()
        assert (advisories._api is not None) is asked  # type: ignore[attr-defined]
        await network.close()

    asyncio.run(main())


def test_a_rule_file_for_secrets_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("[[rules]]\nid = 3\n")

    async def main() -> None:
        network = NetworkWiring(settings(tmp_path, sources=("source",), secret_rules=path), SystemClock())
        with pytest.raises(InvalidSetting, match=r"HALLMARK_SECRET_RULES: .*rules\.toml"):
            await network.followers()
        await network.close()

    asyncio.run(main())
