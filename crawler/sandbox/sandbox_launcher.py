"""The sandbox as a launcher: installs a package if needed, then runs it without a network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace

from crawler.http.deadlines import pause_deadline
from crawler.launcher import LaunchedServer, name_substitute
from crawler.sandbox import package_spec, user_command
from crawler.sandbox.box_slots import BoxSlots
from crawler.sandbox.boxes.box import Bind, Box, can_be_passed
from crawler.sandbox.boxes.egress_relay import AllowedEndpoints
from crawler.sandbox.boxes.inner_sockets import start_with_sockets
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.image_engine import ImageEngine
from crawler.sandbox.install import entrypoints
from crawler.sandbox.install.installer import Installer
from crawler.sandbox.install.installers import Installers
from crawler.sandbox.install.package_file import read_package_file
from crawler.sandbox.install.package_inventory import InstalledTree, read_tree
from crawler.sandbox.install.resolution_cache import Resolutions, ResolvedInstallation, make_installation
from crawler.sandbox.kernel import user_ids
from crawler.sandbox.kernel.limits import RUN, Limits
from crawler.sandbox.runtime import Bubblewrap, Runtime
from crawler.sandbox.toolchain import index_queries, package_indexes, rootfs
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.canonical import Json
from evidence.model import Absent, Reason, Target, TargetType

PACKAGES = frozenset({TargetType.NPM, TargetType.PYPI})
DECLARED = "declared"
DEPENDENCIES_OF = "dependencies_of"
_NO_VERSION = ""  # stands for the newest version in the refusal of one that the index does not have
MAX_INSTALLATIONS = 2  # a package is installed again if its files were changed
_FILES_CHANGING = Absent(
    Reason.SANDBOX_RESTRICTED, "installed files change while they are used; who else writes to the cache?"
)
_INVALID_ARGUMENT = Absent(Reason.START_FAILED, "an argument or variable cannot be passed to a process")
# Seconds for which a layer stays verified: that costs as much as the rest of a start, of up to eleven in a row.
VERIFIED_SECONDS = 30.0
# Python's hash seed is fixed, so that a server responds equally on every start.
RUN_ENVIRONMENT: Mapping[str, str] = {
    "NODE_OPTIONS": "--max-old-space-size=256 --disable-wasm-trap-handler",
    "UV_THREADPOOL_SIZE": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "GIT_PYTHON_REFRESH": "quiet",  # there is no git inside; servers that import GitPython should start nevertheless
}

_Index: TypeAlias = package_indexes.NpmIndex | package_indexes.PythonIndex


@dataclass(slots=True)
class Sandbox:
    """Starts npm, PyPI and command targets in `contained_by`, images in `engine`. Created by `open_sandbox`."""

    cache_dir: Path
    rootfs: rootfs.Rootfs
    indexes: ConfiguredIndexes
    now: Callable[[], datetime]
    installer: Installer
    known: Resolutions
    limits: Limits = RUN
    slots: int = 2
    contained_by: Runtime = field(default_factory=Bubblewrap)
    engine: ImageEngine | None = None
    others: Installers = field(default_factory=Installers)
    _room: BoxSlots = field(init=False)
    _files: dict[str, package_spec.PackageSpec | Absent] = field(default_factory=dict)
    _verified_until: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._room = BoxSlots(self.cache_dir / "slots" / "places", self.slots)

    @property
    def runtime(self) -> str:
        return self.contained_by.name

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        """Install a target if needed and start it; Absent explains a failure."""
        async with contextlib.AsyncExitStack() as held:
            await held.enter_async_context(self._room.hold_slot())
            try:
                found = await self._launch(target, held)
            except SandboxError as error:
                return Absent(Reason.NO_SANDBOX, str(error))
            if isinstance(found, ContainedProcess):
                found.after_stop(held.pop_all().aclose)
            return found

    async def prepare(self, target: Target) -> ResolvedInstallation | Absent:
        """The installed package of a target, from the cache if possible; raises SandboxError.

        The newest version takes the place of a declared one that the index does not have.
        """
        wanted = await self._read_request(target)
        if isinstance(wanted, Absent):
            return wanted
        found = await self._prepare(wanted)
        if wanted.version is None or not isinstance(found, Absent) or found.reason is not Reason.NO_VERSION:
            return found
        newest = await self._prepare(replace(wanted, version=None))
        return found if isinstance(newest, Absent) else replace(newest, declared=wanted.version)

    async def _read_request(self, target: Target) -> package_spec.PackageSpec | Absent:
        if target.type in PACKAGES:
            return package_spec.parse_package_spec(target)
        if not _is_package_file(target):
            return Absent(Reason.RUNTIME_UNSUPPORTED, f"the sandbox installs no {target.type.value} packages")
        if target.identifier not in self._files:
            self._files[target.identifier] = await asyncio.to_thread(read_package_file, Path(target.identifier))
        return self._files[target.identifier]

    def _ecosystem(self, target: Target) -> TargetType:
        """The index of a package, also of one in a file that was read."""
        found = self._files.get(target.identifier)
        return found.ecosystem if isinstance(found, package_spec.PackageSpec) else target.type

    async def _prepare(self, wanted: package_spec.PackageSpec) -> ResolvedInstallation | Absent:
        if wanted.as_of:
            today = replace(wanted, as_of="")
            broken = self.known.find_installation(today)
            self.known.forget_outdated(today, self.now())  # those of today broke it: newer ones may not
            if broken and broken.version != wanted.version:  # an older version, where the newest did not install
                found = await self._prepare_version(wanted.with_version(broken.version))
                if not isinstance(found, Absent):  # for the next start, when today's may be forgotten
                    self.known.store_installation(wanted, found)
                return found
        return await self._prepare_version(wanted)

    async def _prepare_version(self, wanted: package_spec.PackageSpec) -> ResolvedInstallation | Absent:
        async with user_ids.hold_lock(self.known.lock_path(wanted)):
            found = self.known.find_installation(wanted)
            if found and self.known.is_fresh(wanted, found, self.now()):
                return found
            return await self._resolve(wanted, found)

    async def installed(self, target: Target) -> InstalledTree | Absent:
        """The packages of an installed target, which is installed first if needed; Absent explains a failure."""
        async with contextlib.AsyncExitStack() as held:
            with pause_deadline():
                await held.enter_async_context(self._room.hold_slot())
            try:
                found = await self._hold_verified(target, held)
            except SandboxError as error:
                return Absent(Reason.NO_SANDBOX, str(error))
            if isinstance(found, Absent):
                return found
            tree = self.installer.store.tree(found.layer)
            return await asyncio.to_thread(read_tree, tree, self._ecosystem(target), found.name, found.version)

    async def identify(self, target: Target) -> str | None:
        """What a start of this package runs, and what contains it; None if that is not known without an installation.

        A layer that was evicted counts as the one that it was, until the package is installed again.
        """
        wanted = package_spec.parse_package_spec(target) if target.type in PACKAGES else None
        if not isinstance(wanted, package_spec.PackageSpec):
            return None
        async with user_ids.hold_lock(self.known.lock_path(wanted)):
            found = await self._recall(wanted)
        if found is None and wanted.version is not None:  # the newest one may have been started in its place
            found = await self._recall(replace(wanted, version=None))
        if found is None:
            return None
        try:
            root = (await self._installer(found)).rootfs.digest
        except SandboxError:
            return None
        known = replace(found, newest="", checked_at="", installed_at="")
        return repr((self.runtime, root, self.limits, sorted(RUN_ENVIRONMENT.items()), known))

    async def _recall(self, wanted: package_spec.PackageSpec) -> ResolvedInstallation | None:
        """The last installation of a request, if the index still names the same version."""
        found = self.known.recall_installation(wanted)
        if found is None or self.known.is_fresh(wanted, found, self.now()):
            return found
        answer = await self._ask(await self._index(wanted.ecosystem), wanted)
        if isinstance(answer, Absent) or answer.newest != found.newest:
            return None
        return self.known.renew(wanted, found, self.now())

    async def _hold_verified(self, target: Target, held: contextlib.AsyncExitStack) -> ResolvedInstallation | Absent:
        """An installed package with a verified layer, which is not evicted until `held` is closed."""
        for _ in range(MAX_INSTALLATIONS):
            found = await self._hold_installed(target, held)
            if isinstance(found, Absent) or await self._repair(found) is None:
                return found
        return _FILES_CHANGING

    async def _hold_installed(self, target: Target, held: contextlib.AsyncExitStack) -> ResolvedInstallation | Absent:
        """An installed package whose layer is not evicted until `held` is closed."""
        store = self.installer.store
        while True:
            found = await self.prepare(target)
            if isinstance(found, Absent):
                return found
            held.enter_context(store.hold(found.layer))
            if store.has(found.layer):  # otherwise it was evicted before we held it
                return found

    async def _repair(self, found: ResolvedInstallation) -> str | None:
        """Verify a layer, remove it if it has a flaw, and return the flaw; None if it was verified recently."""
        layer, moment = found.layer, asyncio.get_running_loop().time()
        if moment < self._verified_until.get(layer, moment):
            return None
        store = (await self._installer(found)).store
        flaw = await asyncio.to_thread(store.repair, layer, self.now())
        if flaw is None:
            self._verified_until = {each: until for each, until in self._verified_until.items() if moment < until}
            self._verified_until[layer] = moment + VERIFIED_SECONDS
        return flaw

    async def _resolve(
        self, wanted: package_spec.PackageSpec, found: ResolvedInstallation | None
    ) -> ResolvedInstallation | Absent:
        known, now = self.known, self.now()
        index = await self._index(wanted.ecosystem)
        answer = known.find_refusal(wanted, _NO_VERSION, now) or await self._ask(index, wanted)
        if isinstance(answer, Absent):
            return answer
        if found and found.newest == answer.newest:
            return known.renew(wanted, found, now)
        if not wanted.pinned and (same := known.find_installation(wanted.with_version(answer.newest))):
            return known.renew(wanted, replace(same, newest=answer.newest), now)
        if refusal := known.find_refusal(wanted, answer.newest, now):
            return refusal
        dated = replace(wanted, as_of=answer.released) if wanted.as_of else wanted
        result = await self.others.install(
            self.installer, dated, answer, index, endpoints=_allowed(index, answer), now=now
        )
        if isinstance(result, Absent):
            known.store_refusal(wanted, answer.newest, result, now)
            return result
        installed = make_installation(dated, answer.newest, result, now)
        for request in {wanted, wanted.with_version(installed.version)}:
            known.store_installation(request, installed)
        return installed

    async def _ask(self, index: _Index, wanted: package_spec.PackageSpec) -> index_queries.IndexAnswer | Absent:
        """What the index says about the package now; that it lacks the version is remembered for an hour."""
        self._show("resolving")
        async with index_queries.open_index_client(self.installer.bundle, index.credentials) as http:
            if wanted.file:
                return await index_queries.query_for_file(index, wanted, wanted.file, http)
            answer = await index_queries.query_index(index, wanted, http)
        if isinstance(answer, Absent) and answer.reason is Reason.NO_VERSION:
            self.known.store_refusal(wanted, _NO_VERSION, answer, self.now())
        if isinstance(answer, Absent) or not wanted.as_of:
            return answer
        if package_spec.compute_cutoff(answer.released) > self.now():
            return Absent(Reason.NOT_COLLECTED, "the index does not say that the version was released before today")
        return answer

    async def _installer(self, found: ResolvedInstallation) -> Installer:
        return await self.others.get_installer(found.python, self.installer)

    async def _index(self, ecosystem: TargetType) -> _Index:
        return await (self.indexes.npm() if ecosystem is TargetType.NPM else self.indexes.python())

    async def _launch(self, target: Target, held: contextlib.AsyncExitStack) -> ContainedProcess | Absent:
        if target.type in PACKAGES or _is_package_file(target):
            return await self._launch_package(target, held)
        if target.type is TargetType.COMMAND:
            return await self._launch_command(target, held)
        if target.type is TargetType.OCI and self.engine is not None:
            return await self._launch_image(target, held, self.engine)
        return Absent(Reason.RUNTIME_UNSUPPORTED, f"the sandbox runs npm, PyPI and OCI, not {target.type.value}")

    async def _launch_package(self, target: Target, held: contextlib.AsyncExitStack) -> ContainedProcess | Absent:
        flaw: str | None = None
        for _ in range(MAX_INSTALLATIONS):
            async with contextlib.AsyncExitStack() as attempt:
                found = await self._hold_installed(target, attempt)
                if isinstance(found, Absent):
                    return found
                started = await self._start_installed(target, found, {"reinstalled": flaw} if flaw else {}, attempt)
                # Verified during the start, which takes longer. Changed files can only act inside the box until the
                # server is stopped.
                flaw = await _stop_on_flaw(started, self._repair(found))
                if flaw is None:
                    await held.enter_async_context(attempt.pop_all())
                    return started
        return _FILES_CHANGING

    async def _start_installed(
        self, target: Target, found: ResolvedInstallation, notes: Mapping[str, Json], held: contextlib.AsyncExitStack
    ) -> ContainedProcess | Absent:
        installer = await self._installer(found)
        tree, wanted = installer.store.tree(found.layer), target.launch.command
        chosen = entrypoints.find_module_command(tree, wanted, target.arguments) or entrypoints.choose_command(
            found.commands, found.name, target.arguments, wanted
        )
        if isinstance(chosen, Absent):
            gone = name_substitute(found.declared, found.version) if found.declared else ""
            return Absent(chosen.reason, f"{gone}{chosen.detail}")
        if not found.commands.get(chosen.name, chosen.argv):
            return Absent(Reason.RUNTIME_UNSUPPORTED, f"the command {chosen.name} needs neither Node nor Python")
        ecosystem = self._ecosystem(target)
        facts: dict[str, Json] = {
            "package": f"{ecosystem.value}:{found.name}",
            "version": found.version,
            "layer": found.layer,
            "command": chosen.name,
            "install_scripts_blocked": list(found.blocked_scripts),
            "engines": found.engines,
            **({"node": installer.rootfs.node} if ecosystem is TargetType.NPM else {}),
            **({"python": found.python or self.others.pythons.own.version} if ecosystem is TargetType.PYPI else {}),
            **({DECLARED: found.declared} if found.declared else {}),
            **({DEPENDENCIES_OF: found.as_of} if found.as_of else {}),
            **notes,
        }
        binds = (Bind(tree, "/app"),)
        return await self._start(held, target, chosen.argv, binds, root=installer.rootfs.root, facts=facts)

    async def _launch_image(
        self, target: Target, held: contextlib.AsyncExitStack, engine: ImageEngine
    ) -> ContainedProcess | Absent:
        environment = dict(target.environment)
        if not can_be_passed(target.arguments, environment):
            return _INVALID_ARGUMENT
        images = await engine.images(self.contained_by)
        if isinstance(images, Absent):
            return images
        identity = await held.enter_async_context(user_ids.claim_slot(self.cache_dir))
        return await images.start(target, identity, self.limits, environment)

    async def _launch_command(self, target: Target, held: contextlib.AsyncExitStack) -> ContainedProcess | Absent:
        found = await asyncio.to_thread(user_command.resolve_command, target, self.rootfs.python.rsplit(".", 1)[0])
        if isinstance(found, Absent):
            return found
        return await self._start(
            held, target, found.argv, found.binds, root=self.rootfs.root, defaults=found.environment
        )

    async def _start(
        self,
        held: contextlib.AsyncExitStack,
        target: Target,
        argv: Sequence[str],
        binds: tuple[Bind, ...],
        *,
        root: Path,
        facts: Mapping[str, Json] | None = None,
        defaults: Mapping[str, str] | None = None,
    ) -> ContainedProcess | Absent:
        environment, reachable = {**(defaults or {}), **dict(target.environment)}, bool(target.launch.url)
        folder = user_command.PROJECT if any(bind.place == user_command.PROJECT for bind in binds) else "/tmp"  # noqa: S108
        if not can_be_passed(argv, environment):
            return _INVALID_ARGUMENT
        if reachable and not isinstance(self.contained_by, Bubblewrap):
            return Absent(Reason.TRANSPORT_UNSUPPORTED, f"it listens on a port, out of reach in {self.runtime}")
        box = Box(
            root=root,
            binds=binds,
            environment={**RUN_ENVIRONMENT, **environment},
            folder=folder,
            limits=self.limits,
            watched=True,
        )
        identity = await held.enter_async_context(user_ids.claim_slot(self.cache_dir))
        self._show("starting")
        start = start_with_sockets if reachable else self.contained_by.start
        return await start(box, argv, identity, facts=facts)

    def _show(self, phase: str) -> None:
        if self.installer.on_phase:
            self.installer.on_phase(phase)


async def _stop_on_flaw(
    started: ContainedProcess | Absent, verification: Coroutine[None, None, str | None]
) -> str | None:
    """Verify what was started and return the flaw; stop it on a flaw or a failure."""
    flaw: str | None = "it was not verified"
    try:
        flaw = await verification
    finally:
        if flaw is not None and isinstance(started, ContainedProcess):
            await started.stop()
    return flaw


def _is_package_file(target: Target) -> bool:
    return target.type is TargetType.COMMAND and not target.arguments and Path(target.identifier).is_file()


def _allowed(index: _Index, answer: index_queries.IndexAnswer) -> AllowedEndpoints:
    own = frozenset(endpoint for url in index.urls if (endpoint := package_indexes.parse_endpoint(url)))
    return AllowedEndpoints(own, frozenset(answer.endpoints) - own, index.credentials)
