"""The transport that the client's process gives the SDK for a launched server: lines over one inherited socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from crawler.mcp.stdio import LineReader

_Incoming: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
_Outgoing: TypeAlias = MemoryObjectSendStream[SessionMessage]

_READ: Final = 64 * 1024


@asynccontextmanager
async def open_inherited_transport(handle: int) -> AsyncIterator[tuple[_Incoming, _Outgoing]]:
    """A transport of the SDK over the socket `handle`, which it closes.

    It passes to the session what the SDK's own stdio transport does: a line that is no message as a value, the end of
    output by closing the stream. Output that is not UTF-8 raises UnicodeDecodeError in a group, as the SDK does, but
    not before the server has ended.
    """
    reader, writer = await asyncio.open_unix_connection(sock=socket.socket(fileno=handle))
    inbox, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks, incoming, outgoing:
            tasks.start_soon(_receive, reader, inbox)
            tasks.start_soon(_send, writer, outbox)
            try:
                yield incoming, outgoing
            finally:
                tasks.cancel_scope.cancel()
    finally:
        writer.close()


async def _receive(reader: asyncio.StreamReader, inbox: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    lines = LineReader()
    try:
        async with inbox:
            while data := await reader.read(_READ):
                for line in lines.feed(data):
                    await inbox.send(_read(line))
    except (ConnectionError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        return  # one side has ended


async def _send(writer: asyncio.StreamWriter, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
    try:
        async with outbox:
            async for sent in outbox:
                writer.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()
    except ConnectionError:
        return  # the reader reports the end


def _read(line: bytes) -> SessionMessage | Exception:
    text = line.decode()  # strict, as the SDK's transport decodes
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:
        return error
