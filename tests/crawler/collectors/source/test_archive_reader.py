"""One walk through an archive gives the three bodies; a folder of a repository is a server of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.archives import Bounds
from crawler.collectors.source.reading_task import ArchiveUnreadable, FolderMissing
from evidence.canonical import canonical_json
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.secrets import Secrets
from evidence.kinds.source import Source
from tests.crawler.collectors.source.local_reading import TOKEN, archive, reading, source

SERVER = (
    "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef add(a: int): 'Adds.'\nmcp.run()\n"
)
LOCK = {
    "name": "x", "lockfileVersion": 3,
    "packages": {"": {"dependencies": {"zod": "^3"}}, "node_modules/zod": {"version": "3.25.0"}},
}  # fmt: skip
UV = """
version = 1
[[package]]
name = "two"
version = "1"
source = { editable = "." }
dependencies = [{ name = "httpx" }]
[[package]]
name = "httpx"
version = "0.28.1"
source = { registry = "r" }
"""
MONOREPO = {
    "README.md": "# All servers\n",
    "LICENSE": "MIT",
    "SECURITY.md": "x",
    ".github/workflows/ci.yml": "on: push",
    "package-lock.json": json.dumps(LOCK),
    "src/one/README.md": "# One\n\n## Install\n\n`uvx one`\n",
    "src/one/server.py": SERVER,
    "src/one/tests/test_server.py": "def test(): mcp.run(transport='sse')\n",
    "src/two/server.py": SERVER.replace("add", "sub"),
    "src/two/uv.lock": UV,
}


def test_a_folder_of_a_repository_is_a_server_of_its_own() -> None:
    found = reading(MONOREPO, subfolder="src/one")
    view = Source(found.source)
    assert [tool.name for tool in view.tools] == ["add"]
    assert view.readme is not None
    assert (view.readme.path, view.readme.install) == ("README.md", "`uvx one`")
    assert view.transports == {"stdio": ("server.py:5",)}
    assert (view.count("files"), view.count("tests"), view.complete) == (3, 1, True)
    assert (view.path("licence"), view.path("security_policy")) == ("/LICENSE", "/SECURITY.md")
    assert view.paths("ci") == ("/.github/workflows/ci.yml",)
    assert found.secrets["files"] == 3


def test_lockfiles_are_those_of_the_folder_else_of_the_root() -> None:
    one, two = (reading(MONOREPO, subfolder=f"src/{name}").dependencies for name in ("one", "two"))
    assert one is not None
    assert two is not None
    assert [(row.name, row.path) for row in Dependencies(one).dependencies] == [("zod", "/package-lock.json")]
    assert [(row.name, row.version) for row in Dependencies(two).dependencies] == [("httpx", "0.28.1")]
    assert Dependencies(two).lockfile


def test_a_repository_is_read_from_its_root() -> None:
    body = source(MONOREPO)
    assert [tool["name"] for tool in body["tools"]] == ["add", "sub"]
    assert (body["subfolder"], body["licence"], body["readme"]["path"]) == (None, "LICENSE", "README.md")
    assert body["lockfiles"] == [
        {"path": "package-lock.json", "format": "package-lock", "packages": 1, "error": None},
        {"path": "src/two/uv.lock", "format": "uv", "packages": 1, "error": None},
    ]


def test_workflows_are_read_from_the_root_of_a_repository_only() -> None:
    text = "on: push\njobs: {a: {steps: [{uses: octo/tool@v1}]}}"
    contents = {".github/workflows/ci.yml": text, "src/one/.github/workflows/no.yml": text, "src/one/a.py": "1"}
    (whole,) = Source(reading(contents).source).workflows or ()
    (inner,) = Source(reading(contents, subfolder="src/one").source).workflows or ()
    assert (whole.path, whole.unpinned, whole.rights) == (".github/workflows/ci.yml", ("2 octo/tool@v1",), "default")
    assert inner.path == "/.github/workflows/ci.yml"
    assert Source(reading(contents, origin="npm").source).workflows is None
    assert Source(reading({"a.py": "1"}).source).workflows == ()


def test_a_folder_that_is_not_there_is_said() -> None:
    with pytest.raises(FolderMissing, match="no folder src/three"):
        reading(MONOREPO, subfolder="src/three")
    with pytest.raises(ArchiveUnreadable, match="no file"):
        reading({})


def test_what_a_project_keeps_is_found() -> None:
    names = (
        "CHANGELOG.md", "CONTRIBUTING.md", "docker/Dockerfile", "Dockerfile", "docs/setup.md", "examples/a.py",
        "examples/b.py", "test_a.py", "src/b.test.ts", "pyproject.toml", "node_modules/x/package.json",
    )  # fmt: skip
    stated = {"name": "io.acme/x", "version": "1.0", "packages": []}
    body = source({**dict.fromkeys(names, "x"), "server.json": json.dumps(stated)})
    assert (body["changelog"], body["contributing"], body["dockerfile"]) == (
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Dockerfile",
    )
    assert (body["examples"], body["tests"], body["guides"]) == (2, 2, ["docs/setup.md"])
    assert body["manifests"] == ["pyproject.toml", "server.json"]
    assert body["server_json"] == {"path": "server.json", "name": "io.acme/x", "version": "1.0"}
    assert body["readme"] is None


def test_a_wheel_keeps_its_readme_with_its_metadata() -> None:
    body = source(
        {
            "x-1.dist-info/METADATA": "Name: x\nVersion: 1\n\n# Title\n\nmcp-name: io.acme/x\n",
            "x-1.dist-info/licenses/LICENSE": "MIT",
        }
    )
    assert (body["readme"]["sections"], body["readme"]["mcp_name"]) == (["Title"], "io.acme/x")
    assert body["licence"] == "licenses/LICENSE"


def test_sources_stand_before_what_is_built_of_them() -> None:
    call = "server.registerTool('t', {description: '%s'}, f);"
    body = source({"dist/index.js": call % "built", "src/index.ts": call % "written"})
    assert [(tool["description"], tool["by"]) for tool in body["tools"]] == [("written", "typescript")]


def test_a_bundle_is_no_sign_of_oauth() -> None:
    bundle = "app.use(requireBearerAuth(x));\n" + "// pad\n" * 50_000
    assert source({"index.js": bundle})["oauth"] == []
    assert source({"index.js": "app.use(requireBearerAuth(x));"})["oauth"] == [
        {"marker": "requireBearerAuth", "at": "index.js:1"}
    ]


def test_secrets_are_found_and_in_no_body() -> None:
    found = reading(
        {
            "README.md": f"# X\n\n## Install\n\nexport GITHUB_TOKEN={TOKEN}\n",
            "server.py": SERVER.replace("Adds.", f"Use {TOKEN} as a key."),
            "requirements.txt": f"x @ git+https://user:{TOKEN}@example.org/x\nhttpx==1.0\n",
        }
    )
    rows: Any = found.secrets["findings"]
    assert {"README.md", "server.py"} <= {row["path"] for row in rows}
    for body in (found.source, found.secrets, found.dependencies or {}):
        assert TOKEN.encode() not in canonical_json(dict(body))


def test_requirements_are_a_lock_when_each_is_pinned() -> None:
    pinned = reading({"requirements.txt": "httpx==0.28.1\n"}).dependencies
    loose = reading({"requirements.txt": "httpx>=0.28\nmcp==1.0\n"}).dependencies
    beside = reading({"requirements.txt": "a>=1\n", "uv.lock": UV}).dependencies
    assert pinned is not None
    assert loose is not None
    assert beside is not None
    assert (Dependencies(pinned).lockfile, Dependencies(loose).lockfile) == (True, False)
    assert [(row.name, row.version) for row in Dependencies(loose).dependencies] == [("httpx", None), ("mcp", "1.0")]
    assert [row.name for row in Dependencies(beside).dependencies] == ["httpx"]


def test_a_lockfile_that_cannot_be_read_is_recorded() -> None:
    found = reading({"package-lock.json": "{", "tests/package-lock.json": json.dumps(LOCK)})
    (row,) = Source(found.source).lockfiles
    assert (row.path, row.packages, bool(row.error), found.dependencies) == ("package-lock.json", None, True, None)


def test_a_reading_that_a_bound_ended_says_so() -> None:
    body = source({f"f{at}": "x" for at in range(9)}, bounds=Bounds(entries=4))
    assert (body["files"], body["complete"]) == (4, False)
    body = source({"a.py": "x", "../b.py": "y", "A.py": "z", "v.mp4": b"0" * 99})
    assert (body["complete"], [one["path"] for one in body["skipped"]]) == (False, ["A.py", "top/../b.py"])


def test_paths_that_are_no_text_are_written_all_the_same() -> None:
    body = source({"a\u202eb.py": "x = 1", "größe.py": "y = 2"})
    assert canonical_json(body)


def test_a_lockfile_of_fifty_megabytes_is_bounded() -> None:
    found = reading({"package-lock.json": b'{"packages":{' + b" " * (52 << 20)})
    (row,) = Source(found.source).lockfiles
    assert (row.packages, bool(row.error)) == (None, True)


def test_an_archive_inside_is_searched_for_secrets_one_level_deep() -> None:
    secret = f"token = '{TOKEN}'"
    deeper = archive({"deep.py": secret})
    found = reading({"a.py": "x = 1", "assets/bundle.tgz": archive({"src/key.py": secret, "more.tgz": deeper})})
    assert [one.path for one in Secrets.parse(canonical_json(found.secrets)).counting] == [
        "assets/bundle.tgz/top/src/key.py"
    ]


def test_archives_inside_are_read_within_one_bound() -> None:
    inner = {f"{number}.tgz": archive({"zeros.txt": "0" * 7_900_000}) for number in range(6)}
    found = reading(inner)
    assert not Source(found.source).complete and len(canonical_json(found.secrets)) < 2_000


@pytest.mark.parametrize("content", ["", "0" * 6_000], ids=["empty", "long"])
def test_files_of_archives_inside_that_are_not_read_are_bounded_too(content: str) -> None:
    inner = archive({f"{number}.png": content for number in range(4_000)})
    assert Source(reading({"a.tgz": inner}).source).complete
    assert not Source(reading({f"{number}.tgz": inner for number in range(6)}).source).complete


def test_a_minified_script_and_the_configuration_of_git_count() -> None:
    found = reading({"dist/app.min.js": f'x="{TOKEN}";', ".git/config": f"url = https://u:{TOKEN}@git.shop.dev/a.git"})
    counting = Secrets.parse(canonical_json(found.secrets)).counting
    assert sorted(one.path for one in counting) == [".git/config", "dist/app.min.js"]
