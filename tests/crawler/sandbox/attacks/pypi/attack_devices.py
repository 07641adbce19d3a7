"""Opens devices: disks, memory, terminals, virtual machines, the console, file systems in user space."""

import fcntl
import os

from attack_stage import attempt, attempts, must

AT = "list"
DEVICES = (
    "mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "loop0", "loop-control", "mapper/control", "fuse", "kvm",
    "net/tun", "vhost-net", "vsock", "ptmx", "pts/0", "tty", "tty0", "console", "zero", "full", "hpet", "rtc0",
    "snapshot", "dri/card0", "nvidia0", "input/event0", "uinput", "bus/usb/001/001", "mqueue", "hugepages",
    "userfaultfd", "cuse",
)  # fmt: skip
INJECT, LINUX_CONSOLE, CONTROLLING = 0x5412, 0x541C, 0x540E


def push(number, request):
    return fcntl.ioctl(number, request, b"x")


def attack():
    found = {name: attempt(os.open, f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK) for name in DEVICES}
    for number in range(3):
        for request in (INJECT, LINUX_CONSOLE, CONTROLLING):
            found[f"terminal {number} {request:x}"] = attempt(push, number, request)
    extra = set(os.listdir("/dev")) - {"null", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr"}
    return {**found, **attempts(os.mkdir, "/dev/new"), "others": must(extra, sorted(extra))}
