"""Talks to sockets of the host: abstract ones, those in the file system, and descriptors handed over them."""

import array
import os
import socket

from attack_stage import AIMS, attempt, attempts

AT = "list"
PLACES = (
    "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/journal/socket", "/tmp/.X11-unix/X0",
    "/tmp/ssh-agent.sock",
)  # fmt: skip


def dial(name):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(name)
    return "connected"


def hand_over(name):
    rights = array.array("i", [0])
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        return sock.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], 0, name)


def pretend():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"x", "\0" + AIMS["abstract"])


def attack():
    return {
        **attempts(dial, AIMS["socket"], *PLACES),
        "abstract": attempt(dial, "\0" + AIMS["abstract"]),
        "abstract datagram": attempt(pretend),
        "abstract of the desktop": attempt(dial, "\0/tmp/.X11-unix/X0"),
        "a descriptor of ours": attempt(hand_over, AIMS["socket"]),
        "a descriptor of ours, abstract": attempt(hand_over, "\0" + AIMS["abstract"]),
        "host listeners in /proc/net/unix": "got through: seen"
        if os.path.exists("/proc/net/unix") and AIMS["abstract"] in open("/proc/net/unix").read()
        else "refused: without effect",
    }
