"""Finds out where it runs: the host's name, users, serial numbers and cloud instance."""

import os
import platform

from attack_stage import AIMS, attempts, must, read

AT = "start"
NUMBERS = (
    "/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid", "/sys/class/net/eth0/address",
    "/etc/hostname", "/proc/device-tree/serial-number", "/sys/hypervisor/uuid", "/run/cloud-init/instance-data.json",
)  # fmt: skip


def texts():
    for path in ("/etc/passwd", "/etc/hosts", "/etc/group", "/proc/net/arp", "/proc/net/route", "/proc/net/fib_trie"):
        try:
            yield read(path, 65536).decode()
        except OSError:
            continue


def number_or_nothing(path):
    found = read(path)
    if not found.strip():
        raise OSError(2, "empty")
    return found


def attack():
    everything = "\n".join(texts())
    return {
        **attempts(number_or_nothing, *NUMBERS),
        "host name": must(platform.node() == AIMS["host_name"], platform.node()),
        "host address": must(AIMS["address"] in everything and AIMS["address"] != "127.0.0.1", AIMS["address"]),
        "users": must(len([line for line in read("/etc/passwd", 65536).splitlines() if line]) > 1, "more than one"),
        "own user is root": must(os.getuid() == 0, "root"),
        "host user": must(f":{AIMS['user']}:" in everything and AIMS["user"] not in {0, 1000}, AIMS["user"]),
    }
