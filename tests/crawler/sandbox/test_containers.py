"""Podman and Docker as runtimes: restrictions of containers, and their removal in every case."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Coroutine
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.sandbox.boxes.box import Bind
from crawler.sandbox.engines.container import Container, creation_arguments
from crawler.sandbox.engines.container_cleanup import claim_containers
from crawler.sandbox.engines.container_runtime import ContainerState, _init, open_container_runtime
from crawler.sandbox.engines.engine import FORWARDED_VARIABLES, EngineFlavour
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel import seccomp_filter, syscalls
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.seccomp_profile import build_profile
from tests.crawler.sandbox.driving import alive
from tests.crawler.sandbox.engines import StandIn, said_by, stand_in, until

GREET = "import sys; print('hello', sys.stdin.readline().strip(), flush=True); sys.stdin.read()"
SLEEP = "import time; print('up', flush=True); time.sleep(600)"
DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.crawler.sandbox.engines import StandIn
from crawler.sandbox.engines.engine import Engine, EngineFlavour
async def main(home, cache, root, program):
    engine = Engine(EngineFlavour(Path(program).name), Path(program), {"HOME": home})
    started = await StandIn(Path(home), Path(cache), Path(root), engine).start("import time; time.sleep(600)")
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(params=list(EngineFlavour))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> StandIn:
    """A stand-in of each flavour."""
    return stand_in(tmp_path, request.param)


@pytest.fixture
def docker(tmp_path: Path) -> StandIn:
    """A stand-in that tells no process of a container's, as an engine in a virtual machine."""
    return stand_in(tmp_path, EngineFlavour.DOCKER)


def wanted(folder: Path) -> Container:
    return Container(
        name="hallmark-0-0",
        label="hallmark.owner=0",
        image="1" * 64,
        command=("--not-an-option",),
        environment={"A": "one\ntwo"},
        binds=(Bind(folder / 'a "layer", of ours', "/app"),),
        memory_places=("/data",),
        folder="/tmp",
        user="64101:64101",
        alone=True,
        profile=folder / "profile.json",
        names=folder / "resolv.conf",
        limits=Limits(),
    )


@pytest.mark.parametrize("flavour", list(EngineFlavour))
def test_a_container_may_do_next_to_nothing(tmp_path: Path, flavour: EngineFlavour) -> None:
    words = creation_arguments(flavour, wanted(tmp_path))
    pairs = set(pairwise(words))
    assert {
        ("--network", "none"),
        ("--cap-drop", "ALL"),
        ("--security-opt", "no-new-privileges"),
        ("--security-opt", f"seccomp={tmp_path}/profile.json"),
        ("--ipc", "private"),
        ("--cgroupns", "private"),
        ("--log-driver", "none"),
        ("--pull", "never"),
        ("--restart", "no"),
        ("--user", "64101:64101"),
        ("--pids-limit", "64"),
        ("--memory", str(1 << 30)),
        ("--memory-swap", str(1 << 30)),
        ("--ulimit", "nproc=64:64"),
        ("--ulimit", "core=1:1"),
        ("--ulimit", "nofile=1024:1024"),
    } <= pairs
    assert {"--read-only", "--no-healthcheck"} <= set(words)
    assert not {"--privileged", "--cap-add", "--device", "--publish", "--volume", "--pid", "--userns"} & set(words)
    assert words[-2:] == ["1" * 64, "--not-an-option"]
    assert f'type=bind,"source={tmp_path}/a ""layer"", of ours",target=/app,readonly' in words
    assert sum("noexec" in word and "size=33554432" in word for word in words) == 3


def test_processes_of_a_shared_user_are_counted_by_the_control_group(tmp_path: Path) -> None:
    words = creation_arguments(EngineFlavour.PODMAN, replace(wanted(tmp_path), alone=False))
    assert "nproc=4096:4096" in words
    assert words[words.index("--pids-limit") + 1] == "64"


@pytest.mark.parametrize("flavour", list(EngineFlavour))
def test_a_container_sees_no_terminal_no_queue_and_of_the_machine_only_what_images_need(
    tmp_path: Path, flavour: EngineFlavour
) -> None:
    found = creation_arguments(flavour, wanted(tmp_path))
    empty = {word.split(":")[0] for before, word in pairwise(found) if before == "--tmpfs" and ":ro," in word}
    assert empty == {"/dev/pts", "/dev/mqueue"}
    assert {f"type=bind,source=/dev/null,target=/dev/{name},readonly" for name in ("full", "tty", "zero")} <= set(found)
    assert any(
        word.startswith("/sys:ro,") for word in creation_arguments(flavour, replace(wanted(tmp_path), blind=True))
    )


def test_a_server_is_not_process_1_which_survives_its_own_signals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tini-static").write_text("")
    (tmp_path / "tini-static").chmod(0o755)
    monkeypatch.setattr("crawler.sandbox.engines.container.INIT_FOLDERS", str(tmp_path))
    assert "--init" in creation_arguments(EngineFlavour.DOCKER, wanted(tmp_path))
    words = creation_arguments(EngineFlavour.PODMAN, wanted(tmp_path))
    assert words[words.index("--init") + 1 :][:2] == ["--init-path", f"{tmp_path}/tini-static"]
    # Podman would write its own into a folder that all containers share.
    words = creation_arguments(EngineFlavour.PODMAN, replace(wanted(tmp_path), root=tmp_path))
    assert "--init" not in words
    assert words[-3:] == ["/dev/init", "--", "--not-an-option"]


