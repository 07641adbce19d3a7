"""What contains a server: one interface, behind which bubblewrap, gVisor, Podman and Docker stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json


class Runtime(Protocol):
    """Starts commands in boxes: without a network, on a file system that is thrown away, and stopped to the last."""

    @property
    def name(self) -> str:
        """What the evidence calls it; one of `evidence.kinds.listing.CONTAINING`."""
        ...

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box` as `identity`; raises SandboxError when the box cannot be had."""
        ...


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Namespaces, a system call filter and resource limits of this kernel; needs no daemon."""

    name: str = "bubblewrap"

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box`; raises SandboxError when bubblewrap cannot set the box up."""
        return await bubblewrap.start_in_box(box, command, identity, facts=facts)
