"""How a run spreads over its workers: which modules each imports first, which tests stay together, and their order."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import suppress

import pytest
from xdist.scheduler import LoadGroupScheduling

_LONG = ("chaos", "functional", "browser", "conformance", "crawler/sandbox")
"""Folders whose tests start processes and wait for them."""


class ModuleScheduling(LoadGroupScheduling):
    """The tests of a module stay in one worker, which makes their fixtures once; a group joins several modules."""

    def _split_scope(self, nodeid: str) -> str:
        return super()._split_scope(nodeid).partition("::")[0]


def longest_first(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker has it left when the others have finished."""
    items.sort(key=lambda item: not _takes_long(item))


def _takes_long(item: pytest.Item) -> bool:
    grouped = item.get_closest_marker("xdist_group") is not None
    return grouped or item.nodeid.startswith(tuple(f"tests/{folder}/" for folder in _LONG))


def import_share(config: pytest.Config) -> None:
    """Import the worker's share of the modules that every worker is about to collect in the same order.

    Where nothing is compiled yet, on a new machine, every worker would compile everything at the same time. This way
    each compiles its share, and reads what the others have written meanwhile.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return  # one process
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    modules = sorted(_modules(config))
    for name in modules[len(modules) * number // count : len(modules) * (number + 1) // count]:
        with suppress(Exception, pytest.skip.Exception):  # the collection meets it again, and reports it
            importlib.import_module(name)


def _modules(config: pytest.Config) -> Iterator[str]:
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        for file in path.rglob("test_*.py") if path.is_dir() else (path,):
            with suppress(ValueError):  # beside the root
                yield ".".join(file.relative_to(config.rootpath).with_suffix("").parts)
