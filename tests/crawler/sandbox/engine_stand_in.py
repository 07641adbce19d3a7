"""A container engine's command line for tests, written from the documents of Docker and Podman: it contains nothing.

Installed as `podman` or `docker` by `tests.crawler.sandbox.engines`. Its state is below HOME. A container is a process
of the host in a session of its own which, as with the real ones, goes on when its client is killed. Options that the
real client does not have are refused, and so is what the real one refuses. It is started hundreds of times, and imports
what is seldom needed where it is needed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

TYPE_CHECKING = False  # without an import of typing
if TYPE_CHECKING:
    from typing import Any

FLAVOUR = Path(sys.argv[0]).name
HOME = Path(os.environ["HOME"])
NOTHING = "0001-01-01T00:00:00Z"
VALUED = {
    "--name", "--label", "--hostname", "--network", "--cap-drop", "--security-opt", "--ipc", "--cgroupns",
    "--log-driver", "--pull", "--restart", "--pids-limit", "--memory", "--memory-swap", "--cpus", "--shm-size",
    "--ulimit", "--tmpfs", "--mount", "--env", "--workdir", "--user",
}  # fmt: skip
PLAIN = {"--interactive", "--read-only", "--no-healthcheck", "--init"}
PODMAN_VALUED = {"--timeout", "--image-volume", "--systemd", "--rootfs", "--init-path"}
PODMAN_PLAIN = {"--no-hosts", "--http-proxy=false", "--read-only-tmpfs=false"}


def main(words: list[str]) -> int:
    with (HOME / "log.jsonl").open("a") as log:
        log.write(json.dumps({"words": words, "environment": dict(os.environ)}) + "\n")
    match words:
        case ["create", *rest]:
            return create(rest)
        case ["start", "--attach", "--interactive", name]:
            return start(name)
        case ["container", "inspect", name]:
            return inspect(name)
        case ["rm", "--force", "--volumes", *rest]:
            return remove(rest)
        case ["ps", "--all", *_] if behaviour("down"):
            return refuse("cannot connect to the daemon")
        case ["ps", "--all", "--filter", "name=hallmark-", "--format", "{{.Names}}"]:
            say("\n".join(sorted(path.stem for path in HOME.glob("hallmark-*.json"))))
            return 0
        case ["manifest", "inspect", "--insecure", reference] if FLAVOUR == "docker":
            return tell(reference, "manifest")
        case ["manifest", "inspect", reference]:
            return tell(reference, "manifest")
        case ["image", "inspect", "--format", "{{.Id}} {{.Size}}", name]:
            if found := image(name):
                say(f"{found['image']['Id']} {found['image']['Size']}")
            return 0 if found else refuse("no such image")
        case ["image", "inspect", name]:
            return show(name)
        case ["image", "rm", name]:
            return untag(name)
        case ["pull", "--quiet", reference]:
            return pull(reference)
        case ["import", "-", name]:
            return take(name)
        case ["--version"]:
            say("Docker version 28.2.2, build 0" if FLAVOUR == "docker" else "podman version 4.3.1")
            return 0
        case ["version", "--format", "{{.Server.Version}}"] if FLAVOUR == "docker":
            say("28.2.2")
            return 0
        case ["info", "--format", "{{.DockerRootDir}}"] if FLAVOUR == "docker":
            say(str(HOME))
            return 0
        case ["info", "--format", "json"] if FLAVOUR == "podman":
            host = {
                "security": {"rootless": True},
                "ociRuntime": {"name": "crun"},
                "cgroupControllers": ["memory", "pids"],
            }
            details = {"host": host}
            say(json.dumps(details | {"version": {"Version": "4.3.1"}}))
            return 0
    return refuse(f"unknown command {words}")


def create(words: list[str]) -> int:
    if said := behaviour("create"):
        return refuse(said)
    options, rest = parse(words)
    name = options["--name"][0]
    image = options.pop("--rootfs", None)
    if image is None:
        image, rest = [rest[0]], rest[1:]
    elif not Path(image[0]).is_dir():
        return refuse("no such root file system")
    for setting in options["--security-opt"]:
        if setting.startswith("seccomp="):
            json.loads(Path(setting.removeprefix("seccomp=")).read_text())
    if FLAVOUR == "podman" and any("nr_inodes" in place for place in options["--tmpfs"]):
        return refuse("unknown mount option")
    if rest[:2] == ["/dev/init", "--"]:  # a file that an option put there
        rest = rest[2:]
    import hashlib

    identifier = hashlib.sha256(name.encode()).hexdigest()
    made = {"Id": identifier, "image": image[0], "command": rest, "options": options, "Pid": 0, "StartedAt": NOTHING}
    keep(name, made)
    say(identifier)
    return 0


def parse(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    valued = VALUED | (PODMAN_VALUED if FLAVOUR == "podman" else set())
    plain = PLAIN | (PODMAN_PLAIN if FLAVOUR == "podman" else set())
    options: dict[str, list[str]] = {}
    while words and words[0].startswith("--"):
        option, words = words[0], words[1:]
        if option in plain:
            options[option] = []
        elif option in valued:
            options.setdefault(option, []).append(words[0])
            words = words[1:]
        else:
            sys.exit(refuse(f"unknown flag: {option}"))
    return options, words


def start(name: str) -> int:
    if said := behaviour("start"):
        return refuse(said)
    box = load(name)
    time.sleep(float(behaviour("delay") or 0))
    command = [sys.executable if word == "/usr/bin/python3" else word for word in box["command"]]
    import subprocess

    process = subprocess.Popen(command, start_new_session=True)
    keep(name, box | {"Pid": process.pid, "StartedAt": "2026-11-22T12:00:00Z"})
    code = process.wait()
    if behaviour("starves"):
        Path("oom").touch()  # as conmon 2.1.6 does where it was started
    return code if code >= 0 else 128 - code


def inspect(name: str) -> int:
    box = load(name)
    say(json.dumps([{"Id": box["Id"], "State": {"Pid": box["Pid"], "StartedAt": box["StartedAt"]}}]))
    return 0


def remove(words: list[str]) -> int:
    if FLAVOUR == "podman" and words[:3] != ["--ignore", "--time", "0"]:
        return refuse("it would wait ten seconds for the container")
    name = words[-1]
    if (HOME / f"{name}.json").exists() and not behaviour("keeps"):
        pid = load(name)["Pid"]
        (HOME / f"{name}.json").unlink()
        if pid:
            import contextlib

            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
    return 0


def tell(reference: str, what: str) -> int:
    value = images().get(reference, {}).get(what)
    if value is None:
        return refuse(images().get(reference, {}).get("refusal", "manifest unknown"))
    say(json.dumps(value))
    return 0


def images() -> dict[str, Any]:
    place = HOME / "images.json"
    found: dict[str, Any] = json.loads(place.read_text()) if place.exists() else {}
    return found


def image(name: str) -> dict[str, Any]:
    """What is here by a name or an identifier."""
    here = {key: entry for key, entry in images().items() if entry.get("pulled") and not behaviour("down")}
    return here.get(name) or next((entry for entry in here.values() if entry["image"]["Id"] == name), {})


def show(name: str) -> int:
    found = image(name)
    if not found:
        return refuse("no such image")
    same = [key for key, entry in images().items() if entry.get("pulled") and entry["image"] == found["image"]]
    say(json.dumps([{"RepoTags": [key for key in same if "@" not in key and "<none>" not in key], **found["image"]}]))
    return 0


def untag(name: str) -> int:
    """Take a name off an image, or remove one by its identifier that has no more than one."""
    known, found = images(), image(name)
    if not found:
        return refuse("no such image")
    names = [key for key, entry in known.items() if entry.get("pulled") and entry["image"] == found["image"]]
    used = any(load(path.stem)["image"] == found["image"]["Id"] for path in HOME.glob("hallmark-*.json"))
    if used or (name not in known and len(names) > 1):
        return refuse("image is in use by a container" if used else "unable to delete: it has more than one tag")
    known[name if name in known else names[0]]["pulled"] = False
    (HOME / "images.json").write_text(json.dumps(known))
    return 0


def pull(reference: str) -> int:
    found = images()
    if behaviour("floods"):
        flood()
    found[reference]["pulled"] = True
    (HOME / "images.json").write_text(json.dumps(found))
    return 0


def flood() -> None:
    with (HOME / "flood").open("wb", 0) as file:
        for _ in range(256):
            file.write(bytes(1 << 20))
            os.fsync(file)
            time.sleep(0.01)


def take(name: str) -> int:
    import tarfile

    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        files = [entry.name for entry in archive if (entry.uid, entry.gid) == (0, 0)]
    made = {name: {"pulled": True, "image": {"Id": "1" * 64, "Size": 7, "files": len(files)}}}
    (HOME / "images.json").write_text(json.dumps(made))
    return 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def behaviour(name: str) -> str:
    place = HOME / "behaviour.json"
    return str(json.loads(place.read_text()).get(name, "")) if place.exists() else ""


def refuse(message: str) -> int:
    sys.stderr.write(f"Error: {message}\n")
    return 125


def load(name: str) -> dict[str, Any]:
    place = HOME / f"{name}.json"
    if not place.exists():
        sys.exit(refuse(f"no such container {name}"))
    found: dict[str, Any] = json.loads(place.read_text())
    return found


def keep(name: str, box: dict[str, Any]) -> None:
    new = HOME / f"{name}.{os.getpid()}"
    new.write_text(json.dumps(box))
    new.replace(HOME / f"{name}.json")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
