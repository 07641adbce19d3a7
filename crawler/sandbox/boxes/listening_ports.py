"""The TCP ports on which the processes of a box accept connections."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from crawler.sandbox.boxes.egress_relay import PORT

_LISTEN: Final = "0A"
_MOST: Final = 1 << 18  # bytes of one table


def list_listening_ports(init: int) -> tuple[int, ...]:
    """The ports in the network namespace of a box without our relay's, sorted; empty if it is gone.

    `init`: its first process.
    """
    ports = {port for table in ("tcp", "tcp6") for port in _read_ports(Path(f"/proc/{init}/net/{table}"))}
    return tuple(sorted(ports - {PORT}))


def _read_ports(table: Path) -> set[int]:
    """The local ports of the rows in state LISTEN: `sl local_address rem_address st ...` (proc(5))."""
    try:
        with table.open("rb") as file:
            rows = [line.split() for line in file.read(_MOST).decode("ascii", "replace").splitlines()[1:]]
        return {int(row[1].rpartition(":")[2], 16) for row in rows if len(row) > 3 and row[3] == _LISTEN}
    except (OSError, ValueError):
        return set()
