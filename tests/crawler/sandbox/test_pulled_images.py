"""Unused pulled images are removed; images of other programs and images in use stay."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.sandbox import EvictionPolicy, RemovedImages, evict_images
from crawler.sandbox.engines import rootfs_image
from crawler.sandbox.engines.engine import EngineFlavour
from crawler.sandbox.engines.images import Image, Images
from crawler.sandbox.engines.pulled_images import PulledImages
from crawler.sandbox.sandbox_opening import STRICT_GUARD
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox.engines import StandIn, stand_in
from tests.sampling import some

DAY = timedelta(days=1)
DIGEST = "sha256:" + "a" * 64
EVERYTHING = EvictionPolicy(size=0)


@pytest.fixture(params=[EngineFlavour.DOCKER, pytest.param(EngineFlavour.PODMAN, marks=pytest.mark.soak)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> StandIn:
    return stand_in(tmp_path, request.param)


def offered(engine: StandIn, *names: str, pulled: bool = False) -> None:
    """Images that can be had under these names, each another one of a thousand bytes."""
    engine.keep("images", {name: offer(name, number, pulled=pulled) for number, name in enumerate(names)})


def offer(name: str, number: int, *, pulled: bool = False) -> dict[str, Any]:
    identifier = f"{number:064x}"
    image = {"Id": identifier, "RepoDigests": [f"example/server@{DIGEST}"], "Size": 1000, "Config": {}}
    return {"manifest": {"layers": [{"size": 1}]}, "image": image, "pulled": pulled}


def target(version: str) -> Target:
    return Target(type=TargetType.OCI, identifier="docker.io/example/server", version=version)


def reference(version: str) -> str:
    return f"docker.io/example/server:{version}"


async def images(engine: StandIn, now: datetime | None = None) -> Images:
    at = now or datetime.now(UTC)
    return Images(await engine.runtime(), engine.root / "etc/resolv.conf", lambda: at, DAY, STRICT_GUARD)


def pull(engine: StandIn, *versions: str) -> list[Image]:
    async def all_of_them() -> list[Image | Absent]:
        found = await images(engine)
        return [await found.image(target(version)) for version in versions]

    had = asyncio.run(all_of_them())
    assert not [one for one in had if isinstance(one, Absent)]
    return [one for one in had if isinstance(one, Image)]


def there(engine: StandIn) -> list[str]:
    known = engine.read("images")
    return [name.rpartition(":")[2] for name, entry in known.items() if entry["pulled"]]


def aged(engine: StandIn, image: Image, days: int) -> None:
    (record,) = (engine.cache / "images").glob(f"*{image.identifier}*")
    at = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    os.utime(record, (at, at))


def evicted(engine: StandIn, keep: EvictionPolicy) -> RemovedImages:
    return asyncio.run(PulledImages(engine.engine, engine.cache).evict(keep, datetime.now(UTC)))


def test_a_long_unused_image_is_removed(engine: StandIn) -> None:
    offered(engine, reference("1"), reference("2"))
    first, second = pull(engine, "1", "2")
    aged(engine, first, days=31)
    aged(engine, second, days=29)
    assert evicted(engine, EvictionPolicy(unused=30 * DAY)) == RemovedImages(images=1, size=1000)
    assert there(engine) == ["2"]
    assert evicted(engine, EvictionPolicy(unused=30 * DAY)) == RemovedImages()


def test_the_least_recently_used_go_first_until_the_rest_has_room(engine: StandIn) -> None:
    offered(engine, reference("1"), reference("2"), reference("3"))
    for image, days in zip(pull(engine, "1", "2", "3"), (2, 3, 1), strict=True):
        aged(engine, image, days)
    assert evicted(engine, EvictionPolicy(size=1500)) == RemovedImages(images=2, size=2000)
    assert there(engine) == ["3"]


def test_an_image_is_not_removed_before_it_has_a_container(engine: StandIn) -> None:
    offered(engine, reference("1"))
    (image,) = pull(engine, "1")
    assert evicted(engine, EVERYTHING) == RemovedImages()
    aged(engine, image, days=2)
    assert PulledImages(engine.engine, engine.cache).use(image.identifier)
    assert evicted(engine, EVERYTHING) == RemovedImages()
    aged(engine, image, days=2)
    assert evicted(engine, EVERYTHING).images == 1


def test_an_image_with_a_container_stays(engine: StandIn) -> None:
    offered(engine, reference("1"))
    (image,) = pull(engine, "1")
    aged(engine, image, days=40)
    engine.keep("hallmark-somebody-0", {"image": image.identifier})
    assert evicted(engine, EvictionPolicy(unused=DAY)) == RemovedImages(kept=1)
    (engine.home / "hallmark-somebody-0.state").unlink()
    assert evicted(engine, EvictionPolicy(unused=DAY)) == RemovedImages(images=1, size=1000)


def test_an_image_that_hallmark_did_not_pull_is_never_removed(engine: StandIn) -> None:
    offered(engine, reference("1"), pulled=True)
    pull(engine, "1")
    assert not list(engine.cache.glob("images/*"))
    assert evicted(engine, EVERYTHING) == RemovedImages()
    assert there(engine) == ["1"]


def test_an_image_with_a_foreign_name_loses_only_our_name(engine: StandIn) -> None:
    offered(engine, reference("1"))
    (image,) = pull(engine, "1")
    known = engine.read("images")
    known["mine:1"] = known[reference("1")]
    engine.keep("images", known)
    aged(engine, image, days=2)
    assert evicted(engine, EVERYTHING) == RemovedImages(kept=1)
    assert there(engine) == ["1"]
    assert engine.read("images")[reference("1")]["pulled"] is False


def test_an_image_whose_tag_has_moved_on_is_removed_by_what_it_is(engine: StandIn) -> None:
    offered(engine, reference("latest"))
    (old,) = pull(engine, "latest")
    left = {"docker.io/example/server:<none>": offer("", 0, pulled=True), reference("latest"): offer("", 1)}
    engine.keep("images", left)
    (new,) = pull(engine, "latest")
    assert old.identifier != new.identifier
    aged(engine, old, days=40)
    assert evicted(engine, EvictionPolicy(unused=30 * DAY)) == RemovedImages(images=1, size=1000)
    assert there(engine) == ["latest"]


def test_an_image_that_was_removed_meanwhile_is_pulled_again(engine: StandIn) -> None:
    offered(engine, reference("1"))

    async def twice() -> None:
        found = await images(engine)
        first = await found.image(target("1"))
        assert isinstance(first, Image)
        aged(engine, first, days=2)
        assert (await PulledImages(engine.engine, engine.cache).evict(EVERYTHING, datetime.now(UTC))).images == 1
        assert await found.image(target("1")) == first

    asyncio.run(twice())
    assert len(engine.asked("pull")) == 2
    assert there(engine) == ["1"]


def test_an_image_that_is_too_large_to_run_is_removed_all_the_same(engine: StandIn) -> None:
    offered(engine, reference("1"))
    known = engine.read("images")
    known[reference("1")]["image"]["Size"] = 5 << 30
    engine.keep("images", known)

    async def refused() -> Image | Absent:
        return await (await images(engine)).image(target("1"))

    assert isinstance(asyncio.run(refused()), Absent)
    (record,) = (engine.cache / "images").iterdir()
    os.utime(record, (0, 0))
    assert evicted(engine, EVERYTHING).images == 1


def test_nothing_is_forgotten_while_the_engine_does_not_answer(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", str(engine.engine.binary.parent))
    offered(engine, reference("1"))
    (image,) = pull(engine, "1")
    aged(engine, image, days=2)
    environ = dict(engine.engine.environment)
    engine.behave(down="yes")
    assert asyncio.run(evict_images(engine.cache, EVERYTHING, datetime.now(UTC), environ)) == RemovedImages(kept=1)
    engine.behave()
    gone = asyncio.run(evict_images(engine.cache, EVERYTHING, datetime.now(UTC), environ))
    assert gone == RemovedImages(images=1, size=1000)


@pytest.mark.parametrize(
    "record", some(["", "[]", "{}", '{"identifier": 1, "references": 3, "size": "x"}', "[" * 9_999], 2)
)
def test_a_record_that_cannot_be_read_removes_nothing(engine: StandIn, record: str) -> None:
    offered(engine, reference("1"))
    pull(engine, "1")
    (place,) = (engine.cache / "images").iterdir()
    place.write_text(record)
    os.utime(place, (0, 0))
    assert evicted(engine, EVERYTHING) == RemovedImages()
    assert there(engine) == ["1"]


def test_our_root_file_system_leaves_docker_when_it_is_old(tmp_path: Path) -> None:
    engine = stand_in(tmp_path, EngineFlavour.DOCKER)
    pulled = PulledImages(engine.engine, engine.cache)
    for _ in range(2):
        asyncio.run(rootfs_image.import_rootfs_image(pulled, engine.root))
    assert len(engine.asked("import")) == 1
    assert evicted(engine, EVERYTHING) == RemovedImages()
    (record,) = (engine.cache / "images").iterdir()
    os.utime(record, (0, 0))
    assert evicted(engine, EVERYTHING).images == 1
    assert asyncio.run(rootfs_image.import_rootfs_image(pulled, engine.root))
    assert len(engine.asked("import")) == 2


def test_an_image_of_ours_from_before_there_were_records_gets_one(tmp_path: Path) -> None:
    engine = stand_in(tmp_path, EngineFlavour.DOCKER)
    pulled = PulledImages(engine.engine, engine.cache)
    asyncio.run(rootfs_image.import_rootfs_image(pulled, engine.root))
    (record,) = (engine.cache / "images").iterdir()
    record.unlink()
    asyncio.run(rootfs_image.import_rootfs_image(replace(pulled), engine.root))
    assert record.exists()
    assert len(engine.asked("import")) == 1
