"""A real Podman and a real Docker, where they work: what they hold, that they end at once, and change nothing of ours.

Docker's engine is started here, with its state in a folder of its own; nothing is asked of one that runs already.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.http.address_guard import AddressGuard
from crawler.launcher import ProcessExit
from crawler.sandbox import EvictionPolicy, Rootfs
from crawler.sandbox.boxes import process_tree
from crawler.sandbox.boxes.box import Bind, Box
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.engines import rootfs_image
from crawler.sandbox.engines.container_cleanup import list_container_names
from crawler.sandbox.engines.container_runtime import Containers, open_container_runtime
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.engines.images import ARCHITECTURES, Images
from crawler.sandbox.engines.pulled_images import PulledImages
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.user_ids import FIRST_SLOT_UID, claim_slot
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox import unprivileged
from tests.crawler.sandbox.attacks import archives, roster
from tests.crawler.sandbox.docker_daemon import NoDaemonError, asked, daemon
from tests.crawler.sandbox.driving import NOON
from tests.crawler.sandbox.engines import real_podman, said_by, until
from tests.crawler.sandbox.image_server import ImageServer, digest
from tests.crawler.sandbox.test_hostile_packages import SHARING, attacked, judge

pytestmark = [pytest.mark.sandbox, pytest.mark.soak, pytest.mark.timeout(1800)]
PYTHON = ("/usr/bin/python3", "-S", "-c")
REFUSALS = """
import ctypes, json, os, socket
def tried(what):
    try: what()
    except OSError as error: return "refused"
    return "done"
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(json.dumps({
    "files": [tried(lambda p=p: open(p + "/x", "w")) for p in ("", "/usr", "/app", "/dev", "/run", "/sys", "/etc")],
    "work": [tried(lambda p=p: open(p + "/x", "w")) for p in ("/tmp", "/tmp/work", "/dev/shm")],
    "network": [tried(lambda a=a: socket.create_connection((a, 80), 2)) for a in ("127.0.0.1", "169.254.169.254")],
    "sockets": [tried(lambda f=f: socket.socket(f, 3, p)) for f, p in ((16, 12), (17, 0), (38, 0), (40, 0))],
    "namespaces": [libc.unshare(flag) for flag in (0x10000000, 0x20000, 0x40000000)],
    "capabilities": [status[name].strip("0") for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")],
    "terminals": [os.path.exists(place) for place in ("/dev/ptmx", "/dev/pts/0")], "machine": os.listdir("/sys"),
    "nothing": [os.stat(place).st_rdev for place in ("/dev/zero", "/dev/full", "/dev/tty")],
    "privileges": status["NoNewPrivs"], "seccomp": status["Seccomp"], "user": os.getuid(),
    "names": open("/etc/resolv.conf").read(), "users": open("/etc/passwd").read(),
    "app": open("/app/greeting").read(), "own": sorted(os.environ),
}))
"""
# What an engine's container has and bubblewrap's does not: files that are empty or name no machine, folders of nothing,
# /dev/null by other names, the limits of the container's own group, and a first process that hands signals on.
HARMLESS = {
    "attack_control_groups": {"/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"},
    "attack_devices": {"tty", "zero", "full", "mqueue", "others"},
    "attack-node-devices": {"tty", "zero"},
    "attack_first_process": {"stop it"},
    "attack_host_files": {"/.dockerenv", "/sys"},
    "attack-node-files": {"/sys"},
    "attack_identity": {"/etc/hostname"},
}
DIE = """
import asyncio, json, os, signal, sys
from pathlib import Path
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.engines.container_runtime import open_container_runtime
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.kernel.user_ids import Identity
from crawler.sandbox.kernel.limits import Limits
async def main(binary, environment, cache, root):
    engine = Engine(EngineFlavour(Path(binary).name), Path(binary), json.loads(environment))
    runtime = await open_container_runtime(engine, Path(cache))
    box = Box(root=Path(root), binds=(), limits=Limits())
    await runtime.start(box, ("/usr/bin/python3", "-S", "-c", "import time; time.sleep(600)"), Identity(64163))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main(*sys.argv[1:]))
