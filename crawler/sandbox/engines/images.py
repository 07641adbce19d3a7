"""Images of registered servers: an engine checks their size, pulls them, and runs them by digest."""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.http.address_guard import AddressGuard
from crawler.http.failures import BlockedAddress, Unreachable
from crawler.http.resolver import Resolver, SystemResolver, resolve_host
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.engines.container import Container
from crawler.sandbox.engines.container_runtime import Containers
from crawler.sandbox.engines.engine import EngineFlavour
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.failure_messages import stabilise_line
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json
from evidence.model import Absent, Reason, Target

LARGEST = 1 << 30  # bytes, compressed, according to the manifest
LARGEST_UNPACKED = 4 << 30
PULL_SECONDS = 600.0
MAX_VOLUMES = 20
# Messages about existing manifests: Podman 4 for one that is no list, Docker 20 for one in the OCI format.
_UNSUPPORTED_MANIFEST = re.compile(
    "Treating single images as manifest lists is not implemented|unsupported manifest media type"
)
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_IDENTIFIER = re.compile(r"(?:sha256:)?[0-9a-f]{64}")
_ORDINARY = re.compile(r"[1-9]\d{0,8}(?::\d{1,9})?")
_REPOSITORY = re.compile(r"[a-z0-9][a-z0-9._:/-]{0,400}")
_LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?/")
_TAG = re.compile(r"[\w][\w.-]{0,127}")
# Error messages of engines and image registries, in the order in which they are matched.
_ERROR_REASONS = (
    (Reason.RATE_LIMITED, re.compile(r"toomanyrequests|too many requests|\b429\b", re.IGNORECASE)),
    (Reason.UNREACHABLE, re.compile(r"dial tcp|no such host|timeout|connection re|EOF", re.IGNORECASE)),
    (Reason.NO_PACKAGE, re.compile(r"manifest unknown|name unknown|not found|no such|does not exist", re.IGNORECASE)),
    (Reason.FORBIDDEN, re.compile(r"unauthorized|denied|authentication required|\b40[13]\b", re.IGNORECASE)),
    (Reason.RUNTIME_UNSUPPORTED, re.compile(r"no matching manifest|no image found in .*list|platform", re.IGNORECASE)),
    (Reason.TLS_ERROR, re.compile(r"x509|certificate|tls:", re.IGNORECASE)),
)


class Image(Struct, frozen=True):
    """A pulled image. `identifier` is the engine's id and `digest` the registry's digest.

    `user`: the numeric user of the image, else empty: a name could be mapped to root in the image's own passwd file.
    `ours`: we pulled the image, and remove it after a long time without use.
    """

    repository: str
    digest: str
    identifier: str
    user: str
    volumes: tuple[str, ...]
    ours: bool = False


