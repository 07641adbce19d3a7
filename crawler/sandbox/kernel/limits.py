"""Resource limits of contained processes."""

from __future__ import annotations

import resource

from msgspec import Struct

MIB = 1 << 20


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of one start. `data`, `file_size`, `cpu_seconds` and `open_files` hold per process, the rest for all."""

    seconds: float = 150.0
    cpu_seconds: int = 60
    processes: int = 64
    memory: int = 1024 * MIB
    cpus: float = 2.0
    data: int = 1280 * MIB  # Node 24 reserves about 600 MiB of address space before it runs anything
    file_size: int = 32 * MIB
    open_files: int = 1024  # a common server opens 300 documents at once
    sockets: int = 512  # a child of Node takes six
    scratch: int = 32 * MIB
    scratch_inodes: int = 2048
    shared_memory: int = 4 * MIB
    output: int = 64 * MIB
    errors: int = 16 * MIB

    def resources(self) -> tuple[tuple[int, int], ...]:
        """The resource limits (RLIMIT_*) that hold from the first instruction, except RLIMIT_NPROC."""
        return (
            (resource.RLIMIT_CPU, self.cpu_seconds),
            (resource.RLIMIT_DATA, self.data),
            (resource.RLIMIT_FSIZE, self.file_size),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_CORE, 1),  # no core dumps: with 0, a pipe in core_pattern would still get them (core(5))
            (resource.RLIMIT_MEMLOCK, 65536),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_SIGPENDING, 256),
            (resource.RLIMIT_NICE, 0),
            (resource.RLIMIT_RTPRIO, 0),
        )


RUN = Limits()
# Installers unpack large files and start a thread per core; no code of a package runs in this phase.
INSTALL = Limits(
    seconds=180.0,
    cpu_seconds=120,
    processes=512,
    memory=3072 * MIB,
    data=6144 * MIB,
    file_size=512 * MIB,
    open_files=4096,
    sockets=4096,
    scratch=256 * MIB,
    scratch_inodes=20_000,
    output=1 * MIB,
    errors=4 * MIB,
)
