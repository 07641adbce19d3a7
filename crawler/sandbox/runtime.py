"""The interface of the runtimes (bubblewrap, gVisor, Podman, Docker) that contain servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json


class Runtime(Protocol):
    """Starts commands in boxes without a network and with a temporary file system; stops all their processes."""

    @property
    def name(self) -> str:
        """The name in the evidence; see `evidence.kinds.listing.CONTAINING`."""
        ...

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box` as `identity`; raises SandboxError if the box cannot be created."""
        ...


class Bubblewrap(Struct, frozen=True):
    """Namespaces, a system call filter and resource limits of the kernel; needs no daemon."""

    name: str = "bubblewrap"

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        return await bubblewrap.start_in_box(box, command, identity, facts=facts)