class Images(Struct):
    """The images of one engine; a tag is resolved again if its last resolution is older than `ttl`.

    `guard` restricts the registries: references are untrusted, and engines contact any registry that they name.
    """

    runtime: Containers
    names: Path
    now: Callable[[], datetime]
    ttl: timedelta
    guard: AddressGuard = field(default_factory=AddressGuard)
    resolver: Resolver = field(default_factory=SystemResolver)
    _known: dict[str, tuple[datetime, Image | Absent]] = field(default_factory=dict)

    async def start(
        self, target: Target, identity: Identity, limits: Limits, environment: Mapping[str, str]
    ) -> ContainedProcess | Absent:
        """Start the image of an oci target, after pulling it if needed; raises SandboxError if the engine fails."""
        found = await self.image(target)
        if isinstance(found, Absent):
            return found
        facts: dict[str, Json] = {"package": f"oci:{found.repository}", "version": found.digest}
        wanted = Container(
            name=self.runtime.owner.next_name(),
            label=f"hallmark.owner={self.runtime.owner.token}",
            image=found.identifier,
            command=target.arguments,
            environment=environment,
            memory_places=found.volumes,
            user=None if found.user else self.runtime.user(identity),
            alone=identity.uid is not None and not found.user,
            profile=self.runtime.profile,
            names=self.names,
            limits=limits,
        )
        return await self.runtime.start_container(wanted, facts)

    async def image(self, target: Target) -> Image | Absent:
        """The image of a target, pulled if it is missing or its tag must be resolved again.

        An image of ours is kept for long enough to create a container.
        """
        reference = image_reference(target)
        if isinstance(reference, Absent):
            return reference
        at, known = self._known.get(reference, (None, None))
        if known is None or at is None or self.now() - at >= self.ttl or not await self._is_there(known):
            known = await self._pulled(target.identifier, reference)
            self._known[reference] = (self.now(), known)
        return known

    async def _is_there(self, known: Image | Absent) -> bool:
        """Whether an image of ours still exists; other images count as existing."""
        if isinstance(known, Absent) or not known.ours:
            return True
        return await asyncio.to_thread(self.runtime.pulled.use, known.identifier)

    async def _find_registry_refusal(self, repository: str) -> Absent | None:
        """Why the registry of a repository may not be contacted; None if it may."""
        registry = find_registry_endpoint(repository)
        if registry is None:
            return None
        host, port = registry
        try:
            with contextlib.suppress(Unreachable):  # an engine behind a proxy may reach it; the proxy decides
                self.guard.vet(await resolve_host(host, self.resolver), port)
        except BlockedAddress as error:
            return error.absent()
        return None

    async def _pulled(self, repository: str, reference: str) -> Image | Absent:
        before = await self._inspected(reference)
        if before is None or "@" not in reference:
            refused = await self._find_registry_refusal(repository) or await self._find_size_refusal(
                repository, reference
            )
            refused = refused or await self._pull(reference)
            if refused:
                return refused
        after = await self._inspected(reference)
        if after is None:
            return Absent(Reason.INSTALL_FAILED, "the engine does not know the image that it pulled")
        try:
            found, identifier = parse_image(repository, after), str(after["Id"])
            if before is None or before["Id"] != identifier:
                self.runtime.pulled.remember(identifier, reference, int(str(after["Size"])))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise SandboxError(f"{self.runtime.name} describes an image in an unknown way") from error
        is_ours = await asyncio.to_thread(self.runtime.pulled.use, identifier)
        return replace(found, ours=is_ours) if isinstance(found, Image) else found

    async def _pull(self, reference: str) -> Absent | None:
        """Pull an image; why that failed, or None."""
        most, store = LARGEST + LARGEST_UNPACKED, await self._store()
        answer = await self.runtime.engine.run(
            "pull", "--quiet", reference, seconds=PULL_SECONDS, most_written=most, store=store
        )
        if answer.cut and store is not None:  # perhaps other programs used it
            return Absent(Reason.SANDBOX_RESTRICTED, f"Docker's disk took {most >> 20} MiB while it pulled the image")
        if answer.cut:
            return Absent(Reason.TOO_LARGE, f"an image of more than {LARGEST_UNPACKED >> 20} MiB unpacked")
        return describe_refusal(answer.err) if answer.code else None

    async def _store(self) -> Path | None:
        """The storage folder of a daemon; None for Podman, whose client writes by itself."""
        engine = self.runtime.engine
        if engine.flavour is EngineFlavour.PODMAN:
            return None
        return Path((await engine.run_checked("info", "--format", "{{.DockerRootDir}}")).strip())

    async def _find_size_refusal(self, repository: str, reference: str) -> Absent | None:
        """Why an image must not be pulled according to its manifest; None if it may."""
        manifest = await self._manifest(reference)
        if manifest is None or isinstance(manifest, Absent):
            return manifest
        entries = manifest.get("manifests")
        if isinstance(entries, list):
            digest = choose_manifest(entries, ARCHITECTURES.get(platform.machine(), platform.machine()))
            if digest is None:
                return Absent(Reason.RUNTIME_UNSUPPORTED, f"no image for linux on {platform.machine()}")
            manifest = await self._manifest(f"{repository}@{digest}")
            if manifest is None or isinstance(manifest, Absent):
                return manifest
        size = compressed_size(manifest)
        if size is None:
            return Absent(Reason.INSTALL_FAILED, "the image's manifest does not say how large it is")
        return Absent(Reason.TOO_LARGE, f"an image of more than {LARGEST >> 20} MiB") if size > LARGEST else None

    async def _manifest(self, reference: str) -> Mapping[str, Json] | Absent | None:
        """A manifest, why there is none, or None if it exists but the engine cannot show it."""
        engine = self.runtime.engine
        # Docker's client fetches it itself, and does not know that its engine trusts registries on loopback.
        how = ("--insecure",) if engine.flavour is EngineFlavour.DOCKER and _LOOPBACK.match(reference) else ()
        answer = await engine.run("manifest", "inspect", *how, reference)
        if answer.code:
            # None: the size is limited by counting written bytes during the pull.
            return None if _UNSUPPORTED_MANIFEST.search(answer.err) else describe_refusal(answer.err)
        try:
            table = json.loads(answer.out)
        except (ValueError, RecursionError):
            table = None
        unusable = Absent(Reason.INSTALL_FAILED, "the image's manifest is not a JSON object")
        return table if isinstance(table, dict) else unusable

    async def _inspected(self, reference: str) -> Mapping[str, Json] | None:
        answer = await self.runtime.engine.run("image", "inspect", reference)
        if answer.code:
            return None
        try:
            table = json.loads(answer.out)[0]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise SandboxError(f"{self.runtime.name} describes an image in an unknown way") from error
        return table if isinstance(table, dict) else {}


