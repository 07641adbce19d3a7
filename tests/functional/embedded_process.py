"""An embedded run in a process of its own, to be killed: `python -m tests.functional.embedded_process SOURCE`.

Prints `started`, then one line per status, then the result as JSON. Settings come from the environment as usual.
"""

from __future__ import annotations

import json
import sys

from workers import embedded, log
from workers.context import open_context
from workers.loop import run_loop
from workers.options import RunOptions
from workers.progress import Status
from workers.settings import Settings


class Lines:
    def show(self, status: Status) -> None:
        _say(f"{status.stage} {status.done}")


async def main(source: str) -> None:
    settings = Settings()
    log.configure(settings.log_level, settings.log_format)
    async with open_context(settings) as ctx:
        _say("started")
        result = await embedded.run(ctx, RunOptions(registries=(source,)), Lines())
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
    run_loop(main(sys.argv[1]))
