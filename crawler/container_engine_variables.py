"""Environment variables by which Podman and Docker clients find their engine, storage and registry logins."""

from __future__ import annotations

from typing import Final

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
