"""Names of a package that are imported when they are first used, because their modules take long to import."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def import_on_use(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package, for names and the modules below it that define them.

    The package imports the same names where TYPE_CHECKING is set, so that they are checked like any others.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return find
