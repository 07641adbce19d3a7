"""Packages whose archives, metadata or dependencies attack the machine that installs them."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import io
import json
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from crawler.sandbox import Sandbox
from crawler.sandbox.install.installer import InstallCaps
from evidence.model import Absent, Reason
from tests.crawler.sandbox.attacks.arena import Arena
from tests.crawler.sandbox.attacks.outcome import Outcome
from tests.crawler.sandbox.driving import greet
from tests.crawler.sandbox.index_server import NODE_SERVER, PYTHON_SERVER, IndexServer, make_tarball

MIB = 1 << 20
SMALL = InstallCaps(size=8 * MIB, files=1000, download=8 * MIB)
VICTIM = "attack-victim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """One hostile package. `reason`: why it cannot be started, None when it starts all the same, harmless.

    `fact`: what is recorded of its installation, as (name, value).
    """

    name: str
    ecosystem: str
    put: Callable[[IndexServer, str], None]
    reason: tuple[Reason, ...] = ()
    fact: tuple[str, object] | None = None


async def visit(place: Arena, archive: Archive, box: Sandbox) -> Outcome:
    """Install and start a hostile package; nothing of it may be found where it aimed at."""
    archive.put(place.index, place.index.url)
    small = dataclasses.replace(box, installer=replace(box.installer, caps=SMALL))
    launched = await small.launch(place.target(archive.ecosystem, archive.name))
    if isinstance(launched, Absent):
        return Outcome(reason=launched.reason.value, detail=launched.detail, left=_owned(place))
    said, facts = await greet(launched), launched.facts
    found = {"greets": "refused: like any server" if isinstance(said, dict) else f"got through: {said}"}
    if archive.fact:
        name, value = archive.fact
        found[name] = "refused: recorded" if facts.get(name) == value else f"got through: {facts.get(name)!r}"
    return Outcome(reports=found, left=_owned(place))


async def visit_victim(place: Arena, ecosystem: str, box: Sandbox) -> Outcome:
    """Whether an innocent package that is installed afterwards, into the same cache, is what its author made."""
    put_victim(place.index)
    launched = await box.launch(place.target(ecosystem, VICTIM))
    if isinstance(launched, Absent):
        return Outcome(reason=launched.reason.value, detail=launched.detail)
    said = await greet(launched)
    genuine = isinstance(said, dict) and said.get("name") == VICTIM
    return Outcome(reports={"genuine": "refused: unhurt" if genuine else f"got through: {said}"})


def _owned(place: Arena) -> tuple[str, ...]:
    """Files with the name that all of these attacks give to what they plant."""
    tops = (place.cache, place.home, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/"), Path("/etc"))
    planted = {path for top in tops for path in top.glob("*owned*")} | set(place.cache.rglob("*owned*"))
    return tuple(sorted(f"planted: {path}" for path in planted if "/layers/" not in str(path)))


def put_victim(index: IndexServer) -> None:
    """The innocent package, in both ecosystems."""
    index.add_npm(VICTIM)
    index.add_wheel(VICTIM, "1.0.0")


def _npm_tarball(index: IndexServer, name: str, tarball: bytes, manifest: Mapping[str, object] | None = None) -> None:
    """Publish an npm package with these bytes; the integrity is that of the bytes."""
    path = f"/npm/{name}/-/{name}-1.0.0.tgz"
    index.files[path] = tarball
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    table = {"name": name, "version": "1.0.0", "bin": {name: "server.js"}, **(manifest or {})}
    index.npm[name] = {"1.0.0": {**table, "dist": {"tarball": index.url + path, "integrity": integrity}}}


def _tar(name: str, members: Iterable[tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]], **manifest: object) -> bytes:
    """A package with a working server, and hostile members after it."""
    table = json.dumps({"name": name, "version": "1.0.0", "bin": {name: "server.js"}, **manifest})
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, text in {"package/package.json": table, "package/server.js": NODE_SERVER % name}.items():
            archive.addfile(*_file(path, text.encode()))
        for member in members:
            archive.addfile(*member) if isinstance(member, tuple) else archive.addfile(member)
    return gzip.compress(raw.getvalue(), 1, mtime=0)


def _file(path: str, data: bytes = b"owned", mode: int = 0o755) -> tuple[tarfile.TarInfo, io.BytesIO]:
    member = tarfile.TarInfo(path)
    member.size, member.mode = len(data), mode
    return member, io.BytesIO(data)


def _special(path: str, kind: bytes, target: str = "", *, device: tuple[int, int] = (0, 0)) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.linkname, member.mode = kind, target, 0o777
    member.devmajor, member.devminor = device
    return member


def _tarball(name: str, *members: object, reason: tuple[Reason, ...] = ()) -> Archive:
    def put(index: IndexServer, _: str) -> None:
        _npm_tarball(index, name, _tar(name, members))  # type: ignore[arg-type]

    return Archive(name=name, ecosystem="npm", put=put, reason=reason)


def _npm(
    name: str, *, reason: tuple[Reason, ...] = (), fact: tuple[str, object] | None = None, **given: object
) -> Archive:
    def put(index: IndexServer, _: str) -> None:
        index.add_npm(name, **given)  # type: ignore[arg-type]

    return Archive(name=name, ecosystem="npm", put=put, reason=reason, fact=fact)


def _points_at(name: str, ecosystem: str, address: str) -> Archive:
    """A package that needs another one from an address, which the index server on loopback would notice."""

    def put(index: IndexServer, url: str) -> None:
        where = address.replace("INDEX", url).replace("OTHER", "http://127.0.0.1:9")
        if ecosystem == "npm":
            index.add_npm(name, manifest={"dependencies": {"attack-elsewhere": where}})
        else:
            index.add_wheel(name, requires=(f"attack-elsewhere @ {where}",))

    return Archive(name=name, ecosystem=ecosystem, put=put, reason=(Reason.INSTALL_FAILED, Reason.NO_PACKAGE))


def _wheel(name: str, files: Mapping[str, bytes], *, links: Mapping[str, str] | None = None, **more: object) -> Archive:
    """A wheel with a working server and further members, named without any check."""
    module = name.replace("-", "_")
    reason: tuple[Reason, ...] = more.get("reason", ())  # type: ignore[assignment]
    scripts = more.get("scripts", f"[console_scripts]\n{name} = {module}:main\n")

    def put(index: IndexServer, _: str) -> None:
        content = {f"{module}/__init__.py": PYTHON_SERVER.format(name=name, imports="os").encode(), **files}
        info = f"{module}-1.0.dist-info"
        content |= {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": str(scripts).encode(),
        }
        rows = [f"{path},," for path in [*content, f"{info}/RECORD"]]
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in {**content, f"{info}/RECORD": "\n".join(rows).encode()}.items():
                archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED, 1)
            for path, target in (links or {}).items():
                entry = zipfile.ZipInfo(path)
                entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
                archive.writestr(entry, target)
        index._add_file(name, f"{module}-1.0-py3-none-any.whl", raw.getvalue(), ">=3.8")

    return Archive(name=name, ecosystem="pypi", put=put, reason=reason)


def _wrong_digest(index: IndexServer, _: str) -> None:
    index.add_npm("attack-wrong-digest")
    path = index.npm["attack-wrong-digest"]["1.0.0"]["dist"]["tarball"].removeprefix(index.url)  # type: ignore[index]
    index.files[path] = make_tarball({"package.json": "{}", "server.js": "owned"})


def _wrong_hash(index: IndexServer, _: str) -> None:
    index.add_wheel("attack-wrong-hash")
    path = index.simple["attack-wrong-hash"][0]["url"].removeprefix(index.url)  # type: ignore[attr-defined]
    index.files[path] = index.files[path] + b"\0"


def _source_only(index: IndexServer, _: str) -> None:
    setup = "import os\nopen('/cache/owned', 'w')\nopen('/app/owned', 'w')\nraise SystemExit(3)\n"
    index._add_file(
        "attack-source-only",
        "attack-source-only-1.0.tar.gz",
        make_tarball({"setup.py": setup}, "attack-source-only-1.0"),
        ">=3.8",
    )


def _bad_version(index: IndexServer, _: str) -> None:
    """An index that calls a path the newest version."""
    index.add_npm("attack-bad-version", "file:/etc")


SCRIPTS = dict.fromkeys(
    ("preinstall", "install", "postinstall", "prepare", "prepublish"), "node owned.js; touch /app/owned"
)
RUNS = {"owned.js": "require('fs').writeFileSync('/cache/owned','x');require('fs').writeFileSync('/app/owned','x')"}
LINK, HARD, FIFO, CHARACTER, BLOCK = (
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.FIFOTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
)
FAILS = (Reason.INSTALL_FAILED, Reason.TOO_LARGE)
WRITES = b"for p in ('/cache/owned', '/app/owned'):\n    try: open(p, 'w')\n    except OSError: pass\n"
START = b"import os; os.access('/cache', os.W_OK) and open('/cache/owned', 'w')\n"

ALL: tuple[Archive, ...] = (
    _npm(
        "attack-scripts",
        manifest={"scripts": SCRIPTS},
        files=RUNS,
        fact=("install_scripts_blocked", ["attack-scripts"]),
    ),
    _npm("attack-gyp", files={"binding.gyp": "{}"}, fact=("install_scripts_blocked", ["attack-gyp"])),
    _npm(
        "attack-trusts-itself",
        manifest={"scripts": SCRIPTS, "trustedDependencies": ["attack-trusts-itself"]},
        files=RUNS,
    ),
    _npm(
        "attack-configures",
        files={"bunfig.toml": "[install]\nregistry='http://127.0.0.1:9'", ".npmrc": "registry=http://127.0.0.1:9"},
    ),
    _npm("attack-bin-climbs", manifest={"bin": {"../../../../owned": "server.js", "attack-bin-climbs": "server.js"}}),
    _npm("attack-bin-is-node", manifest={"bin": {"node": "server.js", "python3": "server.js", "sh": "server.js"}}),
    _npm("attack-bin-outside", manifest={"bin": {"a": "../../../../usr/bin/node"}}, reason=(Reason.START_FAILED,)),
    _npm("attack-bin-absolute", manifest={"bin": {"a": "/usr/bin/node"}}, reason=(Reason.START_FAILED,)),
    _tarball("attack-tar-absolute", _file("/tmp/owned"), _file("/cache/owned"), _file("/app/../owned")),
    _tarball(
        "attack-tar-climbs",
        _file("package/../../../../../tmp/owned"),
        _file("../../owned"),
        _file("package/../../owned"),
    ),
    _tarball("attack-tar-link", _special("package/out", LINK, "/cache"), _file("package/out/owned")),
    _tarball("attack-tar-link-up", _special("package/up", LINK, "../../.."), _file("package/up/owned")),
    _tarball(
        "attack-tar-hard-link",
        _special("package/passwd", HARD, "/etc/passwd"),
        _special("package/h", HARD, "../../../etc/hosts"),
    ),
    _tarball(
        "attack-tar-devices",
        _special("package/fifo", FIFO),
        _special("package/disk", BLOCK, device=(8, 0)),
        _special("package/memory", CHARACTER, device=(1, 1)),
    ),
    _tarball("attack-tar-setuid", _file("package/setuid", mode=0o6777), _file("package/sticky", mode=0o7777)),
    _tarball(
        "attack-tar-names",
        *(
            _file(f"package/{n}")
            for n in ("\x1b[2J", "-rf", "a\nb", "\u202efdp", "\u00e9", "e\u0301", "CON", "a" * 250)
        ),
    ),
    _tarball(
        "attack-tar-case", _file("package/Server.JS"), _file("package/SERVER.js"), _file("package/package.JSON", b"{}")
    ),
    _tarball("attack-tar-bomb", _file("package/zeros", bytes(48 * MIB)), reason=FAILS),
    _tarball("attack-tar-many", *(_file(f"package/{n}", b"") for n in range(1500)), reason=FAILS),
    _tarball("attack-tar-deep", _file("package/" + "d/" * 400 + "x"), reason=()),
    Archive(name="attack-wrong-digest", ecosystem="npm", put=_wrong_digest, reason=(Reason.INSTALL_FAILED,)),
    Archive(
        name="attack-bad-version", ecosystem="npm", put=_bad_version, reason=(Reason.INSTALL_FAILED, Reason.NO_PACKAGE)
    ),
    _points_at("attack-needs-file", "npm", "file:/etc"),
    _points_at("attack-needs-link", "npm", "link:/cache"),
    _points_at("attack-needs-git", "npm", "git+https://127.0.0.1:9/x.git"),
    _points_at("attack-needs-address", "npm", "OTHER/x.tgz"),
    _points_at("attack-wants-file", "pypi", "file:///etc/x-1.0-py3-none-any.whl"),
    _points_at("attack-wants-git", "pypi", "git+https://127.0.0.1:9/x.git"),
    _points_at("attack-wants-address", "pypi", "OTHER/x-1.0-py3-none-any.whl"),
    _wheel("attack-zip-absolute", {"/tmp/owned": b"x", "/cache/owned": b"x"}),
    _wheel("attack-zip-climbs", {"../owned": b"x", "../../cache/owned": b"x", "a/../../../tmp/owned": b"x"}),
    _wheel("attack-zip-link", {}, links={"outside": "/cache", "up": "../../.."}),
    _wheel("attack-zip-bomb", {"zeros": bytes(48 * MIB)}, reason=FAILS),
    _wheel("attack-zip-many", {f"many/{n}": b"" for n in range(1500)}, reason=FAILS),
    _wheel("attack-data-climbs", {"attack_data_climbs-1.0.data/data/../../../cache/owned": b"x"}),
    _wheel(
        "attack-data-scripts",
        {f"attack_data_scripts-1.0.data/scripts/{n}": b"#!python\n" for n in ("python3", "node", "sh")},
        reason=FAILS,
    ),
    _wheel("attack-start-files", {"sitecustomize.py": WRITES, "usercustomize.py": WRITES, "owned.pth": START}),
    _wheel("attack-shadows", {f"{n}.py": START for n in ("json", "os", "compileall", "py_compile", "site", "pip")}),
    _wheel(
        "attack-script-climbs",
        {},
        scripts="[console_scripts]\n../../cache/owned = os:getcwd\nattack-script-climbs = attack_script_climbs:main\n",
        reason=FAILS,
    ),
    _wheel(
        "attack-script-injects",
        {},
        scripts="[console_scripts]\nx = os;open('/cache/owned','w'):getcwd\n",
        reason=(Reason.INSTALL_FAILED, Reason.START_FAILED),
    ),
    _wheel("attack-steals-name", {f"{VICTIM.replace('-', '_')}/__init__.py": b"owned"}),
    Archive(name="attack-wrong-hash", ecosystem="pypi", put=_wrong_hash, reason=(Reason.INSTALL_FAILED,)),
    Archive(name="attack-source-only", ecosystem="pypi", put=_source_only, reason=(Reason.INSTALL_FAILED,)),
)

OFTEN: tuple[Archive, ...] = ALL[::6]
"""Those of `make test`."""
