"""Keys that their provider publishes itself, in a browser or on its pages. Reading one gives no new rights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PUBLIC_KEYS: Final[Mapping[str, str]] = {
    "e50a1cdcfa5f2df1855506381b599f99e6b51836ae9d6968f1187bb1e181657c": "Google, CrUX in chrome-devtools-mcp",
    "431da6019dba7ceec802b3b4fe7ca97c5dfe4c7e36341a23489e5aa585955b6a": "Google, CrUX in Chrome",
    "31043aae8be22df7c8159c11f0b029a8a0da56817f00ea996a37cc48db57482c": "Google, the web client of YouTube",
}
"""What each key is for (CrUX is the Chrome UX Report), by the SHA-256 of the key. Only keys that were seen in a
publication of the provider.
"""