"""
ORDINARY = """
import asyncio, json, os, sys
from pathlib import Path
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.engines.container_cleanup import list_container_names
from crawler.sandbox.kernel.user_ids import claim_slot
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.runtime_selection import open_engine_runtime, check_runtime
async def main(cache, root):
    state = check_runtime("docker", os.environ)
    said, end, left = b"", None, None
    if state.ok:
        runtime = await open_engine_runtime("docker", Path(cache), os.environ)
        async with claim_slot(Path(cache)) as who:
            box = Box(root=Path(root), binds=(), limits=Limits())
            code = "import os, time; print(os.getuid(), flush=True); time.sleep(600)"
            started = await runtime.start(box, ("/usr/bin/python3", "-S", "-c", code), who)
            said = await started.read(100)
            end = (await started.stop()).code
        left = await list_container_names(runtime.engine)
    print(json.dumps([os.getuid(), state.ok, state.why, said.decode(), end, left]))
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(scope="module", params=list(EngineFlavour))
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A real engine of each flavour, in which nothing is left afterwards."""
    with contextlib.ExitStack() as held:
        if request.param is EngineFlavour.DOCKER:
            try:
                found: Engine | str = held.enter_context(daemon(unprivileged.STRANGER))
            except NoDaemonError as error:
                found = str(error)
        else:
            found = real_podman(tmp_path_factory.mktemp("podman"))
        if isinstance(found, str):
            pytest.skip(found)
        yield found
        assert asked(found, "ps", "--all", "--quiet") == asked(found, "volume", "ls", "--quiet") == ""


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Bind]:
    tmp_path.chmod(0o755)
    folder = tmp_path / "a layer, of ours"
    folder.mkdir(mode=0o755)
    (folder / "greeting").write_text("hello")
    yield Bind(folder, "/app")
    assert [path.name for path in folder.iterdir()] == ["greeting"]


async def start(
    runtime: Containers, root: Path, code: str, cache: Path, *binds: Bind, limits: Limits | None = None
) -> ContainedProcess:
    async with claim_slot(cache) as who:
        return await runtime.start(Box(root=root, binds=binds, limits=limits or Limits()), (*PYTHON, code), who)


def test_a_container_holds_what_the_sandbox_promises(engine: Engine, cache: Path, rootfs: Rootfs, layer: Bind) -> None:
    before = snapshot(rootfs.root)

    async def look() -> tuple[dict[str, Any], ProcessExit]:
        runtime = await open_container_runtime(engine, cache)
        started = await start(runtime, rootfs.root, REFUSALS, cache, layer)
        said = await said_by(started)
        end = await started.stop()
        assert await list_container_names(engine) == []
        return json.loads(said or b"{}"), end

    found, end = asyncio.run(look())
    assert end == ProcessExit(0, ""), end
    assert set(found["files"]) == set(found["network"]) == set(found["sockets"]) == {"refused"}
    assert set(found["work"]) == {"done"}
    assert found["namespaces"] == [-1, -1, -1]
    assert found["capabilities"] == [""] * 5
    assert (found["privileges"], found["seccomp"], found["app"]) == ("1", "2", "hello")
    assert found["terminals"] == [False, False]
    assert set(found["machine"]) <= {"fs"}  # where Podman mounts the container's own groups
    assert set(found["nothing"]) == {os.stat("/dev/null").st_rdev}
    assert found["user"] >= 64101
    assert found["names"] == (rootfs.root / "etc/resolv.conf").read_text()
    assert found["users"] == (rootfs.root / "etc/passwd").read_text()
    assert set(found["own"]) <= {"PATH", "HOME", "LANG", "TMPDIR", "TZ", "HOSTNAME", "TERM", "container", "LC_CTYPE"}
    assert snapshot(rootfs.root) == before


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    """Mode and time of change of everything near the top, where an engine makes what it misses."""
    places = [root, *root.iterdir(), *(root / "etc").iterdir(), *(root / "run").iterdir()]
    return {str(path): (path.lstat().st_mode, path.lstat().st_ctime_ns) for path in places}


def test_every_descendant_is_dead_when_its_server_is_stopped(engine: Engine, cache: Path, rootfs: Rootfs) -> None:
    mark = f"time.sleep({600 + secrets.randbelow(1_000_000) / 1_000_000})"  # other tests have servers that sleep too
    code = f"import os, time\nfor _ in range(9): os.fork() or (os.setsid(), {mark})\nprint('up', flush=True)\n{mark}"

    async def kill() -> float:
        runtime = await open_container_runtime(engine, cache)
        started = await start(runtime, rootfs.root, code, cache)
        assert await started.read(10) == b"up\n"
        pids = [int(line) for line in running(mark)]
        assert len(pids) >= 10
        began = time.perf_counter()
        started.kill()
        assert await until(lambda: not running(mark), 60)
        took = time.perf_counter() - began
        await started.stop()
        return took

    assert asyncio.run(kill()) < 30.0


def running(text: str) -> list[str]:
    """Processes of ours in containers whose command line holds `text`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line, owner = (entry / "cmdline").read_bytes(), (entry / "status").read_text()
            except OSError:
                continue
            if text.encode() in line and any(f"Uid:\t{uid}\t" in owner for uid in range(64101, 64165)):
                found.append(entry.name)
    return found


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV); print('lived')", ProcessExit(-11, "")),
        ("import sys; print('so be it', file=sys.stderr); sys.exit(3)", ProcessExit(3, "so be it\n")),
        (
            "x = bytearray(200 << 20)",
            ProcessExit(None, "sandbox: stopped at the memory limit of 64 MiB", "memory limit of 64 MiB"),
        ),
    ],
)
def test_how_a_server_ended_is_what_it_did(
    engine: Engine, cache: Path, rootfs: Rootfs, code: str, end: ProcessExit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_tree, "measure_private_memory", lambda _: 0)  # the kernel is to be the first to see it

    async def look() -> ProcessExit:
        runtime = await open_container_runtime(engine, cache)
        started = await start(runtime, rootfs.root, code, cache, limits=Limits(memory=64 << 20))
        assert await said_by(started) == b""
        return await started.stop()

    assert asyncio.run(look()) == end
    assert not [left for left in (cache / "work").glob("container-*") if left.exists()]


