"""Starts programs of the host: shells, package managers, downloaders, compilers, tools that raise rights."""

import os
import subprocess

from attack_stage import attempts

AT = "list"
NAMES = (
    "sh", "bash", "dash", "busybox", "env", "su", "sudo", "mount", "umount", "bwrap", "unshare", "nsenter", "chroot",
    "ip", "curl", "wget", "nc", "ssh", "git", "docker", "podman", "systemctl", "crontab", "at", "apt-get", "pip",
    "npm", "npx", "uv", "bun", "gcc", "perl", "cat", "kill", "ps", "reboot",
)  # fmt: skip


def start(name):
    return subprocess.run([name, "--version"], capture_output=True, timeout=5, check=False).returncode


def through_the_shell(command):
    if os.system(command) != 0:
        raise OSError(2, command)
    return command


def attack():
    paths = [f"{folder}/{name}" for name in ("sh", "bash", "su") for folder in ("/bin", "/usr/bin", "/usr/local/bin")]
    return {**attempts(start, *NAMES, *paths), **attempts(through_the_shell, "true", "/bin/true", "id")}
