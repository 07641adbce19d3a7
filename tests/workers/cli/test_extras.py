"""The base install: what works without any extra, and what a command says that needs one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evidence.store import open_store
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.sampling import some
from tests.servers import preloaded
from tests.servers.preloaded import HALLMARK
from workers.cli import extras
from workers.cli.extras import DATASETS, EXTRAS, FLEET, PACKAGES, SITE, Extra, find_extra

SHOWN = samples.dossiers(1)[0].server.id
ROOT = Path(__file__).parents[3]
ABSENT = sorted({module for extra in EXTRAS for module in extra.modules})
LOAD_ALL = """
import json
from workers.cli.app import SUBCOMMANDS, load_command
needed = {}
for name, subcommand in SUBCOMMANDS.items():
    try:
        load_command(subcommand.path)
    except ModuleNotFoundError as error:
        needed[name] = error.name
print(json.dumps(needed))
"""
MAX_PACKAGES, MAX_BYTES = 60, 120_000_000


def base(*words: str, home: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """`hallmark` in an installation without extras."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("HALLMARK_")}
    own |= {"HALLMARK_HOME": str(home / "home"), "HALLMARK_CACHE": str(home / "cache"), "HALLMARK_CANARIES": "[]"}
    return without_extras(HALLMARK, *words, env=own | environ)