def test_our_own_death_ends_the_container(engine: Engine, cache: Path, rootfs: Rootfs) -> None:
    where = (engine.binary, json.dumps(dict(engine.environment)), cache, rootfs.root)
    died = subprocess.run([sys.executable, "-c", DIE, *map(str, where)], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr

    async def gone() -> bool:
        for _ in range(100):
            if not await list_container_names(engine):
                return True
            await asyncio.sleep(0.1)
        return False

    assert asyncio.run(gone())


def test_an_image_is_pulled_from_its_registry_and_runs_as_an_ordinary_user(
    engine: Engine, cache: Path, rootfs: Rootfs, tmp_path: Path
) -> None:
    machine = ARCHITECTURES[platform.machine()]
    small = minimal(tmp_path / "image", rootfs.root)
    command = ["/opt/python/bin/" + os.path.basename(os.readlink(rootfs.root / "opt/python/bin/python3")), "-S", "-c"]
    program = "import os, sys; print(os.getuid(), sys.argv[1:], os.listdir('/data'))"
    config = {"User": "root", "Volumes": {"/data": {}}, "Env": ["PYTHONHOME=/opt/python"]}
    with ImageServer(small, [*command, program], config, machine) as server:
        engine = insecure(engine, server.address, tmp_path)
        identifier = f"{server.address}/example/server"

        async def pull(version: str) -> tuple[ContainedProcess | Absent, bytes]:
            runtime = await open_container_runtime(engine, cache)
            images = Images(
                runtime, rootfs.root / "etc/resolv.conf", lambda: NOON, timedelta(1), AddressGuard(allow_private=True)
            )
            wanted = Target(type=TargetType.OCI, identifier=identifier, version=version, arguments=("--flag",))
            async with claim_slot(cache) as who:
                found = await images.start(wanted, who, Limits(), {})
                said = b"" if isinstance(found, Absent) else await said_by(found)
                if not isinstance(found, Absent):
                    await found.stop()
            return found, said

        found, said = asyncio.run(pull("1.0"))
        assert not isinstance(found, Absent), found
        assert said.split()[1:] == [b"['--flag']", b"[]"], said
        assert int(said.split()[0]) >= 64101
        assert found.facts["version"] == digest(server.manifest)
        questions = len(server.asked)
        assert not isinstance(asyncio.run(pull(digest(server.manifest)))[0], Absent)
        assert len(server.asked) == questions
        missing = asyncio.run(pull("2.0"))[0]
        assert isinstance(missing, Absent)
        assert missing.reason is Reason.NO_PACKAGE
        evicted = asyncio.run(
            PulledImages(engine, cache).evict(EvictionPolicy(size=0), datetime.now(UTC) + timedelta(hours=1))
        )
        assert (evicted.images, evicted.kept) == (1, 0)
        assert not isinstance(asyncio.run(pull(digest(server.manifest)))[0], Absent)
        assert len(server.asked) > questions


@pytest.mark.parametrize("member", [True, False])
def test_an_ordinary_user_needs_to_be_in_the_engine_s_group(
    engine: Engine, rootfs: Rootfs, tmp_path: Path, member: bool
) -> None:
    if engine.flavour is EngineFlavour.PODMAN:
        pytest.skip("Podman has no group: each user has an engine of its own")
    pulled = PulledImages(engine, tmp_path)
    asyncio.run(
        rootfs_image.import_rootfs_image(pulled, rootfs.root)
    )  # from a folder that an ordinary user may not read here
    command = [*unprivileged.command("code")[:-2], "-c", ORDINARY]
    command = [word if member else word.replace("--regid=", "--regid=1") for word in command]
    with tempfile.TemporaryDirectory(prefix="hallmark-ordinary-") as cache:
        os.chown(cache, unprivileged.STRANGER, unprivileged.STRANGER)
        environ = {**unprivileged.environment(Path(cache)), "DOCKER_HOST": engine.environment["DOCKER_HOST"]}
        done = subprocess.run(
            [*command, cache, str(rootfs.root)],
            cwd=unprivileged.REPOSITORY,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout, done.stderr
    served = [True, "", f"{FIRST_SLOT_UID}\n", None, []]
    refused = [False, "Docker's engine does not answer", "", None, None]
    assert json.loads(done.stdout) == [unprivileged.STRANGER, *(served if member else refused)]


def test_attacks_are_stopped_in_it_as_in_bubblewrap(
    engine: Engine, shared_cache: Path, rootfs: Rootfs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in engine.environment.items():
        monkeypatch.setenv(name, value)
    with tempfile.TemporaryDirectory(prefix="hallmark-attacks-") as folder:
        found = attacked(Path(folder), shared_cache, rootfs, engine.flavour.value, stranger=False)
    for name, came in found.items():
        reports = {what: said for what, said in came.reports.items() if what not in HARMLESS.get(name, ())}
        assert reports or name not in SHARING or name in HARMLESS, name
        expected = roster.ALONE.get(name, roster.Alone())
        reasons = next((one.reason for one in archives.ALL if one.name == name), expected.reasons)
        judge(replace(came, reports=reports), tuple(reason.value for reason in reasons), expected.says)


def insecure(engine: Engine, address: str, folder: Path) -> Engine:
    """The same engine, configured for plain HTTP to one registry."""
    conf = folder / "registries.conf"
    conf.write_text(f'[[registry]]\nlocation="{address}"\ninsecure=true\n')
    return Engine(engine.flavour, engine.binary, {**engine.environment, "CONTAINERS_REGISTRIES_CONF": str(conf)})


def minimal(folder: Path, root: Path) -> Path:
    """The root file system without Node, which makes nine tenths of it."""
    subprocess.run(["/bin/cp", "-a", "--reflink=auto", str(root), str(folder)], check=True)
    for name in ("usr/bin/node", "etc/mtab"):
        (folder / name).unlink()
    return folder
