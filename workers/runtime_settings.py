"""The settings of runtimes: what contains the servers that are packages, commands and images."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

_PYTHONS = r"all|own|3\.[0-9]{1,3}(, ?3\.[0-9]{1,3})*"


class RuntimeSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    sandbox_runtime: Literal["auto", "bubblewrap", "gvisor", "podman", "docker"] = Field(
        default="auto",
        description="What contains servers. `auto`: bubblewrap, or else an engine, for packages and commands, and "
        "Podman or Docker for images. One that is named is the only one used: where it cannot be had, nothing starts.",
    )
    sandbox_pythons: str = Field(
        default="all",
        pattern=f"^({_PYTHONS})$",
        description="Which Pythons packages may get that the one of Hallmark does not suit. `all`: those found on PATH "
        "and where pyenv and uv keep theirs; `own`: none; else versions such as `3.12,3.13`. Each one that is needed "
        "takes some 350 MB of the cache.",
    )
