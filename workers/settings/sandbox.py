"""Settings of sandbox runtimes, which run packages, commands and images."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

_PYTHONS = r"all|own|3\.[0-9]{1,3}(, ?3\.[0-9]{1,3})*"


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    sandbox_runtime: Annotated[
        Literal["auto", "bubblewrap", "gvisor", "podman", "docker"],
        "What contains servers. `auto`: bubblewrap for packages and commands, else an engine; "
        "Podman or Docker for images. A named runtime is the only one used.",
    ] = "auto"
    carry_starts: Annotated[
        bool,
        "A run starts an unchanged package only on one day of the week, which guarantees less of "
        "*connection stability*: up to 1.7 of 100 points.",
    ] = False
    sandbox_pythons: Annotated[
        str,
        Meta(pattern=f"^({_PYTHONS})$"),
        "Pythons for packages that do not allow Hallmark's own. `all`: found on PATH and in "
        "the folders of pyenv and uv; `own`: none; else versions such as `3.12,3.13`. About "
        "350 MB of cache each.",
    ] = "all"
