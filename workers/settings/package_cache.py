"""Settings of the cache of installed packages and pulled images: its size and retention."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from workers.settings.sandbox import SandboxSettings


class PackageCacheSettings(SandboxSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    layers_size: Annotated[
        float,
        Meta(ge=0),
        "Gigabytes of installed packages and pulled images in the cache; least recently used go first. 0: no bound.",
    ] = 20
    layers_unused: Annotated[
        timedelta, "Installed packages and pulled images unused for this long are removed. 0: never."
    ] = timedelta(days=30)