def image_reference(target: Target) -> str | Absent:
    """REPOSITORY@DIGEST or REPOSITORY:TAG as an engine argument, never an option; Absent for an invalid reference."""
    version = target.version or "latest"
    if not _REPOSITORY.fullmatch(target.identifier) or not (_DIGEST.fullmatch(version) or _TAG.fullmatch(version)):
        return Absent(Reason.NO_PACKAGE, "this is not an image reference")
    return f"{target.identifier}{'@' if _DIGEST.fullmatch(version) else ':'}{version}"


def find_registry_endpoint(repository: str) -> tuple[str, int] | None:
    """Host and port of the registry in a repository name; None for the engine's default registries."""
    first, slash, _ = repository.partition("/")
    host, _, port = first.partition(":")
    if not slash or not (port or "." in first or host == "localhost"):
        return None
    return host, int(port) if port.isdecimal() and len(port) < 6 else 443


def choose_manifest(entries: list[Json], architecture: str) -> str | None:
    """The digest of the manifest for linux on `architecture`, from an image index."""
    for entry in entries[:200]:
        where = entry.get("platform") if isinstance(entry, dict) else None
        if isinstance(where, dict) and (where.get("os"), where.get("architecture")) == ("linux", architecture):
            digest = entry.get("digest") if isinstance(entry, dict) else None
            if isinstance(digest, str) and _DIGEST.fullmatch(digest):
                return digest
    return None


def compressed_size(manifest: Mapping[str, Json]) -> int | None:
    """Bytes of all layers according to the manifest; None if it does not state them."""
    layers = manifest.get("layers")
    if not isinstance(layers, list):
        return None
    sizes = [layer.get("size") if isinstance(layer, dict) else None for layer in layers]
    known = [size for size in sizes if isinstance(size, int) and size >= 0]
    return sum(known) if len(known) == len(sizes) else None


def parse_image(repository: str, table: Mapping[str, Json]) -> Image | Absent:
    """Parse the output of `image inspect`; raises LookupError or TypeError for an unknown format."""
    size, config = table["Size"], table.get("Config") or {}
    if not isinstance(size, int) or not isinstance(config, dict):
        raise TypeError("an image without size or configuration")
    if size > LARGEST_UNPACKED:
        return Absent(Reason.TOO_LARGE, f"an image of more than {LARGEST_UNPACKED >> 20} MiB unpacked")
    volumes = config.get("Volumes") or {}
    places = sorted(str(place) for place in volumes) if isinstance(volumes, dict) else []
    if len(places) > MAX_VOLUMES or any(not _is_place(place) for place in places):
        return Absent(Reason.RUNTIME_UNSUPPORTED, "the image declares volumes that cannot be had")
    identifier = str(table["Id"])
    if not _IDENTIFIER.fullmatch(identifier):
        raise TypeError("an image without a digest")
    digests = table.get("RepoDigests")
    found = [_DIGEST.search(str(entry)) for entry in digests] if isinstance(digests, list) else []
    digest = next((match[0] for match in found if match), identifier)
    user = str(config.get("User") or "")
    return Image(repository, digest, identifier, user if _ORDINARY.fullmatch(user) else "", tuple(places))


def describe_refusal(output: str) -> Absent:
    """Why an image cannot be pulled, from the engine's error output; the text is equal on every run and machine."""
    reason = next((reason for reason, words in _ERROR_REASONS if words.search(output)), Reason.INSTALL_FAILED)
    if reason is Reason.UNREACHABLE:  # the message contains the host's name servers
        return Absent(reason, "the image's registry does not answer")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return Absent(reason, stabilise_line(lines[-1])[:200] if lines else "the engine said nothing")


def _is_place(place: str) -> bool:
    return bool(re.fullmatch(r"/[\w./-]{1,200}", place)) and ".." not in place.split("/") and place.strip("/") != ""
