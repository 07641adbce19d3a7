"""A decoy home folder with files that malware searches for: private to one box, and monitored with inotify.

The files are written into the box's own memory file system while the box waits at the gate, before any code of the
server runs, and vanish with the box. Each file is well-formed, so that a server that reads its own configuration there
starts normally. No value in them gives access to anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct, field

from crawler.sandbox.kernel.libc import load_libc
from evidence.kinds.behaviour import Decoy

HOME: Final = "/tmp/home"  # noqa: S108
NOTHING: Final = "decoy"
_KEY: Final = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{NOTHING}\n-----END OPENSSH PRIVATE KEY-----\n"
_SERVERS: Final = '{"mcpServers": {}}\n'
FILES: Final[Mapping[str, str]] = {
    ".aws/config": "[default]\nregion = us-east-1\n",
    ".aws/credentials": f"[default]\naws_access_key_id = {NOTHING}\naws_secret_access_key = {NOTHING}\n",
    ".azure/msal_token_cache.json": "{}\n",
    ".bash_history": "ls\n",
    ".bashrc": "# nothing\n",
    ".claude.json": _SERVERS,
    ".config/Claude/claude_desktop_config.json": _SERVERS,
    ".config/gcloud/credentials.db": "",
    ".config/gh/hosts.yml": f"github.com:\n    oauth_token: {NOTHING}\n    user: {NOTHING}\n",
    ".config/google-chrome/Default/Cookies": "",
    ".config/google-chrome/Default/Login Data": "",
    ".config/solana/id.json": "[]\n",
    ".cursor/mcp.json": _SERVERS,
    ".docker/config.json": '{"auths": {}}\n',
    ".electrum/wallets/default_wallet": "{}\n",
    ".ethereum/keystore/UTC--decoy": "{}\n",
    ".git-credentials": f"https://{NOTHING}:{NOTHING}@localhost\n",
    ".gnupg/pubring.kbx": "",
    ".kube/config": "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n",
    ".mozilla/firefox/profiles.ini": "[General]\nStartWithLastProfile=1\n",
    ".netrc": f"machine localhost login {NOTHING} password {NOTHING}\n",
    ".npmrc": "fund=false\n",
    ".profile": "# nothing\n",
    ".pypirc": "[distutils]\nindex-servers =\n",
    ".ssh/authorized_keys": "",
    ".ssh/id_ed25519": _KEY,
    ".ssh/id_rsa": _KEY,
    ".ssh/known_hosts": "",
}
# Computed once, so that a start is fast.
_CONTENTS: Final = tuple((path, text.encode()) for path, text in FILES.items())
_WATCHED: Final = tuple(sorted({str(PurePosixPath(path).parent) for path in FILES}))
_FOLDERS: Final = tuple(sorted({str(part) for path in FILES for part in PurePosixPath(path).parents} - {"."}))
# sys/inotify.h
IN_MODIFY, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_OPEN = 0x2, 0x40, 0x80, 0x100, 0x200, 0x20
IN_Q_OVERFLOW, IN_ISDIR = 0x4000, 0x40000000
CHANGES: Final = IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE
EVENT: Final = struct.Struct("<iIII")
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_WAIT: Final = 2.0
POLL: Final = 0.001


class Decoys(Struct):
    """The monitored decoy files of one box."""

    handle: int
    _folders: dict[int, str] = field(default_factory=dict)

    def watch(self, folder: int, name: str) -> None:
        """Monitor the folder with the descriptor `folder`, named `name` below the home; raises OSError."""
        mask = IN_OPEN | CHANGES
        number = load_libc().inotify_add_watch(self.handle, f"/proc/self/fd/{folder}".encode(), mask)
        if number < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")
        self._folders[number] = name

    def touched(self) -> tuple[list[Decoy], bool]:
        """The decoys that were opened or changed so far, and whether events were lost."""
        found, lost = [], False
        for number, mask, name in _events(self.handle):
            lost = lost or bool(mask & IN_Q_OVERFLOW)
            path = _path(self._folders.get(number), name, mask)
            if path:
                found.append(Decoy(path, bool(mask & CHANGES)))
        return found, lost

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.handle)


async def write_decoys(pid: int, owner: int | None) -> Decoys | None:
    """Write the decoys into a box that waits at its gate; None if the kernel or our permissions do not allow it.

    `pid`: the first process of the box. `owner`: its host user id, None for ours.
    """
    try:
        home = await _open_home(pid)
        return None if home is None else _write_all(home, owner)
    except OSError:
        return None


async def _open_home(pid: int) -> int | None:
    """Wait for the box's own home and open it: bubblewrap reports the pid before it has set up everything."""
    ours = os.stat("/")  # noqa: PTH116
    ends = asyncio.get_running_loop().time() + MAX_WAIT
    while asyncio.get_running_loop().time() < ends:
        root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not os.path.samestat(os.fstat(root), ours):  # until then, the folder would be one of the host
                with contextlib.suppress(FileNotFoundError):
                    return os.open(HOME.lstrip("/"), FOLDER, dir_fd=root)
        finally:
            os.close(root)
        await asyncio.sleep(POLL)
    return None


def _write_all(home: int, owner: int | None) -> Decoys:
    decoys = Decoys(load_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    try:
        if decoys.handle < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        for name in _FOLDERS:
            os.mkdir(name, 0o700, dir_fd=home)
            _set_owner(name, home, owner)
        for path, content in _CONTENTS:
            _write(home, path, content, owner)
        for name in _WATCHED:
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=home)
            try:
                decoys.watch(folder, "" if name == "." else f"{name}/")
            finally:
                os.close(folder)
    except OSError:
        decoys.close()
        raise
    finally:
        os.close(home)
    decoys.touched()  # discard our own events
    return decoys


def _write(home: int, path: str, content: bytes, owner: int | None) -> None:
    handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=home)
    try:
        os.write(handle, content)
        if owner is not None:
            os.fchown(handle, owner, owner)
    finally:
        os.close(handle)


def _set_owner(folder: str, home: int, owner: int | None) -> None:
    if owner is not None:
        os.chown(folder, owner, owner, dir_fd=home, follow_symlinks=False)


def _events(handle: int) -> Iterator[tuple[int, int, str]]:
    """Watch number, mask and name of each pending event."""
    while True:
        try:
            data = os.read(handle, 65536)
        except OSError:
            return
        at = 0
        while at < len(data):
            number, mask, _, length = EVENT.unpack_from(data, at)
            at += EVENT.size
            yield number, mask, data[at : at + length].rstrip(b"\0").decode("utf-8", "replace")
            at += length


def _path(folder: str | None, name: str, mask: int) -> str | None:
    """The decoy of an event; None for files that the server created itself."""
    if folder is None or not mask & (IN_OPEN | CHANGES):
        return None
    if folder + name in FILES:
        return folder + name
    if not name or mask & IN_ISDIR:  # the watch of the folder itself reports listings
        return folder if not name and folder else None
    return f"{folder}*" if folder else None
