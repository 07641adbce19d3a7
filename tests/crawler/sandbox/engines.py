"""Engines for tests: the stand-in as `podman` or `docker`, and a real Podman where one works."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.sandbox.boxes.box import Box
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.engines.container_runtime import Containers, open_container_runtime
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json

SOURCE = Path(__file__).with_name("engine_stand_in.py")
ORDINARY_USER = Identity(64163)


@dataclass(frozen=True, slots=True)
class StandIn:
    """A stand-in engine with its state in `home`, a cache, and a root file system of one file."""

    home: Path
    cache: Path
    root: Path
    engine: Engine

    async def runtime(self) -> Containers:
        """The engine as a runtime."""
        return await open_container_runtime(self.engine, self.cache)

    async def start(
        self, code: str, *, limits: Limits | None = None, runtime: Containers | None = None
    ) -> ContainedProcess:
        """Python code in a container."""
        box = Box(root=self.root, binds=(), environment={"A": "1"}, limits=limits or Limits())
        return await (runtime or await self.runtime()).start(box, ("/usr/bin/python3", "-S", "-c", code), ORDINARY_USER)

    def containers(self) -> list[dict[str, Json]]:
        """All that the engine knows of."""
        found = []
        for path in sorted(self.home.glob("hallmark-*.state")):
            with contextlib.suppress(FileNotFoundError):  # removed while we look
                found.append(ast.literal_eval(path.read_text()))
        return found

    def asked(self, command: str) -> list[list[str]]:
        """The words of every use of one command."""
        return [line["words"] for line in self._log() if line["words"][0] == command]

    def environments(self) -> list[dict[str, str]]:
        """The environment of every client."""
        return [line["environment"] for line in self._log()]

    def behave(self, **how: str) -> None:
        """Have it fail from now on."""
        self.keep("behaviour", how)

    def read(self, name: str) -> dict[str, Any]:
        """What the engine keeps by a name."""
        found: dict[str, Any] = ast.literal_eval((self.home / f"{name}.state").read_text())
        return found

    def keep(self, name: str, value: Mapping[str, object]) -> None:
        """Write what the engine reads by a name: `images`, or that of a container."""
        (self.home / f"{name}.state").write_text(repr(value))

    def _log(self) -> list[dict[str, Any]]:
        return [ast.literal_eval(line) for line in (self.home / "log.state").read_text().splitlines()]


def stand_in(folder: Path, flavour: EngineFlavour) -> StandIn:
    """A stand-in below `folder`."""
    home, cache, root = folder / "home", folder / "cache", folder / "root-key" / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
    for made in (home, cache):
        made.mkdir()
    program = folder / flavour.value
    start = f"import sys\nsys.path.append({str(SOURCE.parent)!r})\nimport {SOURCE.stem}\n"  # compiled once
    program.write_text(f"#!{sys.executable} -IS\n{start}sys.exit({SOURCE.stem}.main(sys.argv[1:]))\n")
    program.chmod(0o755)
    return StandIn(home, cache, root, Engine(flavour, program, {"HOME": str(home)}))


def real_podman(folder: Path) -> Engine | str:
    """A Podman with storage of its own and a runtime that works here, or why there is none."""
    binary = shutil.which("podman", path="/usr/bin:/usr/local/bin")
    runtime = next((name for name in ("crun", "runc") if _works(name)), None)
    if binary is None or runtime is None or os.geteuid() != 0:
        return "no Podman that works as root here (apt-get install podman runc)"
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver="vfs"\ngraphroot="{folder}/graph"\nrunroot="{folder}/run"\n', "utf-8"
    )
    (folder / "containers.conf").write_text(f'[engine]\nruntime="{runtime}"\ncgroup_manager="cgroupfs"\n', "utf-8")
    variables = {"CONTAINERS_STORAGE_CONF": "storage.conf", "CONTAINERS_CONF": "containers.conf"}
    environment = {name: str(folder / file) for name, file in variables.items()}
    return Engine(EngineFlavour.PODMAN, Path(binary), {"HOME": str(folder), **environment})


def _works(runtime: str) -> bool:
    if shutil.which(runtime, path="/usr/sbin:/usr/bin:/usr/local/bin") is None:
        return False
    hybrid = Path("/sys/fs/cgroup/unified/cgroup.procs").exists()  # such a hierarchy is refused by crun
    return runtime != "crun" or not hybrid


async def said_by(started: ContainedProcess) -> bytes:
    """Everything it writes until it ends."""
    found = bytearray()
    while data := await started.read(65536):
        found += data
    return bytes(found)


async def until(true: object, seconds: float = 10.0) -> bool:
    """Whether a condition comes true in time."""
    assert callable(true)
    end = asyncio.get_running_loop().time() + seconds
    while not true():
        if asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.02)
    return True
