"""The modules that a probe imports on first use."""

from __future__ import annotations

import importlib
from typing import Final

_OF_PROBES: Final = (
    "aiodns",
    "crawler.collectors.protocol.stdio.start_attempts",
    "crawler.collectors.protocol.trials.tool_trials",
)


def preload_probes() -> None:
    """Import them before many servers are probed at once: during an import the answers to all others would wait."""
    for module in _OF_PROBES:
        importlib.import_module(module)
