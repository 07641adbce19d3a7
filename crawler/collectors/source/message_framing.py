"""Messages between a reader's parent and its process: eight bytes of length, then JSON, with file descriptors."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

MAX_MESSAGE: Final = 64 * 1024 * 1024

_LENGTH: Final = struct.Struct("!Q")


def send_message(line: socket.socket, message: Mapping[str, Any], handles: Sequence[int] = ()) -> None:
    """Write a message; the descriptors arrive with its first byte."""
    data = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    if handles:
        socket.send_fds(line, [_LENGTH.pack(len(data))], list(handles))
    else:
        line.sendall(_LENGTH.pack(len(data)))
    line.sendall(data)


def receive_message(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Read a message; EOFError when the other side is closed. The caller owns the descriptors."""
    head, handles, _, _ = socket.recv_fds(line, _LENGTH.size, 1)
    try:
        head += _exactly(line, _LENGTH.size - len(head)) if head else b""
        if not head:
            raise EOFError
        (size,) = _LENGTH.unpack(head)
        if size > MAX_MESSAGE:
            raise EOFError
        message = json.loads(_exactly(line, size))
    except (EOFError, OSError, ValueError):
        for handle in handles:
            os.close(handle)
        raise
    return message, list(handles)


def _exactly(line: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = line.recv(min(size - len(parts), 1024 * 1024))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
