"""Settings of the cache of installed packages and pulled images: its size and retention."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from workers.settings.nightly import Duration
from workers.settings.part import SettingsPart


class PackageCacheSettings(SettingsPart):
    """A part of `Settings`."""

    layers_size: float = Field(
        default=20,
        ge=0,
        description="Gigabytes of installed packages, and of pulled images, in the cache; least recently "
        "used are removed first. 0: no bound.",
    )
    layers_unused: Duration = Field(
        default=timedelta(days=30),
        description="Installed packages and pulled images unused for this long are removed. 0: never.",
    )
