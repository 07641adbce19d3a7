"""A container engine's command line for tests, written from the documents of Docker and Podman: it contains nothing.

Installed as `podman` or `docker` by `tests.crawler.sandbox.engines`. Its state is below HOME. A container is a process
of the host in a session of its own which, as with the real ones, goes on when its client is killed. Options that the
real client does not have are refused, and so is what the real one refuses. It is started hundreds of times, and imports
take most of its time: what it keeps are Python literals, and what is seldom needed is imported where it is needed.
"""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False  # without an import of typing
if TYPE_CHECKING:
    from typing import Any

FLAVOUR = os.path.basename(sys.argv[0])
HOME = os.environ["HOME"]
SUFFIX = ".state"
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
    with open(f"{HOME}/log{SUFFIX}", "a") as log:
        log.write(repr({"words": words, "environment": dict(os.environ)}) + "\n")
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
            say("\n".join(sorted(list_containers())))
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
            say(HOME)
            return 0
        case ["info", "--format", "json"] if FLAVOUR == "podman":
            host = {
                "security": {"rootless": True},
                "ociRuntime": {"name": "crun"},
                "cgroupControllers": ["memory", "pids"],
            }
            details = {"host": host}
            say(as_json(details | {"version": {"Version": "4.3.1"}}))
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
    elif not os.path.isdir(image[0]):
        return refuse("no such root file system")
    for setting in options["--security-opt"]:
        if setting.startswith("seccomp="):
            check_json(setting.removeprefix("seccomp="))
    if FLAVOUR == "podman" and any("nr_inodes" in place for place in options["--tmpfs"]):
        return refuse("unknown mount option")
    if rest[:2] == ["/dev/init", "--"]:  # a file that an option put there
        rest = rest[2:]
    identifier = name.encode()[-32:].hex().rjust(64, "0")
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
    pid = os.posix_spawnp(command[0], command, os.environ, setsid=True)
    keep(name, box | {"Pid": pid, "StartedAt": "2026-11-22T12:00:00Z"})
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if behaviour("starves"):
        open("oom", "a").close()  # as conmon 2.1.6 does where it was started
    return code if code >= 0 else 128 - code


def inspect(name: str) -> int:
    box = load(name)
    say(f'[{{"Id": "{box["Id"]}", "State": {{"Pid": {box["Pid"]}, "StartedAt": "{box["StartedAt"]}"}}}}]')
    return 0


def remove(words: list[str]) -> int:
    if FLAVOUR == "podman" and words[:3] != ["--ignore", "--time", "0"]:
        return refuse("it would wait ten seconds for the container")
    name = words[-1]
    if name in list_containers() and not behaviour("keeps"):
        pid = load(name)["Pid"]
        os.unlink(f"{HOME}/{name}{SUFFIX}")
        if pid:
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:  # it has ended
                return 0
    return 0


def tell(reference: str, what: str) -> int:
    value = images().get(reference, {}).get(what)
    if value is None:
        return refuse(images().get(reference, {}).get("refusal", "manifest unknown"))
    say(as_json(value))
    return 0


def images() -> dict[str, Any]:
    return read("images")


def image(name: str) -> dict[str, Any]:
    """What is here by a name or an identifier."""
    here = {key: entry for key, entry in images().items() if entry.get("pulled") and not behaviour("down")}
    return here.get(name) or next((entry for entry in here.values() if entry["image"]["Id"] == name), {})


def show(name: str) -> int:
    found = image(name)
    if not found:
        return refuse("no such image")
    same = [key for key, entry in images().items() if entry.get("pulled") and entry["image"] == found["image"]]
    say(as_json([{"RepoTags": [key for key in same if "@" not in key and "<none>" not in key], **found["image"]}]))
    return 0


def untag(name: str) -> int:
    """Take a name off an image, or remove one by its identifier that has no more than one."""
    known, found = images(), image(name)
    if not found:
        return refuse("no such image")
    names = [key for key, entry in known.items() if entry.get("pulled") and entry["image"] == found["image"]]
    used = any(load(each)["image"] == found["image"]["Id"] for each in list_containers())
    if used or (name not in known and len(names) > 1):
        return refuse("image is in use by a container" if used else "unable to delete: it has more than one tag")
    known[name if name in known else names[0]]["pulled"] = False
    keep("images", known)
    return 0


def pull(reference: str) -> int:
    found = images()
    if behaviour("floods"):
        flood()
    found[reference]["pulled"] = True
    keep("images", found)
    return 0


def flood() -> None:
    with open(f"{HOME}/flood", "wb", 0) as file:
        for _ in range(256):
            file.write(bytes(1 << 20))
            os.fsync(file)
            time.sleep(0.01)


def take(name: str) -> int:
    import tarfile

    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        files = [entry.name for entry in archive if (entry.uid, entry.gid) == (0, 0)]
    made = {name: {"pulled": True, "image": {"Id": "1" * 64, "Size": 7, "files": len(files)}}}
    keep("images", made)
    return 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def behaviour(name: str) -> str:
    return str(read("behaviour").get(name, ""))


def refuse(message: str) -> int:
    sys.stderr.write(f"Error: {message}\n")
    return 125


def list_containers() -> list[str]:
    names = (name.removesuffix(SUFFIX) for name in os.listdir(HOME) if name.endswith(SUFFIX))
    return [name for name in names if name.startswith("hallmark-")]


def load(name: str) -> dict[str, Any]:
    return read(name) or sys.exit(refuse(f"no such container {name}"))


def read(name: str) -> dict[str, Any]:
    """What is kept by a name; empty when it is not there."""
    try:
        with open(f"{HOME}/{name}{SUFFIX}") as file:
            found: dict[str, Any] = eval(file.read())
            return found
    except FileNotFoundError:
        return {}


def keep(name: str, value: dict[str, Any]) -> None:
    new = f"{HOME}/{name}.{os.getpid()}"
    with open(new, "w") as file:
        file.write(repr(value))
    os.replace(new, f"{HOME}/{name}{SUFFIX}")


def as_json(value: object) -> str:
    import json

    return json.dumps(value)


def check_json(path: str) -> None:
    import json

    with open(path) as file:
        json.load(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
