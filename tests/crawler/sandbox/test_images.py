"""Images of registered servers: their size is checked before a pull, and they run by digest as an ordinary user."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.http.address_guard import AddressGuard
from crawler.http.failures import Unreachable
from crawler.sandbox import Rootfs
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.engines.engine import EngineFlavour
from crawler.sandbox.engines.images import (
    LARGEST,
    Images,
    choose_manifest,
    compressed_size,
    describe_refusal,
    image_reference,
    parse_image,
)
from crawler.sandbox.image_engine import ImageEngine
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.runtime import Bubblewrap
from crawler.sandbox.sandbox_opening import STRICT_GUARD
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import NOON, sandbox
from tests.crawler.sandbox.engines import ORDINARY_USER, StandIn, said_by, stand_in

DIGEST = "sha256:" + "a" * 64
IDENTIFIER = "b" * 64
REPOSITORY = "docker.io/example/server"
SERVER = ("/usr/bin/python3", "-S", "-c", "print('served')")


def target(version: str | None = None, *arguments: str) -> Target:
    return Target(type=TargetType.OCI, identifier=REPOSITORY, version=version, arguments=arguments)


def inspected(**config: Any) -> dict[str, Any]:
    return {"Id": IDENTIFIER, "RepoDigests": [f"{REPOSITORY}@{DIGEST}"], "Size": 1000, "Config": config}


@pytest.fixture(params=[EngineFlavour.PODMAN, pytest.param(EngineFlavour.DOCKER, marks=pytest.mark.soak)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> StandIn:
    return stand_in(tmp_path, request.param)


def offered(engine: StandIn, reference: str, *, size: int = 1000, **config: Any) -> None:
    manifest = {"layers": [{"size": size}], "config": {"size": 1}}
    image = {"manifest": manifest, "image": inspected(**config)}
    engine.keep("images", {reference: image})


class Names:
    """Names that resolve to forbidden addresses; no other name is known."""

    addresses: Mapping[str, str] = {"localhost": "127.0.0.1", "inside.example": "10.0.0.8"}

    async def resolve(self, host: str) -> Sequence[str]:
        if host not in self.addresses:
            raise Unreachable("the host name does not resolve")
        return [self.addresses[host]]


async def images(engine: StandIn, guard: AddressGuard = STRICT_GUARD) -> Images:
    runtime, names = await engine.runtime(), engine.root / "etc/resolv.conf"
    return Images(runtime, names, lambda: NOON, timedelta(hours=24), guard, Names())


def started(
    engine: StandIn, wanted: Target, guard: AddressGuard = STRICT_GUARD
) -> tuple[ContainedProcess | Absent, bytes]:
    async def start() -> tuple[ContainedProcess | Absent, bytes]:
        found = await (await images(engine, guard)).start(wanted, ORDINARY_USER, Limits(), {"TOKEN": "dummy"})
        said = b""
        if not isinstance(found, Absent):
            said = await said_by(found)
            await found.stop()
        return found, said

    return asyncio.run(start())


def test_an_image_is_weighed_pulled_and_run_by_what_it_hashes_to(engine: StandIn) -> None:
    offered(engine, f"{REPOSITORY}:1.0", User="root", Volumes={"/data": {}})
    found, said = started(engine, target("1.0", *SERVER))
    assert not isinstance(found, Absent), found
    assert said == b"served\n"
    assert found.facts == {"package": f"oci:{REPOSITORY}", "version": DIGEST}
    (words,) = engine.asked("create")
    assert words[words.index(IDENTIFIER) + 1 :] == list(SERVER)
    assert words[words.index("--user") + 1] == f"{ORDINARY_USER.uid}:{ORDINARY_USER.uid}"
    assert any(word.startswith("/data:rw,nosuid,nodev,noexec") for word in words)
    assert "TOKEN=dummy" in words
    assert engine.containers() == []


def test_a_pulled_digest_is_not_asked_for_again(engine: StandIn) -> None:
    offered(engine, f"{REPOSITORY}@{DIGEST}")
    for _ in range(2):
        found, _ = started(engine, target(DIGEST, *SERVER))
        assert not isinstance(found, Absent), found
    assert len(engine.asked("pull")) == 1


def test_a_tag_is_asked_for_once_a_day(engine: StandIn) -> None:
    offered(engine, f"{REPOSITORY}:latest")
    noon = [NOON]

    async def three_times() -> None:
        held = replace(await images(engine), now=lambda: noon[0])
        for hours in (0, 23, 25):
            noon[0] = NOON + timedelta(hours=hours)
            assert not isinstance(await held.image(target()), Absent)

    asyncio.run(three_times())
    assert len(engine.asked("pull")) == 2


def test_an_image_that_is_too_large_is_never_pulled(engine: StandIn) -> None:
    offered(engine, f"{REPOSITORY}:latest", size=LARGEST + 1)
    found, _ = started(engine, target())
    assert isinstance(found, Absent)
    assert found.reason is Reason.TOO_LARGE
    assert engine.asked("pull") == []


def test_a_pull_that_fills_the_disk_is_cut(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.sandbox.engines.images.LARGEST", 1 << 20)
    monkeypatch.setattr("crawler.sandbox.engines.images.LARGEST_UNPACKED", 8 << 20)
    offered(engine, f"{REPOSITORY}:latest")
    engine.behave(floods="yes")
    if not writes_are_counted(engine.home / "probe"):
        pytest.skip("the tests' folder is in memory, where the kernel counts no writes")
    found, _ = started(engine, target())
    assert isinstance(found, Absent)
    # Where a daemon writes, others may have: nothing is said of the image.
    itself = engine.engine.flavour is EngineFlavour.PODMAN
    assert found.reason is (Reason.TOO_LARGE if itself else Reason.SANDBOX_RESTRICTED)
    assert (engine.home / "flood").stat().st_size < 256 << 20


def writes_are_counted(place: Path) -> bool:
    def written() -> str:
        return next(line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("write_bytes"))

    before = written()
    place.write_bytes(bytes(1 << 20))
    return written() != before


def test_the_docker_client_may_use_plain_http_for_a_registry_of_this_machine(tmp_path: Path) -> None:
    engine = stand_in(tmp_path, EngineFlavour.DOCKER)
    local = replace(target("1.0", *SERVER), identifier="localhost:5000/example/server")
    for wanted in (local, target("1.0", *SERVER)):
        offered(engine, f"{wanted.identifier}:1.0")
        assert not isinstance(started(engine, wanted, AddressGuard(allow_private=True))[0], Absent)
    assert [words[2] for words in engine.asked("manifest")] == ["--insecure", f"{REPOSITORY}:1.0"]


def test_an_image_whose_manifest_the_client_cannot_show_is_pulled_all_the_same(engine: StandIn) -> None:
    said = "unsupported manifest media type and no default available: application/vnd.oci.image.manifest.v1+json"
    if engine.engine.flavour is EngineFlavour.PODMAN:
        said = "Treating single images as manifest lists is not implemented"
    table = {f"{REPOSITORY}:1.0": {"refusal": said, "image": inspected()}}
    engine.keep("images", table)
    assert not isinstance(started(engine, target("1.0", *SERVER))[0], Absent)


def test_an_image_that_no_registry_has_is_no_package(engine: StandIn) -> None:
    found, _ = started(engine, target())
    assert isinstance(found, Absent)
    assert found.reason is Reason.NO_PACKAGE


@pytest.mark.parametrize("name", ["--privileged", "-v/:/x", "a b", "UPPER/case", "", "x" * 500])
def test_what_could_be_an_option_reaches_no_engine(name: str) -> None:
    assert isinstance(image_reference(replace(target("1"), identifier=name)), Absent)
    assert isinstance(image_reference(target(name)), Absent) or name in {"", "UPPER/case"}


def test_references_are_by_digest_or_by_tag() -> None:
    assert image_reference(target(DIGEST)) == f"{REPOSITORY}@{DIGEST}"
    assert image_reference(target("v1.0")) == f"{REPOSITORY}:v1.0"
    assert image_reference(target()) == f"{REPOSITORY}:latest"


@pytest.mark.parametrize(
    ("user", "kept"),
    [("1000", "1000"), ("65532:65532", "65532:65532"), ("0", ""), ("00", ""), ("node", ""), ("0:5", ""), ("", "")],
)
def test_only_a_number_that_is_not_roots_is_trusted_as_user(user: str, kept: str) -> None:
    found = parse_image(REPOSITORY, inspected(User=user))
    assert not isinstance(found, Absent)
    assert found.user == kept


@pytest.mark.parametrize("place", ["/", "relative", "/a/../..", "/a:rw", "/a b"])
def test_volumes_in_odd_places_are_refused(place: str) -> None:
    assert isinstance(parse_image(REPOSITORY, inspected(Volumes={place: {}})), Absent)


@pytest.mark.parametrize(
    "table", [{}, {"Size": "1"}, {"Size": 1, "Id": "--privileged"}, {"Size": 1, "Id": IDENTIFIER, "Config": 3}]
)
def test_an_unknown_description_is_not_guessed_at(table: dict[str, Any]) -> None:
    with pytest.raises((LookupError, TypeError)):
        parse_image(REPOSITORY, table)


def test_the_manifest_of_this_machine_is_chosen() -> None:
    def entry(architecture: str, digest: str) -> Any:
        return {"platform": {"os": "linux", "architecture": architecture}, "digest": digest}

    assert choose_manifest([entry("arm64", "x"), entry("amd64", DIGEST)], "amd64") == DIGEST
    assert choose_manifest([entry("amd64", "--option"), 3, {}], "amd64") is None


@pytest.mark.parametrize("manifest", [{}, {"layers": 3}, {"layers": [3]}, {"layers": [{"size": -1}]}, {"layers": [{}]}])
def test_a_manifest_without_sizes_weighs_nothing_known(manifest: dict[str, Any]) -> None:
    assert compressed_size(manifest) is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Error: toomanyrequests: You have reached your pull rate limit", Reason.RATE_LIMITED),
        ("errors:\nmanifest unknown", Reason.NO_PACKAGE),
        ("Error response from daemon: pull access denied for x, repository does not exist", Reason.NO_PACKAGE),
        ("unauthorized: authentication required", Reason.FORBIDDEN),
        ("no matching manifest for linux/arm64/v8 in the manifest list entries", Reason.RUNTIME_UNSUPPORTED),
        ("x509: certificate signed by unknown authority", Reason.TLS_ERROR),
        ("dial tcp: lookup registry.example: no such host", Reason.UNREACHABLE),
        ("something else", Reason.INSTALL_FAILED),
        ("", Reason.INSTALL_FAILED),
    ],
)
def test_what_an_engine_says_has_a_reason(said: str, reason: Reason) -> None:
    assert describe_refusal(said).reason is reason


def test_what_an_engine_says_tells_nothing_of_this_machine() -> None:
    said = "dial tcp: lookup registry.example on 192.0.2.53:53: no such host"
    assert describe_refusal(said).detail == "the image's registry does not answer"
    assert "<url>" in describe_refusal('denied: Get "https://registry.example/v2/?token=x": 403').detail


@pytest.mark.parametrize("wanted", ["bubblewrap", "gvisor"])
def test_who_chose_a_runtime_gets_no_engine_for_images(tmp_path: Path, wanted: str) -> None:
    engine = ImageEngine(wanted, tmp_path, tmp_path, {}, lambda: NOON, timedelta(hours=1))
    found = asyncio.run(engine.images(Bubblewrap()))
    assert isinstance(found, Absent)
    assert found.reason is Reason.RUNTIME_UNSUPPORTED
    assert wanted in found.detail


@pytest.mark.sandbox
def test_without_an_engine_an_image_never_starts(cache: Path, rootfs: Rootfs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", "/nonexistent")

    async def launch() -> object:
        return await (await sandbox(cache)).launch(target("1.0"))

    found = asyncio.run(launch())
    assert isinstance(found, Absent)
    assert found.reason is Reason.RUNTIME_UNSUPPORTED
    assert "apt-get install podman" in found.detail


@pytest.mark.parametrize(
    "repository",
    ["169.254.169.254/latest", "10.0.0.1:5000/x", "localhost:5000/x", "127.0.0.1/x", "inside.example/x"],
)
def test_no_reference_of_a_stranger_sends_the_engine_inside(engine: StandIn, repository: str) -> None:
    offered(engine, f"{repository}:latest")
    found, _ = started(engine, Target(type=TargetType.OCI, identifier=repository))
    assert isinstance(found, Absent)
    assert found.reason is Reason.BLOCKED_ADDRESS
    assert engine.asked("manifest") == engine.asked("pull") == []


def test_registries_without_a_name_here_are_left_to_the_engine(engine: StandIn) -> None:
    async def barred(repository: str) -> Absent | None:
        return await (await images(engine))._find_registry_refusal(repository)

    assert asyncio.run(barred("behind-a-proxy.example/x")) is None
    assert asyncio.run(barred("library/server")) is None
    assert asyncio.run(barred("server")) is None
