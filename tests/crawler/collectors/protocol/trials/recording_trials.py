"""How these tests try tools: a recording server of its own process, opened and listed as a probe does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.collectors.protocol.trials.tool_trials import Ask, ToolTrials, TrialBounds
from crawler.mcp.channel import Era, initialize_params
from crawler.mcp.stdio import StdioChannel
from crawler.mcp.transcript import Reply, Transcript
from evidence.canonical import Json
from evidence.kinds.trials import Trials
from evidence.model import Absent, Observed
from tests.crawler.collectors.launching import PipeLauncher, module


class Tried:
    """What a trial gave, and every call that the server saw."""

    def __init__(self, content: Observed | Absent, observation: Mapping[str, Json], calls: Path) -> None:
        self.content = content
        self.observation = observation
        self.calls = [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    @property
    def called(self) -> list[str]:
        return [call["name"] for call in self.calls]

    @property
    def view(self) -> Trials:
        assert isinstance(self.content, Observed), self.content
        return Trials.parse(self.content.body)

    @property
    def absent(self) -> Absent:
        assert isinstance(self.content, Absent), self.content
        return self.content


async def call_tools(
    trials: ToolTrials, ask: Ask, tools: Sequence[Json]
) -> tuple[Observed | Absent, Mapping[str, Json]]:
    await trials.try_reading_tools(ask, tools)
    await trials.make_mistakes(ask)
    await trials.try_mutating_tools(ask)
    return trials.record_content()


def trying(
    folder: Path,
    *tools: dict[str, Any],
    policy: CallPolicy = CallPolicy.READ,
    opted_out: bool = False,
    bounds: TrialBounds | None = None,
) -> Tried:
    """Try the tools of a server that lists these."""
    listing, calls = folder / "listing.json", folder / "calls.jsonl"
    listing.write_text(json.dumps(tools), "utf-8")
    calls.unlink(missing_ok=True)

    async def run() -> tuple[Observed | Absent, Mapping[str, Json]]:
        launched = await PipeLauncher().launch(module("tests.servers.recording", str(calls), str(listing)))
        assert not isinstance(launched, Absent)
        channel = StdioChannel(launched, Transcript(), "0", seconds=30, total=100, line_bytes=1 << 22)
        try:
            assert (await channel.send_request("initialize", initialize_params("0"), Era.LEGACY)).result
            await channel.send_notification("notifications/initialized")

            async def ask(method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
                return await channel.send_request(method, params, Era.LEGACY, seconds=seconds)

            trials = ToolTrials(policy, time.monotonic, bounds or TrialBounds(), opted_out=opted_out)
            return await call_tools(trials, ask, await _listed(channel))
        finally:
            await channel.close()

    content, observation = asyncio.run(run())
    return Tried(content, observation, calls)


async def _listed(channel: StdioChannel) -> Sequence[Json]:
    reply = await channel.send_request("tools/list", {}, Era.LEGACY)
    assert reply.result
    assert isinstance(reply.result.value, dict)
    found = reply.result.value["tools"]
    assert isinstance(found, list)
    return found


def reads(name: str = "get_note", *, properties: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A tool that says that it reads; its properties are all required."""
    schema = {"type": "object", "properties": properties or {}, "required": list(properties or {})}
    return {"name": name, "annotations": {"readOnlyHint": True}, "inputSchema": schema, **members}
