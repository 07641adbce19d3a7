"""Recognises a gateway that starts a process for each request; some end none of them (docs/version-matrix.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crawler.collectors.protocol.session.handshake import Opened
from crawler.mcp.channel import Era
from crawler.mcp.streamable_http import StreamableHttp
from crawler.mcp.transcript import NamedExchange, Transcript

RESTRAINT: Final = "the server seems to start a process for each request"
"""Why only the questions of a core probe were asked."""

_START_SECONDS: Final = 0.1


def starts_processes(opened: Sequence[Opened], transcript: Transcript) -> bool:
    """Whether the server looks like supergateway without sessions, from the answers of a core probe.

    Neither `initialize` nor a header names the gateway. It runs on Express and assigns no session id, as many servers
    do, but acknowledges a notification at once and answers every list only when a new process has started.
    """
    if [each.era for each in opened] != [Era.LEGACY]:
        return False
    dialogue = opened[0].dialogue
    if not isinstance(dialogue.channel, StreamableHttp) or dialogue.channel.assigned:
        return False
    link = dialogue.link(Era.LEGACY)
    return has_slow_lists([row for row in transcript.rows if row.link == link])


def has_slow_lists(rows: Sequence[NamedExchange]) -> bool:
    """Whether Express answered every list later than a notification, by at least the start of a process."""
    acknowledged = [row.exchange.seconds for row in rows if row.step == "initialized" and row.exchange.status == 202]
    listed = [row.exchange for row in rows if row.step.startswith("list-") and row.exchange.status == 200]
    if not acknowledged or not listed:
        return False
    slow = min(one.seconds for one in listed) - acknowledged[0] >= _START_SECONDS
    return slow and all(one.header("x-powered-by").lower() == "express" for one in listed)
