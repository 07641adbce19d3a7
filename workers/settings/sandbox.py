"""Settings of sandbox runtimes, which run packages, commands and images."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from workers.settings.part import SettingsPart

_PYTHONS = r"all|own|3\.[0-9]{1,3}(, ?3\.[0-9]{1,3})*"


class SandboxSettings(SettingsPart):
    """A part of `Settings`."""

    sandbox_runtime: Literal["auto", "bubblewrap", "gvisor", "podman", "docker"] = Field(
        default="auto",
        description="What contains servers. `auto`: bubblewrap for packages and commands, else an engine; "
        "Podman or Docker for images. A named runtime is the only one used.",
    )
    carry_starts: bool = Field(
        default=False,
        description="A run starts an unchanged package only on one day of the week, which guarantees less of "
        "*connection stability*: up to 1.7 of 100 points.",
    )
    sandbox_pythons: str = Field(
        default="all",
        pattern=f"^({_PYTHONS})$",
        description="Pythons for packages that do not allow Hallmark's own. `all`: found on PATH and in "
        "the folders of pyenv and uv; `own`: none; else versions such as `3.12,3.13`. About "
        "350 MB of cache each.",
    )