@pytest.mark.skipif(shutil.which("docker") is None, reason="the client of Docker is not installed")
def test_the_client_of_docker_knows_every_option(tmp_path: Path) -> None:
    said = _refused("docker", creation_arguments(EngineFlavour.DOCKER, wanted(tmp_path)), tmp_path)
    assert "Cannot connect" in said or "daemon" in said.lower(), said


def _refused(program: str, words: list[str], folder: Path) -> str:
    for file in ("profile.json", "resolv.conf"):
        (folder / file).write_text("{}")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "DOCKER_HOST": f"unix://{folder}/nobody.sock"}
    return subprocess.run([program, *words], env=environment, capture_output=True, text=True, check=False).stderr


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def test_a_server_is_spoken_to_and_its_container_removed(engine: StandIn) -> None:
    async def talk() -> None:
        started = await engine.start(GREET)
        assert len(engine.containers()) == 1
        await started.write(b"you\n")
        assert await started.read(100) == b"hello you\n"
        assert started.runtime == engine.engine.flavour
        await started.close_stdin()
        assert await said_by(started) == b""
        assert (await started.stop()).code == 0
        assert engine.containers() == []

    run(talk())


@pytest.mark.parametrize("starves", ["yes", ""])
def test_a_note_that_the_kernel_killed_for_want_of_memory_is_found_and_removed(engine: StandIn, starves: str) -> None:
    engine.behave(starves=starves)

    async def end() -> None:
        started = await engine.start("raise SystemExit(137)")
        assert await said_by(started) == b""
        found = await started.stop()
        assert (found.code, "memory limit" in found.stderr) == ((None, True) if starves else (-9, False))

    run(end())
    assert list((engine.cache / "work").iterdir()) == []


def test_clients_get_no_environment_but_what_names_the_engine(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "topsecret")

    async def talk() -> None:
        await (await engine.start("print(1)")).stop()

    run(talk())
    assert all(
        found.keys() <= {"PATH", "LANG", "LC_CTYPE", "PWD", *FORWARDED_VARIABLES} for found in engine.environments()
    )
    assert "topsecret" not in (engine.home / "log.state").read_text()


@pytest.mark.parametrize("failing", ["create", "start"])
def test_what_cannot_be_started_is_our_failure_and_leaves_nothing(engine: StandIn, failing: str) -> None:
    engine.behave(**{failing: "no room"})

    async def fail() -> None:
        with pytest.raises(SandboxError, match="no room"):
            await engine.start(GREET)
        assert engine.containers() == []

    run(fail())


def test_a_cancelled_start_leaves_nothing(docker: StandIn) -> None:
    docker.behave(delay="60")

    async def cancel() -> None:
        starting = asyncio.create_task(docker.start(SLEEP))
        assert await until(docker.containers)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert docker.containers() == []

    run(cancel())


@pytest.mark.parametrize(
    ("code", "limits", "why"),
    [
        (SLEEP, Limits(seconds=4), "time limit"),
        ("while True: print('x' * 100000)", Limits(output=1 << 20), "output limit"),
        ("import sys\nwhile True: sys.stderr.write('x' * 100000)", Limits(errors=1 << 20), "stderr limit"),
    ],
)
def test_a_limit_removes_the_container_before_anybody_stops_it(
    docker: StandIn, code: str, limits: Limits, why: str
) -> None:
    async def overdo() -> None:
        started = await docker.start(code, limits=limits)
        pid = docker.containers()[0]["Pid"]
        assert isinstance(pid, int)
        await said_by(started)
        assert await until(lambda: not docker.containers() and not alive(pid))
        assert why in (await started.stop()).stderr

    run(overdo())


