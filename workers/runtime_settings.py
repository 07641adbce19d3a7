"""The settings of runtimes: what contains the servers that are packages, commands and images."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings


class RuntimeSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    sandbox_runtime: Literal["auto", "bubblewrap", "gvisor", "podman", "docker"] = Field(
        default="auto",
        description="What contains servers. `auto`: bubblewrap, or else an engine, for packages and commands, and "
        "Podman or Docker for images. One that is named is the only one used: where it cannot be had, nothing starts.",
    )
