"""One installer per Python version, and the choice of the one for a package."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.sandbox.boxes.egress_relay import AllowedEndpoints
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.failure_messages import MAX_MESSAGE_LENGTH, stabilise_line
from crawler.sandbox.install.installer import Installer, InstallResult
from crawler.sandbox.layers.layers import Layers
from crawler.sandbox.package_spec import PackageSpec
from crawler.sandbox.toolchain import rootfs
from crawler.sandbox.toolchain.host import Interpreter
from crawler.sandbox.toolchain.index_queries import IndexAnswer
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex
from crawler.sandbox.toolchain.pythons import Pythons
from evidence.model import Absent, Reason, TargetType

_MORE: Final = "install another one, or see HALLMARK_SANDBOX_PYTHONS"
_SHOWN: Final = 80  # characters of a requirement


class Installers(Struct):
    """Installers for other Pythons than our own; their root file systems are built when first needed."""

    cache_dir: Path = Path()
    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda _: None
    pythons: Pythons = field(default_factory=Pythons)
    _made: dict[str, Installer] = field(default_factory=dict)
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get_installer(self, python: str, own: Installer) -> Installer:
        """The installer for a Python (`3.12`); `own` for our own version or an empty text; raises SandboxError."""
        if python in {"", self.pythons.own.version}:
            return own
        async with self._making:
            if python not in self._made:
                self._made[python] = await self._make(python, own)
        return replace(own, rootfs=self._made[python].rootfs, store=self._made[python].store)

    async def install(
        self,
        own: Installer,
        spec: PackageSpec,
        answer: IndexAnswer,
        index: NpmIndex | PythonIndex,
        *,
        endpoints: AllowedEndpoints,
        now: datetime,
    ) -> InstallResult | Absent:
        """Install `spec` with the first Python that it and its dependencies allow; Absent explains a failure."""
        if spec.ecosystem is not TargetType.PYPI:
            return await own.install(spec, answer.newest, index, endpoints, now)
        allowed = self.pythons.allowed(answer.requires_python, spec.python)
        python: Interpreter | None = (
            await _next(allowed) or self.pythons.own
        )  # an older version of the package may allow our own Python
        unfit: Absent | None = None
        while python:
            installer = await self.get_installer(python.version, own)
            found = await installer.install(spec, answer.newest, index, endpoints, now)
            if isinstance(found, InstallResult):
                return replace(found, python="" if installer is own else python.version)
            if found.reason is not Reason.RUNTIME_UNSUPPORTED:
                return found
            unfit, python = unfit or found, await _next(allowed)
        return await asyncio.to_thread(self._refusal, answer.requires_python, unfit)

    def _refusal(self, requirement: str | None, unfit: Absent | None) -> Absent:
        """The required and the available Pythons, and what to do; for a dependency, the resolver's message."""
        have = ", ".join(self.pythons.versions)
        if next(self.pythons.allowed(requirement), None) is None:
            needs = f"it needs Python {stabilise_line(requirement or '')[:_SHOWN]}, and there is {have}; {_MORE}"
            return Absent(Reason.RUNTIME_UNSUPPORTED, needs)
        detail = unfit.detail if unfit else ""
        needs = f"what it depends on needs another Python than there is ({have}; {_MORE}): {detail}"
        return Absent(Reason.RUNTIME_UNSUPPORTED, needs[:MAX_MESSAGE_LENGTH])

    async def _make(self, python: str, own: Installer) -> Installer:
        found = await asyncio.to_thread(self.pythons.get, python)
        if found is None:
            raise SandboxError(f"Python {python} is not there any more; install it again, or start hallmark anew")
        root = await rootfs.build_rootfs(self.cache_dir, self.progress, environ=self.environ, python=found)
        return replace(own, rootfs=root, store=Layers(self.cache_dir, layer_abi(found)))


async def _next(pythons: Iterator[Interpreter]) -> Interpreter | None:
    """The next interpreter, in a thread, since the iterator may start one to examine it."""
    return await asyncio.to_thread(lambda: next(pythons, None))


def layer_abi(python: Interpreter) -> str:
    """The interpreter and machine for which a layer is made."""
    return f"{python.name}-{platform.machine()}"
