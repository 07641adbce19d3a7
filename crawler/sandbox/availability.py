"""Checks whether bubblewrap works on this machine, before any start and in `hallmark doctor`."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from crawler.sandbox.kernel import syscalls
from crawler.sandbox.kernel.user_ids import FIRST_SLOT_UID, INSTALLER_UID, SLOTS, find_unmapped_id

PATHS = "/usr/bin:/bin:/usr/local/bin"
MIN_BUBBLEWRAP_VERSION = (0, 8)
# --as-pid-1: otherwise bubblewrap would not wait for its first process and leave a zombie.
TRIAL = (
    "--unshare-user", "--unshare-net", "--unshare-pid", "--as-pid-1", "--ro-bind", "/", "/", "--proc", "/proc",
    "--", "/bin/true",
)  # fmt: skip


class Availability(Struct, frozen=True):
    """Whether a runtime is available; if not, `why`, and the `fix` for the user. `detail` describes what was found."""

    ok: bool
    why: str = ""
    fix: str = ""
    detail: str = ""


def check_bubblewrap() -> Availability:
    """Check the requirements: Linux, a supported machine, bubblewrap, ldd, and user namespaces."""
    if sys.platform != "linux":
        return Availability(False, "the sandbox needs Linux", "run the crawl on Linux or in a Linux virtual machine")
    if platform.machine() not in syscalls.AUDIT_ARCH:
        return Availability(False, f"no seccomp filter for {platform.machine()}", "use x86_64 or aarch64")
    binary = shutil.which("bwrap", path=PATHS)
    if binary is None:
        return Availability(False, "bubblewrap is not installed", "install it: apt-get install bubblewrap")
    if shutil.which("ldd") is None:  # finds the libraries that the box needs
        return Availability(False, "ldd is missing", "install the C library's tools (libc-bin or glibc-common)")
    return (
        _check_version(binary)
        or _check_ids()
        or _check_namespaces(binary)
        or Availability(True, detail="namespaces of this kernel")
    )


def _check_version(binary: str) -> Availability | None:
    output = subprocess.run([binary, "--version"], env={}, capture_output=True, text=True, check=False).stdout  # noqa: S603
    match = re.search(r"(\d+)\.(\d+)", output)
    if match and (int(match[1]), int(match[2])) >= MIN_BUBBLEWRAP_VERSION:
        return None
    return Availability(False, f"bubblewrap is too old ({output.strip()})", "install bubblewrap 0.8 or newer")


def _check_ids() -> Availability | None:
    unmapped = find_unmapped_id()
    if unmapped is None:
        return None
    last = FIRST_SLOT_UID + SLOTS - 1
    why = f"this container does not map the user or group id {unmapped}; servers run as users {INSTALLER_UID} to {last}"
    fix = f"map {last + 1} ids or more (/etc/subuid, /etc/subgid), or run Hallmark as an ordinary user there"
    return Availability(False, why, fix)


def _check_namespaces(binary: str) -> Availability | None:
    # Run as the user of the servers: root may create namespaces where other users may not.
    uid = INSTALLER_UID if os.geteuid() == 0 else None
    try:
        trial = subprocess.run(  # noqa: S603
            [binary, *TRIAL],
            env={},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Availability(False, f"bubblewrap cannot be tried ({type(error).__name__})", "run `bwrap --version`")
    if trial.returncode == 0:
        return None
    for name, refused in (
        ("kernel.unprivileged_userns_clone", "0"),
        ("user.max_user_namespaces", "0"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
    ):
        if _sysctl(name) == refused:
            wanted = "0" if refused == "1" else "1" if name.endswith("clone") else "15000"
            return Availability(
                False, f"user namespaces are disabled ({name} = {refused})", f"sysctl -w {name}={wanted}"
            )
    message = trial.stderr.strip().splitlines()[-1:] or ["no message"]
    fix = "allow user namespaces; in a container that takes a seccomp profile which permits unshare and mount"
    return Availability(False, f"bubblewrap cannot make namespaces here ({message[0][:160]})", fix)


def _sysctl(name: str) -> str | None:
    try:
        return (Path("/proc/sys") / name.replace(".", "/")).read_text("ascii").strip()
    except OSError:
        return None
