"""The settings of runtimes: what contains the servers that are packages, commands and images."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field
from pydantic_settings import BaseSettings

# By which the clients of Podman and Docker find their engine, its storage and the logins of image registries.
ENGINE_VARIABLES: Final = frozenset(
    {
        "XDG_RUNTIME_DIR",
        "XDG_DATA_HOME",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "DOCKER_CONFIG",
        "DOCKER_CONTEXT",
        "CONTAINER_HOST",
        "CONTAINERS_CONF",
        "CONTAINERS_STORAGE_CONF",
        "CONTAINERS_REGISTRIES_CONF",
        "REGISTRY_AUTH_FILE",
    }
)


class RuntimeSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    sandbox_runtime: Literal["auto", "bubblewrap", "gvisor", "podman", "docker"] = Field(
        default="auto",
        description="What contains servers. `auto`: bubblewrap, or else an engine, for packages and commands, and "
        "Podman or Docker for images. One that is named is the only one used: where it cannot be had, nothing starts.",
    )
