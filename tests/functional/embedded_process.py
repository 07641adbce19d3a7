"""An embedded run in a process of its own, to be killed: `python -m tests.functional.embedded_process SOURCE`.

Prints `started`, then one line per status, then the result as JSON. Settings come from the environment as usual.
"""

from __future__ import annotations

import json
import os
import sys

from workers import embedded, log
from workers.context import open_context
from workers.event_loop import run_coroutine
from workers.progress import StageStatus
from workers.runs.options import RunOptions
from workers.settings.environment import read_settings

if "GATE" in os.environ:
    from tests.functional import gated_servers  # noqa: F401


class Lines:
    def show(self, status: StageStatus) -> None:
        _say(f"{status.stage} {status.done}")


async def main(source: str) -> None:
    settings = read_settings()
    log.configure_logging(settings.log_level, settings.log_format)
    async with open_context(settings) as ctx:
        _say("started")
        result = await embedded.run_embedded(ctx, RunOptions(registries=(source,)), Lines())
    facts = {
        "run": result.run.id,
        "ok": result.ok,
        "resumed": result.resumed,
        "interrupted": result.interrupted,
        "planned": result.planned,
        "collected": result.collected,
        "scored": result.scored,
        "walks": [walk.error for walk in result.walks],
        "hint": result.hint,
    }
    _say(json.dumps(facts))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    run_coroutine(main(sys.argv[1]))
