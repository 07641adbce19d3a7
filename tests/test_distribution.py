"""Every module is imported by one of the workers first, and its tests stay in one worker."""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import distribution

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("tests/a/test_b.py::test_c", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[http://host::1]", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[user@host]", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[user@host]@group", "group"),
    ],
)
def test_a_module_stays_together_unless_its_tests_have_a_group(nodeid: str, scope: str) -> None:
    assert object.__new__(distribution.ModuleScheduling)._split_scope(nodeid) == scope


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_shares_of_the_workers_are_all_modules_once(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    imported: list[str] = []
    monkeypatch.setattr(importlib, "import_module", imported.append)

    for number in range(count):
        worker = {"workerid": f"gw{number}", "workercount": count}
        distribution.import_share(as_config(["tests/workers", "tests/test_distribution.py::x"], worker))

    expected = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "workers").rglob("test_*.py")}
    assert len(imported) == len(set(imported))
    assert {f"{name.replace('.', '/')}.py" for name in imported} == expected | {"tests/test_distribution.py"}


def test_one_process_imports_nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib, "import_module", pytest.fail)
    distribution.import_share(as_config(["tests"], None))


@pytest.mark.parametrize("raised", [SyntaxError, AssertionError, pytest.skip.Exception])
def test_a_module_that_cannot_be_imported_is_left_to_the_collection(
    monkeypatch: pytest.MonkeyPatch, raised: type[BaseException]
) -> None:
    met: list[str] = []

    def refuse(name: str) -> None:
        met.append(name)
        raise raised

    monkeypatch.setattr(importlib, "import_module", refuse)
    both = ["tests/test_distribution.py", "tests/test_install_size.py"]
    with suppress(pytest.skip.Exception):  # it would skip this test
        distribution.import_share(as_config(both, {"workerid": "gw0", "workercount": 1}))
    assert met == ["tests.test_distribution", "tests.test_install_size"]


def as_config(arguments: list[str], worker: dict[str, Any] | None) -> Any:
    given = {} if worker is None else {"workerinput": worker}
    return SimpleNamespace(args=arguments, rootpath=ROOT, invocation_params=SimpleNamespace(dir=ROOT), **given)


def test_what_takes_long_begins_first_and_the_rest_keeps_its_order() -> None:
    items: list[Any] = [
        as_item("tests/workers/test_a.py::test_b"),
        as_item("tests/chaos/test_c.py::test_d"),
        as_item("tests/crawler/test_e.py::test_f"),
        as_item("tests/crawler/test_g.py::test_h", group=True),
    ]

    distribution.longest_first(items)

    assert [item.nodeid.rpartition("_")[2] for item in items] == ["d", "h", "b", "f"]


def as_item(nodeid: str, *, group: bool = False) -> Any:
    return SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name: name if group else None)
