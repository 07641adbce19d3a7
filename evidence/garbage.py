"""Makes garbage collection rare in processes that probe, score, export or import much."""

from __future__ import annotations

import gc
from typing import Final

_YOUNG: Final = 50_000
"""New objects that start a garbage collection. Probing or scoring a server makes thousands, hardly any in cycles; the
modules that a command imports when it runs make several times as many."""


def collect_garbage_rarely() -> None:
    gc.set_threshold(_YOUNG)
