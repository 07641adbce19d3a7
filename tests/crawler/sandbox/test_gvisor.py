"""gVisor inside bubblewrap: the configuration of runsc, and its containment where runsc is installed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from crawler.launcher import ProcessExit
from crawler.sandbox import Limits, Rootfs
from crawler.sandbox.boxes.box import Bind, Box
from crawler.sandbox.boxes.gvisor import Gvisor, bundle_specification, runsc_limits
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel.user_ids import claim_slot
from crawler.sandbox.runtime_selection import verify_runtime
from tests.crawler.sandbox import census
from tests.crawler.sandbox.engines import said_by

RUNSC = shutil.which("runsc", path="/usr/bin:/usr/local/bin")
installed = pytest.mark.skipif(RUNSC is None, reason="runsc is not installed (apt-get install runsc)")
PYTHON = ("/usr/bin/python3", "-S", "-c")
MIB = 1 << 20
SHARING = """
import mmap
held = []
while True:
    print("up", flush=True)
    held.append(mmap.mmap(-1, 64 << 20))
    held[-1].write(bytes(b"x") * (64 << 20))
"""


def boxed(root: Path, *binds: Bind, limits: Limits | None = None) -> Box:
    return Box(root=root, binds=binds, environment={"A": "1"}, limits=limits or Limits())


def test_the_runsc_specification_grants_no_extra_access(tmp_path: Path) -> None:
    found: dict[str, Any] = bundle_specification(
        boxed(tmp_path, Bind(tmp_path / "layer", "/app")), ("/usr/bin/node", "x")
    )
    assert found["root"] == {"path": "/server", "readonly": True}
    assert found["process"]["capabilities"] == {}
    assert found["process"]["user"]["uid"] == 1000
    assert found["process"]["noNewPrivileges"] is True
    assert found["process"]["args"] == ["/usr/bin/node", "x"]
    assert {"type": "RLIMIT_NPROC", "soft": 64, "hard": 64} in found["process"]["rlimits"]
    mounts = {mount["destination"]: mount for mount in found["mounts"]}
    assert mounts["/app"]["options"] == ["rbind", "ro"]
    assert str(tmp_path) not in json.dumps(found)
    assert all("noexec" in mounts[place]["options"] for place in ("/tmp", "/tmp/work", "/dev/shm"))


@pytest.mark.parametrize(("memory", "file"), [(1024, 1024), (7, 1024), (1025, 2048)])
def test_the_memory_file_of_runsc_is_the_cap_on_memory(memory: int, file: int) -> None:
    assert runsc_limits(Limits(memory=memory * MIB)).file_size == file * MIB


def run(cache: Path, box: Box, code: str, binary: Path | None = None) -> tuple[bytes, ProcessExit]:
    async def start() -> tuple[bytes, ProcessExit]:
        async with claim_slot(cache) as who:
            started = await Gvisor(binary or Path(str(RUNSC))).start(box, (*PYTHON, code), who)
            assert started.runtime == "gvisor"
            said = await said_by(started)
            return said, await started.stop()

    return asyncio.run(start())


@pytest.mark.sandbox
def test_a_runsc_that_does_not_work_is_noticed_before_a_server_is_blamed(cache: Path, rootfs: Rootfs) -> None:
    with pytest.raises(SandboxError, match="gvisor cannot start anything here"):
        asyncio.run(verify_runtime(Gvisor(Path("/bin/false")), cache, rootfs.root))


@installed
@pytest.mark.sandbox
def test_a_server_runs_on_another_kernel_and_leaves_nothing(cache: Path, rootfs: Rootfs, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    layer.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    (layer / "greeting").write_text("hello")
    before = census.take(cache)
    code = "import os; print(os.uname().release, open('/app/greeting').read(), os.getuid(), os.listdir('/app'))"
    said, end = run(cache, boxed(rootfs.root, Bind(layer, "/app")), code)
    assert said.split()[1:] == [b"hello", b"1000", b"['greeting']"], (said, end)
    assert said.split()[0].decode() != os.uname().release
    assert end == ProcessExit(0, "")
    assert census.take(cache).leaks(before) == []


@installed
@pytest.mark.sandbox
def test_nothing_of_the_host_is_there(cache: Path, rootfs: Rootfs) -> None:
    code = """
import os, socket
for path in ("/root", "/home", "/etc/shadow", "/bundle", "/runsc", "/sources"):
    print(path, os.path.exists(path))
for address in (("127.0.0.1", 22), ("169.254.169.254", 80)):
    try: print(socket.create_connection(address, 2))
    except OSError as error: print("refused")
for path in ("/x", "/app/x", "/usr/x"):
    try: print(open(path, "w"))
    except OSError as error: print("refused")
print(sorted(name for name in os.listdir("/proc") if name.isdigit()), list(os.environ))
"""
    said, _ = run(cache, boxed(rootfs.root), code)
    assert said.count(b"False") == 6, said
    assert said.count(b"refused") == 5, said
    assert b"['1']" in said
    assert b"SUDO" not in said


@installed
@pytest.mark.sandbox
def test_memory_ends_at_the_cap(cache: Path, rootfs: Rootfs) -> None:
    said, end = run(cache, boxed(rootfs.root), SHARING)
    assert said.startswith(b"up\n"), end
    assert said.count(b"\n") <= 1 + 1024 // 64
    assert end.code != 0


@installed
@pytest.mark.sandbox
@pytest.mark.xdist_group("attacks")
def test_all_processes_die_with_the_first(cache: Path, rootfs: Rootfs) -> None:
    code = "import os, time\nfor _ in range(5): os.fork() or (os.setsid(), time.sleep(600))\nprint('up', flush=True)\n"
    code += "time.sleep(600)"

    async def kill() -> float:
        before = census.take(cache)
        async with claim_slot(cache) as who:
            started = await Gvisor(Path(str(RUNSC))).start(boxed(rootfs.root), (*PYTHON, code), who)
            assert await started.read(10) == b"up\n"
            began = time.perf_counter()
            started.kill()
            await started.stop()
            took = time.perf_counter() - began
        assert census.take(cache).leaks(before) == []
        return took

    assert asyncio.run(kill()) < 60
