"""The choice of a runtime, and the message if there is none."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Self, cast, get_args, get_type_hints

import pytest

from crawler.launcher import ProcessExit
from crawler.sandbox import open_sandbox
from crawler.sandbox.availability import Availability
from crawler.sandbox.engines.engine import FORWARDED_VARIABLES
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.runtime import Runtime
from crawler.sandbox.runtime_selection import (
    RUNTIMES,
    check_runtime,
    check_runtimes,
    choose_image_engine,
    choose_runtime,
    verify_runtime,
)
from evidence.kinds.listing import CONTAINING
from evidence.model import Absent, Reason
from tests.crawler.sandbox.driving import NOON
from workers.settings.environment import Settings, read_tool_environment


class Silent:
    """A runtime whose processes write nothing and do not end, and such a process."""

    name = "silent"
    is_stopped = False

    async def start(self, *_: object) -> Self:
        return self

    async def read(self, _size: int) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    async def stop(self) -> ProcessExit:
        self.is_stopped = True
        return ProcessExit(code=None, stderr="")


def having(*names: str) -> Callable[[str], Availability]:
    return lambda name: Availability(True) if name in names else Availability(False, f"no {name}", f"install {name}")


@pytest.mark.parametrize(
    ("wanted", "there", "packages", "images"),
    [
        ("auto", RUNTIMES, "bubblewrap", "podman"),
        ("auto", ("gvisor", "docker"), "docker", "docker"),
        ("auto", ("bubblewrap", "gvisor"), "bubblewrap", None),
        ("auto", ("gvisor",), None, None),
        ("gvisor", RUNTIMES, "gvisor", None),
        ("docker", RUNTIMES, "docker", "docker"),
        ("docker", ("bubblewrap", "podman"), None, None),
        ("bubblewrap", ("podman",), None, None),
    ],
)
def test_one_that_is_named_is_never_replaced(
    wanted: str, there: tuple[str, ...], packages: str | None, images: str | None
) -> None:
    for found, expected in (
        (choose_runtime(wanted, having(*there)), packages),
        (choose_image_engine(wanted, having(*there)), images),
    ):
        if expected is None:
            assert isinstance(found, Availability)
            assert not found.ok
            assert found.why
            assert found.fix
        else:
            assert found == expected


def test_every_runtime_is_one_that_contains() -> None:
    assert set(RUNTIMES) == CONTAINING


def test_engines_elsewhere_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("podman", "docker"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", str(tmp_path))
    assert "elsewhere" in check_runtime("podman", {"CONTAINER_HOST": "ssh://somebody@example.com"}).why
    assert "elsewhere" in check_runtime("docker", {"DOCKER_HOST": "tcp://192.0.2.1:2375"}).why
    assert check_runtime("docker", {}).why == "`docker` is not Docker's client"
    assert check_runtime("podman", {}).fix


@pytest.mark.parametrize(
    ("controllers", "ok"), [(["memory", "pids", "cpu"], True), (["cpu", "pids"], False), ([], False)]
)
def test_a_podman_that_cannot_limit_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, controllers: list[str], ok: bool
) -> None:
    host = {"security": {"rootless": True}, "ociRuntime": {"name": "crun"}, "cgroupControllers": controllers}
    (tmp_path / "info").write_text(json.dumps({"host": host, "version": {"Version": "5.0"}}))
    (tmp_path / "podman").write_text(f"#!/bin/sh\nexec /bin/cat {tmp_path}/info\n")
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", str(tmp_path))
    found = check_runtime("podman", {})
    assert found.ok is ok
    assert bool(found.fix) is not ok


@pytest.mark.sandbox
def test_a_gvisor_that_starts_nothing_here_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "runsc"
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo "runsc version 0.1"\necho "no" >&2; exit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", str(tmp_path))
    found = check_runtime("gvisor", {})
    assert not found.ok
    assert found.why.startswith("gvisor cannot start anything here")
    assert found.why.endswith("runsc version 0.1")
    assert found.fix


def test_a_runtime_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("crawler.sandbox.runtime_selection._TIMEOUT", 0.05)
    runtime = Silent()
    with pytest.raises(SandboxError, match="silent cannot start anything here"):
        asyncio.run(asyncio.wait_for(verify_runtime(cast("Runtime", runtime), tmp_path, Path("/")), 60))
    assert runtime.is_stopped


def test_what_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", "/nonexistent")
    monkeypatch.setattr("crawler.sandbox.availability.PATHS", "/nonexistent")
    found = check_runtimes({})
    assert list(found) == list(RUNTIMES)
    assert all(not state.ok and "install" in state.fix for state in found.values())


@pytest.mark.parametrize("wanted", ["auto", *RUNTIMES])
def test_nothing_starts_where_nothing_contains(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wanted: str) -> None:
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", "/nonexistent")
    monkeypatch.setattr("crawler.sandbox.availability.PATHS", "/nonexistent")
    opened = asyncio.run(open_sandbox(tmp_path, environ={}, now=lambda: NOON, runtime=wanted))
    assert isinstance(opened, Absent)
    assert opened.reason is Reason.NO_SANDBOX
    assert "install" in opened.detail


def test_the_environment_handed_on_is_what_engines_need(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FORWARDED_VARIABLES:
        monkeypatch.setenv(name, os.environ.get(name, "x"))
    assert set(FORWARDED_VARIABLES) <= read_tool_environment().keys()


def test_settings_and_the_sandbox_name_the_same_runtimes() -> None:
    choice = get_type_hints(Settings)["sandbox_runtime"]
    assert set(get_args(choice)) == {"auto", *RUNTIMES}
    assert set(RUNTIMES) == CONTAINING
