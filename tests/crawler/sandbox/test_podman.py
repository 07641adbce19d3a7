"""A real Podman, where one works: what it holds, that it ends at once, and that it changes nothing of ours."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.wire.launch import Exit
from crawler.wire.sandbox import Rootfs
from crawler.wire.sandbox.boxes.box import Bind, Box
from crawler.wire.sandbox.boxes.process import Contained
from crawler.wire.sandbox.engines.containers import Containers, containers_of
from crawler.wire.sandbox.engines.engine import Engine
from crawler.wire.sandbox.engines.images import ARCHITECTURES, Images
from crawler.wire.sandbox.engines.keeper import names
from crawler.wire.sandbox.kernel.identity import slot
from crawler.wire.sandbox.kernel.limits import Limits
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import NOON
from tests.crawler.sandbox.engines import real_podman, said_by, until
from tests.crawler.sandbox.image_server import ImageServer, digest

pytestmark = [pytest.mark.sandbox, pytest.mark.soak]
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
    "privileges": status["NoNewPrivs"], "seccomp": status["Seccomp"], "user": os.getuid(),
    "names": open("/etc/resolv.conf").read(), "app": open("/app/greeting").read(), "own": sorted(os.environ),
}))
"""
DIE = """
import asyncio, json, os, signal, sys
from pathlib import Path
from crawler.wire.sandbox.boxes.box import Box
from crawler.wire.sandbox.engines.containers import containers_of
from crawler.wire.sandbox.engines.engine import Engine, Flavour
from crawler.wire.sandbox.kernel.identity import Identity
from crawler.wire.sandbox.kernel.limits import Limits
async def main(binary, environment, cache, root):
    runtime = await containers_of(Engine(Flavour.PODMAN, Path(binary), json.loads(environment)), Path(cache))
    box = Box(root=Path(root), binds=(), limits=Limits())
    await runtime.start(box, ("/usr/bin/python3", "-S", "-c", "import time; time.sleep(600)"), Identity(64163))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    found = real_podman(tmp_path_factory.mktemp("podman"))
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Bind]:
    tmp_path.chmod(0o755)
    folder = tmp_path / "a layer, of ours"
    folder.mkdir(mode=0o755)
    (folder / "greeting").write_text("hello")
    yield Bind(folder, "/app")
    assert [path.name for path in folder.iterdir()] == ["greeting"]


async def start(runtime: Containers, root: Path, code: str, cache: Path, *binds: Bind) -> Contained:
    async with slot(cache) as who:
        return await runtime.start(Box(root=root, binds=binds, limits=Limits()), (*PYTHON, code), who)


def test_a_container_holds_what_the_sandbox_promises(podman: Engine, cache: Path, rootfs: Rootfs, layer: Bind) -> None:
    before = snapshot(rootfs.root)

    async def look() -> tuple[dict[str, Any], Exit]:
        runtime = await containers_of(podman, cache)
        started = await start(runtime, rootfs.root, REFUSALS, cache, layer)
        said = await said_by(started)
        end = await started.stop()
        assert await names(podman) == []
        return json.loads(said or b"{}"), end

    found, end = asyncio.run(look())
    assert end == Exit(0, ""), end
    assert set(found["files"]) == set(found["network"]) == set(found["sockets"]) == {"refused"}
    assert set(found["work"]) == {"done"}
    assert found["namespaces"] == [-1, -1, -1]
    assert found["capabilities"] == [""] * 5
    assert (found["privileges"], found["seccomp"], found["app"]) == ("1", "2", "hello")
    assert found["user"] >= 64101
    assert found["names"] == (rootfs.root / "etc/resolv.conf").read_text()
    assert set(found["own"]) <= {"PATH", "HOME", "LANG", "TMPDIR", "TZ", "HOSTNAME", "TERM", "container", "LC_CTYPE"}
    assert snapshot(rootfs.root) == before


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    """Mode and time of change of everything near the top, where an engine makes what it misses."""
    places = [root, *root.iterdir(), *(root / "etc").iterdir(), *(root / "run").iterdir()]
    return {str(path): (path.lstat().st_mode, path.lstat().st_ctime_ns) for path in places}


def test_every_descendant_is_dead_when_its_server_is_stopped(podman: Engine, cache: Path, rootfs: Rootfs) -> None:
    code = "import os, time\nfor _ in range(9): os.fork() or (os.setsid(), time.sleep(600))\nprint('up', flush=True)\n"

    async def kill() -> float:
        runtime = await containers_of(podman, cache)
        started = await start(runtime, rootfs.root, code + "time.sleep(600)", cache)
        assert await started.read(10) == b"up\n"
        pids = [int(line) for line in running("time.sleep(600)")]
        assert len(pids) >= 10
        began = time.perf_counter()
        started.kill()
        assert await until(lambda: not running("time.sleep(600)"), 5)
        took = time.perf_counter() - began
        await started.stop()
        return took

    assert asyncio.run(kill()) < 2.0


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


def test_our_own_death_ends_the_container(podman: Engine, cache: Path, rootfs: Rootfs) -> None:
    where = (podman.binary, json.dumps(dict(podman.environment)), cache, rootfs.root)
    died = subprocess.run([sys.executable, "-c", DIE, *map(str, where)], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr

    async def gone() -> bool:
        for _ in range(100):
            if not await names(podman):
                return True
            await asyncio.sleep(0.1)
        return False

    assert asyncio.run(gone())


def test_an_image_is_pulled_from_its_registry_and_runs_as_nobody(
    podman: Engine, cache: Path, rootfs: Rootfs, tmp_path: Path
) -> None:
    machine = ARCHITECTURES[platform.machine()]
    small = minimal(tmp_path / "image", rootfs.root)
    command = ["/opt/python/bin/" + os.path.basename(os.readlink(rootfs.root / "opt/python/bin/python3")), "-S", "-c"]
    program = "import os, sys; print(os.getuid(), sys.argv[1:], os.listdir('/data'))"
    config = {"User": "root", "Volumes": {"/data": {}}, "Env": ["PYTHONHOME=/opt/python"]}
    with ImageServer(small, [*command, program], config, machine) as server:
        engine = insecure(podman, server.address, tmp_path)
        identifier = f"{server.address}/example/server"

        async def pull(version: str) -> tuple[Contained | Absent, bytes]:
            runtime = await containers_of(engine, cache)
            images = Images(runtime, rootfs.root / "etc/resolv.conf", lambda: NOON, timedelta(1))
            wanted = Target(type=TargetType.OCI, identifier=identifier, version=version, arguments=("--flag",))
            async with slot(cache) as who:
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
        asked = len(server.asked)
        assert not isinstance(asyncio.run(pull(digest(server.manifest)))[0], Absent)
        assert len(server.asked) == asked
        missing = asyncio.run(pull("2.0"))[0]
        assert isinstance(missing, Absent)
        assert missing.reason is Reason.NO_PACKAGE


def insecure(podman: Engine, address: str, folder: Path) -> Engine:
    """The same engine, told to speak plain HTTP to one registry."""
    conf = folder / "registries.conf"
    conf.write_text(f'[[registry]]\nlocation="{address}"\ninsecure=true\n')
    return Engine(podman.flavour, podman.binary, {**podman.environment, "CONTAINERS_REGISTRIES_CONF": str(conf)})


def minimal(folder: Path, root: Path) -> Path:
    """The root file system without Node, which makes nine tenths of it."""
    subprocess.run(["/bin/cp", "-a", "--reflink=auto", str(root), str(folder)], check=True)
    for name in ("usr/bin/node", "etc/mtab"):
        (folder / name).unlink()
    return folder
