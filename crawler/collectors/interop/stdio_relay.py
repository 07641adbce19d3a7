"""Relays lines between a launched server and the client's process under the caps of the probe."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Final

from crawler.http.failures import TooLarge, WireFailure
from crawler.launcher import LaunchedServer
from crawler.mcp.stdio import LINE_BYTES, TOTAL_BYTES, LineReader

LINES: Final = 20_000
"""Of a server's output. The client parses each of them, so they are its processor time."""

_READ: Final = 64 * 1024
_NOISE: Final = 50  # lines that are no message
_SHOWN: Final = 200  # bytes of one of them


class StdioRelay:
    """Relays bytes until it is cancelled or both sides have ended.

    `ended`: the server's output ended by itself. `failure`: it was cut off because it exceeded a cap. `noise` is the
    beginning of lines that are no JSON object, in which some servers name what they lack.
    """

    def __init__(self, launched: LaunchedServer, ours: socket.socket, *, line_bytes: int = LINE_BYTES) -> None:
        self.ended = False
        self.failure: WireFailure | None = None
        self.noise: list[bytes] = []
        self._launched = launched
        self._socket = ours
        self._lines = LineReader(line_bytes)
        self._bytes = self._count = 0

    async def run(self) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=self._socket)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._to_client(writer))
                tasks.create_task(self._to_server(reader))
        finally:
            writer.transport.abort()

    async def _to_client(self, writer: asyncio.StreamWriter) -> None:
        """Relays whole lines only: no client reads what comes after the last line end."""
        try:
            while data := await self._launched.read(_READ):
                writer.write(b"".join(line + b"\n" for line in self._whole(data)))
                await writer.drain()
            self.ended = True
        except TooLarge as error:
            self.failure = error
        except ConnectionError:
            return  # the client has ended
        with suppress(OSError):
            writer.write_eof()

    def _whole(self, data: bytes) -> list[bytes]:
        self._bytes += len(data)
        if self._bytes > TOTAL_BYTES:
            raise TooLarge(f"more than {TOTAL_BYTES} bytes of output")
        lines = [line for line in self._lines.feed(data) if line.strip()]
        self._count += len(lines)
        if self._count > LINES:
            raise TooLarge(f"more than {LINES} lines of output")
        if len(self.noise) < _NOISE:
            self.noise += [line[:_SHOWN] for line in lines if not line.lstrip().startswith(b"{")]
        return lines

    async def _to_server(self, reader: asyncio.StreamReader) -> None:
        try:
            while data := await reader.read(_READ):
                await self._launched.write(data)
        except ConnectionError:
            return  # one side has ended, which the other direction reports
        await self._launched.close_stdin()
