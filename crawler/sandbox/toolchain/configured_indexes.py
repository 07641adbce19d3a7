"""The package indexes of this process, from the configuration of the user's own npm, pip and uv only."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex, read_npm_index, read_python_index

Given = TypeVar("Given", NpmIndex, PythonIndex)


class ConfiguredIndexes:
    """Reads the configuration of the user's tools once; its methods raise SandboxError when none is configured.

    `environ` is the environment in which the tools run. Without npm in it, Node with its npm is fetched into
    `cache_dir`.
    """

    def __init__(self, environ: Mapping[str, str], cache_dir: Path) -> None:
        self._environ = environ
        self._cache_dir = cache_dir
        self._client = asyncio.Lock()
        self._npm: NpmIndex | SandboxError | None = None
        self._python: PythonIndex | SandboxError | None = None
        self._begun: Future[NpmIndex] | None = None

    def begin_npm(self) -> None:
        """Ask the user's npm in a thread, usually a fifth of a second; without npm in the environment do nothing."""
        if npm := shutil.which("npm", path=self._environ.get("PATH")):
            thread = ThreadPoolExecutor(1)
            self._begun = thread.submit(read_npm_index, self._environ, [npm])
            thread.shutdown(wait=False)

    async def npm(self) -> NpmIndex:
        """The index of `npm config`. A failed download of Node is not the answer of a tool: it is tried again."""
        from crawler.sandbox.toolchain import node  # noqa: PLC0415  with httpx: a scan of a remote reads no index

        async with self._client:
            if self._npm is None and self._begun is not None:
                self._npm = await _ask(asyncio.wrap_future(self._begun))
            if self._npm is None:
                npm = await node.provide_npm(self._cache_dir, self._environ)
                self._npm = await _ask(asyncio.to_thread(read_npm_index, self._environ, npm))
            return _given(self._npm)

    async def python(self) -> PythonIndex:
        """The indexes of uv's or pip's configuration."""
        async with self._client:
            if self._python is None:
                self._python = await _ask(asyncio.to_thread(read_python_index, self._environ))
            return _given(self._python)


async def _ask(answer: Awaitable[Given]) -> Given | SandboxError:
    try:
        return await answer
    except SandboxError as error:
        return error


def _given(answer: Given | SandboxError) -> Given:
    if isinstance(answer, SandboxError):
        raise SandboxError(str(answer))
    return answer
