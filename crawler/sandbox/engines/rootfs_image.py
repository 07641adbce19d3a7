"""Our root file system as an image of Docker's, which cannot run a folder; imported once for each version of it."""

from __future__ import annotations

import asyncio
import subprocess
import tarfile
from pathlib import Path

from crawler.sandbox.engines.engine import Engine
from crawler.sandbox.engines.pulled_images import PulledImages
from crawler.sandbox.errors import SandboxError

REPOSITORY = "hallmark-sandbox"
IMPORT_SECONDS = 300.0


async def import_rootfs_image(pulled: PulledImages, root: Path) -> str:
    """The name of the image made of `root`, imported if the engine does not have it; raises SandboxError."""
    engine = pulled.engine
    name = f"{REPOSITORY}:{root.parent.name}"  # the folder above is named by the digest of what went into it
    known = await _known(engine, name)
    if known is None or not await asyncio.to_thread(pulled.use, known[0]):
        if known is None:
            await asyncio.to_thread(_import, engine, root, name)
            known = await _known(engine, name)
        if known is not None:
            pulled.remember(known[0], name, known[1])
    return name


async def _known(engine: Engine, name: str) -> tuple[str, int] | None:
    """Identifier and bytes of an image that is there."""
    said = await engine.ask("image", "inspect", "--format", "{{.Id}} {{.Size}}", name)
    identifier, _, size = said.out.strip().partition(" ")
    return None if said.code else (identifier, int(size) if size.isdecimal() else 0)


def _import(engine: Engine, root: Path, name: str) -> None:
    command = [str(engine.binary), "import", "-", name]
    try:
        with subprocess.Popen(  # noqa: S603
            command,
            env=engine.client_environment,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                _pack(root, process)
                code = process.wait(IMPORT_SECONDS)
            finally:
                process.kill()
    except (OSError, subprocess.TimeoutExpired, tarfile.TarError) as error:
        raise SandboxError(
            f"{engine.flavour} could not import the root file system ({type(error).__name__})"
        ) from error
    if code:
        raise SandboxError(f"{engine.flavour} could not import the root file system (exit code {code})")


def _pack(root: Path, process: subprocess.Popen[bytes]) -> None:
    stream = process.stdin
    if stream is not None:
        with stream, tarfile.open(fileobj=stream, mode="w|") as archive:
            archive.add(root, arcname=".", filter=_owned_by_root)


def _owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
