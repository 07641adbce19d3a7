"""Imports our root file system as a Docker image, since Docker cannot run a folder; once per version."""

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
    """The name of the image of `root`, imported if the engine does not have it; raises SandboxError."""
    engine = pulled.engine
    name = f"{REPOSITORY}:{root.parent.name}"  # the parent folder is named by the digest of its inputs
    known = await _inspect_image(engine, name)
    if known is None or not await asyncio.to_thread(pulled.use, known[0]):
        if known is None:
            await asyncio.to_thread(_import, engine, root, name)
            known = await _inspect_image(engine, name)
        if known is not None:
            pulled.remember(known[0], name, known[1])
    return name


async def _inspect_image(engine: Engine, name: str) -> tuple[str, int] | None:
    """Identifier and bytes of an image; None if it does not exist."""
    answer = await engine.run("image", "inspect", "--format", "{{.Id}} {{.Size}}", name)
    identifier, _, size = answer.out.strip().partition(" ")
    return None if answer.code else (identifier, int(size) if size.isdecimal() else 0)


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
