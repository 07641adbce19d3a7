"""A real Docker engine of the tests' own: its state in one folder, no network, and nothing left when it is stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from crawler.sandbox.availability import PATHS
from crawler.sandbox.engines.engine import Engine, EngineFlavour

DAEMON_PATHS = f"{PATHS}:/usr/sbin:/sbin"
STARTING = 60.0  # seconds
ALONE = ("--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false")


class NoDaemonError(Exception):
    """Why there is no Docker engine to be started here."""


@contextlib.contextmanager
def daemon(group: int = 0) -> Iterator[Engine]:
    """A started engine, whose socket belongs to `group`; raises NoDaemonError with the reason where none starts."""
    missing = [
        name for name in ("docker", "dockerd", "containerd", "runc") if not shutil.which(name, path=DAEMON_PATHS)
    ]
    if missing:
        raise NoDaemonError(f"{', '.join(missing)} not installed (apt-get install docker.io)")
    if os.geteuid() != 0:
        raise NoDaemonError("only root may start dockerd")
    # A short path, since it is a socket's: at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="hallmark-dockerd-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        folder.chmod(0o711)
        log = folder / "log"
        with log.open("wb") as log_file:
            process = subprocess.Popen(
                _command(folder, group), stdout=log_file, stderr=log_file, start_new_session=True
            )
        try:
            engine = Engine(EngineFlavour.DOCKER, _program("docker"), _environment(folder))
            _answers(engine, process, log)
            yield engine
        finally:
            _stop(process, folder)


def asked(engine: Engine, *words: str) -> str:
    """What the client says to one command that has to succeed."""
    return subprocess.run(
        [engine.binary, *words], env=engine.client_environment, capture_output=True, text=True, check=True
    ).stdout


def _command(folder: Path, group: int) -> list[str]:
    (folder / "daemon.json").write_text("{}")  # independent of the configuration of the machine's own engine
    places = [f"--{name}={folder / place}" for name, place in (("data-root", "data"), ("exec-root", "run"))]
    places += [f"--pidfile={folder}/pid", f"--config-file={folder}/daemon.json", f"--host=unix://{folder}/socket"]
    groups = [f"--group={group}", f"--cgroup-parent=/{folder.name}", "--exec-opt=native.cgroupdriver=cgroupfs"]
    return [str(_program("dockerd")), *ALONE, *places, *groups]


def _environment(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder / "home"), "DOCKER_HOST": f"unix://{folder}/socket"}


def _program(name: str) -> Path:
    return Path(shutil.which(name, path=DAEMON_PATHS) or name)


def _answers(engine: Engine, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return once the engine answers; raises NoDaemonError with its last words when it cannot be started."""
    until = time.monotonic() + STARTING
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(subprocess.CalledProcessError):
            asked(engine, "version", "--format", "{{.Server.Version}}")
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    words = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    raise NoDaemonError(f"dockerd does not start here: {' '.join(words)[:300]}")


def _stop(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    for place in reversed([line.split()[4] for line in lines if line.split()[4].startswith(f"{folder}/")]):
        subprocess.run(["umount", "--lazy", place], check=False)
    for parent in Path("/sys/fs/cgroup").glob(f"**/{folder.name}"):
        with contextlib.suppress(OSError):
            parent.rmdir()