def without_extras(*command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A process that finds no module of an extra, as the imports before it did not."""
    popen = preloaded.without(*ABSENT)
    return preloaded.run(command, popen=popen, cwd=ROOT, env=env, capture_output=True, text=True)


def test_what_the_processes_here_loaded_before_they_started_is_of_the_base() -> None:
    """They share what is loaded, but no module of an extra, which they do not find either."""
    code = "import sys; print(set(sys.argv[1:]) & sys.modules.keys(), 'workers.pipeline' in sys.modules); import celery"
    found = without_extras(sys.executable, "-c", code, *ABSENT)
    assert found.stdout == "set() True\n"
    assert found.stderr.endswith("ModuleNotFoundError: No module named 'celery'\n")


def test_the_base_scans_a_remote_in_every_format(fleet: str, tmp_path: Path) -> None:
    scan = ["scan", f"{fleet}/s/1/mcp", "--allow-private", "--core"]
    text = base(*scan, home=tmp_path)
    assert (text.returncode, "Score " in text.stdout) == (0, True), text.stderr
    junit, saved = tmp_path / "junit.xml", tmp_path / "saved.json"
    found = base(*scan, "--json", "--junit", str(junit), "--save", str(saved), home=tmp_path)
    assert json.loads(found.stdout)["verdicts"], found.stderr
    assert "<testsuite" in junit.read_text()
    again = base("scan", "--from", str(saved), "--format", "sarif", home=tmp_path)
    assert json.loads(again.stdout)["version"] == "2.1.0", again.stderr
    receipts = base("scan", "--from", str(saved), "--verbose", "--evidence", home=tmp_path)
    assert (receipts.returncode, "tools" in receipts.stdout) == (0, True), receipts.stderr


def test_the_base_scans_a_command_without_a_sandbox(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "tests.servers.scripted_stdio", "--number", "3"]
    found = base("scan", "--core", "--no-sandbox", "--json", "--", *server, home=tmp_path)
    assert json.loads(found.stdout)["verdicts"], found.stderr


READS = (
    ["explain", "lint"],
    ["list"],
    ["show", SHOWN],
    ["status"],
    ["night", "list"],
    ["rescore", "latest"],
    ["findings", "list"],
    ["samples"],
)


@pytest.mark.parametrize("words", some(READS, 3, besides=[["list"]]), ids=" ".join)
def test_the_base_reads_and_keeps_results(words: list[str], filled: Path) -> None:
    found = base(*words, home=filled)
    assert found.returncode == 0, found.stderr
    assert found.stdout + found.stderr


def test_only_commands_of_datasets_and_the_mcp_server_import_an_extra_before_they_run() -> None:
    found = without_extras(sys.executable, "-c", LOAD_ALL)
    assert json.loads(found.stdout) == {
        "export": "pyarrow",
        "verify": "pyarrow",
        "diff": "pyarrow",
        "key": "cryptography",
        "mcp": "mcp",
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a published run."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "home").mkdir()
    store = open_store(f"sqlite:///{folder / 'home' / 'hallmark.db'}")
    store.migrate()
    fill(store, samples.dossiers(2))
    store.close()
    return folder


NEEDS: tuple[tuple[list[str], Extra], ...] = (
    (["scan", "npm:some-server"], PACKAGES),
    (["scan", "--", "python", "server.py"], PACKAGES),
    (["web"], SITE),
    (["fleet"], FLEET),
    (["scan", "https://127.0.0.1:1/mcp", "--official-client"], PACKAGES),
    (["run", "--registry", "starter"], PACKAGES),
    (["mcp"], SITE),
    (["export", "latest", "dataset"], DATASETS),
    (["report", "latest", "report"], SITE),
    (["key", "show"], DATASETS),
)


@pytest.mark.parametrize("need", some(NEEDS, 3, besides=[(["web"], SITE)]), ids=lambda need: " ".join(need[0]))
def test_a_command_names_the_extra_that_it_needs_and_the_command_that_adds_it(
    need: tuple[list[str], Extra], filled: Path
) -> None:
    words, extra = need
    found = base(*words, home=filled)
    assert found.returncode == 2, found.stderr
    assert f"error: this needs the extra `{extra.name}`, for {extra.purpose}." in found.stderr
    assert f"pip install 'mcp-hallmark[{extra.name}]'" in found.stderr
    assert "Traceback" not in found.stderr


def test_postgresql_without_its_driver_names_the_extra(tmp_path: Path) -> None:
    found = base("list", home=tmp_path, HALLMARK_DATABASE_URL="postgresql+psycopg://a@127.0.0.1:1/b")
    assert found.returncode == 2
    assert FLEET.install_command in found.stderr


def test_doctor_lists_the_extras_and_says_how_to_add_them(tmp_path: Path) -> None:
    rows = {row["check"]: row for row in map(json.loads, base("doctor", "--json", home=tmp_path).stdout.splitlines())}
    assert [rows[f"extra {extra.name}"]["fix"] for extra in EXTRAS] == [extra.install_command for extra in EXTRAS]
    assert rows["extra packages"]["verdict"] == "missing"


def test_the_error_of_a_real_import_bug_keeps_its_traceback() -> None:
    bugs = (
        ModuleNotFoundError("No module named 'workers.nothing'", name="workers.nothing"),
        ModuleNotFoundError("No module named 'redis.nothing'", name="redis.nothing"),  # redis is installed here
        ModuleNotFoundError("without a name"),
    )
    for bug in bugs:
        assert find_extra(bug) is None
        with pytest.raises(ModuleNotFoundError) as raised:
            extras.explain_missing_extra(bug)
        assert raised.value is bug


def declared(extra: str) -> set[str]:
    """The distributions that pyproject.toml declares for an extra itself."""
    texts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"][extra]
    wanted = {Requirement(text) for text in texts}
    return {canonicalize_name(one.name) for one in wanted if one.name != "mcp-hallmark" and applies(one)}


def applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra.name)
def test_the_modules_of_an_extra_are_those_of_its_dependencies(
    extra: Extra, providers: Mapping[str, list[str]]
) -> None:
    found = {canonicalize_name(name) for module in extra.modules for name in providers[module]}
    assert declared(extra.name) <= found
    assert not found & base_distributions(), "a module of the base cannot show that an extra is missing"


@pytest.fixture(scope="module")
def providers() -> Mapping[str, list[str]]:
    """The distributions of each top-level module."""
    return packages_distributions()


def base_distributions() -> set[str]:
    """The distributions of the base lock that this platform needs."""
    pins = re.findall(r"^([a-z].*?) *\\$", (ROOT / "requirements/base.txt").read_text("utf-8"), re.MULTILINE)
    return {canonicalize_name(one.name) for one in map(Requirement, pins) if applies(one)}


def test_the_base_has_few_and_small_packages() -> None:
    names = base_distributions()
    assert 30 < len(names) < MAX_PACKAGES  # Hallmark itself is one more
    files = {Path(str(file.locate())) for name in names for file in distribution(name).files or ()}
    assert 40_000_000 < sum(path.stat().st_size for path in files if path.is_file()) < MAX_BYTES - 20_000_000