def test_our_own_death_removes_the_container(docker: StandIn) -> None:
    where = (docker.home, docker.cache, docker.root, docker.engine.binary)
    died = subprocess.run([sys.executable, "-c", DIE, *map(str, where)], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert asyncio.run(until(lambda: not docker.containers()))


def test_what_the_dead_left_is_swept_and_the_living_is_not(docker: StandIn) -> None:
    async def sweep() -> None:
        living = await docker.runtime()
        started = await docker.start(SLEEP, runtime=living)
        dead = claim_containers(docker.cache)
        left = docker.containers()[0] | {"Pid": 0}
        for name in (dead.next_name(), "hallmark-ffffffffffff-0", "somebody-else"):
            docker.keep(name, left)
        os.close(dead.handle)  # as the kernel does
        await open_container_runtime(docker.engine, docker.cache)
        assert sorted(path.stem for path in docker.home.glob("*-*.state")) == sorted(
            [f"hallmark-{living.owner.token}-0", "hallmark-ffffffffffff-0", "somebody-else"]
        )
        await started.stop()

    run(sweep())


def test_a_process_that_only_the_engine_may_end_has_no_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    own = ContainerState(
        begun=True, pid=os.getpid(), container=Path("/proc/self/mountinfo").read_text()[:64], starved=False
    )
    handle = _init(own)
    assert handle is not None
    os.close(handle.handle)
    monkeypatch.setattr(signal, "pidfd_send_signal", refuse)
    assert _init(own) is None


def test_removing_is_tried_again(docker: StandIn) -> None:
    async def refuse() -> None:
        started = await docker.start(SLEEP)
        pid = docker.containers()[0]["Pid"]
        assert isinstance(pid, int)
        docker.behave(keeps="yes")
        await started.stop()
        assert len(docker.asked("rm")) == 4
        os.killpg(pid, signal.SIGKILL)

    run(refuse())


def test_docker_gets_our_root_file_system_as_an_image_once(tmp_path: Path) -> None:
    engine = stand_in(tmp_path, EngineFlavour.DOCKER)

    async def twice() -> None:
        for _ in range(2):
            await (await engine.start("print(1)")).stop()

    run(twice())
    assert [words[-1] for words in engine.asked("import")] == ["hallmark-sandbox:root-key"]
    assert all("hallmark-sandbox:root-key" in words for words in engine.asked("create"))


def test_podman_gets_our_root_file_system_by_a_path_without_links(tmp_path: Path) -> None:
    engine = stand_in(tmp_path, EngineFlavour.PODMAN)
    (tmp_path / "link").symlink_to(engine.root.parent)

    async def once() -> None:
        started = await dataclasses.replace(engine, root=tmp_path / "link/root").start(SLEEP)
        assert [found["image"] for found in engine.containers()] == [str(engine.root.resolve())]
        await started.stop()

    asyncio.run(once())


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_engines_get_the_same_system_calls_as_bubblewrap(machine: str) -> None:
    found: dict[str, Any] = build_profile(machine)
    free = [rule for rule in found["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" and not rule["args"]]
    allowed = {call.name for call in syscalls.ALLOWED if call.number(machine) is not None}
    assert [set(rule["names"]) for rule in free] == [allowed]
    judged = {name for rule in found["syscalls"] if rule.get("args") for name in rule["names"]}
    judged_here = {
        "clone",
        "fcntl",
        "ioctl",
        "madvise",
        "mmap",
        "prctl",
        "preadv2",
        "setsockopt",
        "socket",
        "socketpair",
    }
    assert judged == judged_here
    idle = [rule for rule in found["syscalls"] if rule.get("errnoRet") == 0]
    assert [set(rule["names"]) for rule in idle] == [{call.name for call in syscalls.WITHOUT_EFFECT}]
    assert found["defaultAction"] == "SCMP_ACT_ERRNO"


@pytest.mark.parametrize(
    ("call", "values", "allowed"),
    [
        ("clone", [0x3D0F00], True),
        ("clone", [0x10000000], False),
        ("mmap", [0, 0, 0, 0x22], True),
        ("mmap", [0, 0, 0, 0x1], True),
        ("mmap", [0, 0, 0, 0x21], False),
        ("mmap", [0, 0, 0, 0x122], False),
        ("fcntl", [3, 6], True),
        ("fcntl", [3, 1024], False),
        ("fcntl", [3, 1026], False),
        ("madvise", [0, 0, 4], True),
        ("madvise", [0, 0, 21], False),
        ("preadv2", [3, 0, 1, 0, 0, 0], True),
        ("preadv2", [3, 0, 1, 0, 0, 8], False),
        ("socket", [2, 0x80801, 0], True),
        ("socket", [16, 0x80003, 0], True),
        ("socket", [16, 3, 12], False),
        ("socket", [16, 1, 0], False),
        ("socket", [17, 3, 0], False),
        ("socketpair", [16, 3, 0], False),
        ("socket", [2, 3, 0], False),
        ("setsockopt", [0, 1, 2], True),
        ("setsockopt", [0, 1, 26], False),
        ("setsockopt", [0, 6, 31], False),
        ("setsockopt", [0, 255, 1], False),
    ],
)
def test_arguments_are_judged_as_bubblewrap_has_them_judged(call: str, values: list[int], allowed: bool) -> None:
    rules: list[Any] = build_profile("x86_64")["syscalls"]  # type: ignore[assignment]
    about = [rule["args"] for rule in rules if call in rule["names"]]
    assert any(all(_holds(each, values) for each in conditions) for conditions in about) is allowed


def _holds(condition: dict[str, Any], values: list[int]) -> bool:
    value = values[condition["index"]]
    if condition["op"] == "SCMP_CMP_EQ":
        return bool(value == condition["value"])
    return bool(value & condition["value"] == condition["valueTwo"])


def test_no_rule_asks_twice_about_one_argument() -> None:
    rules: list[Any] = build_profile("x86_64")["syscalls"]  # type: ignore[assignment]
    for rule in rules:
        asked = [condition["index"] for condition in rule.get("args", [])]
        assert len(asked) == len(set(asked)), rule
    with pytest.raises(seccomp_filter.UnsupportedMachineError):
        build_profile("riscv64")
