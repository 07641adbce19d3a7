"""Runs inside the sandbox: tries one attack and prints what came of it as JSON."""

# ruff: noqa: SIM115, T201, PERF401, FURB171

import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import struct
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20


def attempt(action):
    try:
        return ["ok", action()]
    except OSError as error:
        return ["refused", errno.errorcode.get(error.errno, str(error.errno))]
    except MemoryError:
        return ["refused", "MemoryError"]


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    return "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()]


def host_files(*paths):
    return {
        path: attempt(lambda p=path: os.listdir(p) if os.path.isdir(p) else open(p, "rb").read(64).hex())
        for path in paths
    }


def environments():
    found = {}
    for name in sorted(os.listdir("/proc")):
        if name.isdigit():
            found[name] = [
                attempt(lambda n=name, f=f: open(f"/proc/{n}/{f}", "rb").read().decode())
                for f in ("environ", "cmdline")
            ]
    return {"processes": found, "own": dict(os.environ)}


def dial(*places):
    def one(place):
        host, _, port = place.rpartition(":")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(3)
            sock.connect((host, int(port)))
        return place

    return {place: attempt(lambda p=place: one(p)) for place in places}


def unix(abstract, path):
    def one(name):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(name)

    return {"abstract": attempt(lambda: one("\0" + abstract)), "file": attempt(lambda: one(path))}


def families():
    numbers = {"PACKET": 17, "ALG": 38, "VSOCK": 40, "BLUETOOTH": 31, "XDP": 44, "INET": 2, "UNIX": 1}

    def one(number):
        kind = socket.SOCK_STREAM if number in {1, 2, 40, 31} else socket.SOCK_RAW if number != 38 else 5
        socket.socket(number, kind, 0).close()

    return {name: attempt(lambda n=number: one(n)) for name, number in numbers.items()}


def routes():
    """What a socket of NETLINK_ROUTE tells, what it may change, and what else there is of netlink."""

    def ask(kind, flags, body, to=0):
        held = socket.socket(16, socket.SOCK_RAW, 0)
        sent = struct.pack("<IHHII", 16 + len(body), kind, flags, 1, 0) + body
        held.sendto(sent, (to, 0))
        answer, at = held.recv(65536), 0
        error = struct.unpack_from("<i", answer, 16)[0] if struct.unpack_from("<H", answer, 4)[0] == 2 else 0
        if error:
            raise OSError(-error, "")
        found = []
        while at < len(answer):
            length, answered = struct.unpack_from("<IH", answer, at)
            if answered == 16:
                name = answer.index(b"\x03\0", at + 32)  # IFLA_IFNAME
                found.append(answer[name + 2 : at + length].partition(b"\0")[0].decode())
            at += (length + 3) & ~3
        return found

    link = struct.pack("<BxHiII", 0, 0, 1, 1, 1)
    named = link + struct.pack("<HH", 8, 3) + b"own\0"
    numbers = range(1, 32)
    return {
        "interfaces": ask(18, 0x301, link[:1] + bytes(15)),
        "with_addresses": [name for _, name in socket.if_nameindex()],
        "set": attempt(lambda: ask(19, 5, link)),
        "new": attempt(lambda: ask(16, 0x605, named)),
        "address": attempt(lambda: ask(20, 0x605, struct.pack("<BBBBI", 2, 8, 0, 0, 1))),
        "route": attempt(lambda: ask(24, 0x605, struct.pack("<BBBBBBBBI", 2, 0, 0, 0, 254, 4, 0, 1, 0))),
        "to_another": attempt(lambda: ask(18, 0x301, link, to=77)),
        "membership": attempt(lambda: socket.socket(16, socket.SOCK_RAW, 0).setsockopt(270, 1, 1)),
        "protocols": sorted({attempt(lambda n=n: socket.socket(16, socket.SOCK_RAW, n))[1] for n in numbers}),
    }


def calls():
    x86 = {  # by number, since the C library refuses some of these by itself
        "unshare": (272, 0x10000000), "clone_newuser": (56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
        "clone3": (435, 0, 0),
        "setns": (308, 0, 0), "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0), "ptrace": (101, 16, 1, 0, 0),
        "bpf": (321, 0, 0, 0), "keyctl": (250, 0, 0), "io_uring": (425, 1, 0), "userfaultfd": (323, 0),
        "memfd_create": (319, b"x", 0), "chroot": (161, b"/tmp"), "shmget": (29, 0, 4096, 0o1600), "unknown": (600,),
        "x32": (0x40000000 + 39,), "personality": (135, 0x0040000), "mq_open": (240, b"x", 0o102, 0o600, 0),
    }  # fmt: skip
    return {name: call(*arguments) for name, arguments in x86.items()}


def forks(limit):
    count = 0
    try:
        while count < int(limit):
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            count += 1
    except OSError as error:
        return {"forks": count, "error": errno.errorcode[error.errno]}
    return {"forks": count, "error": None}


def disk(*folders):
    def one(folder):
        written, block = 0, b"x" * MIB
        with open(f"{folder}/fill", "wb", buffering=0) as file:
            while written < 256 * MIB:
                written += file.write(block)
                Progress.at = written
        return written

    found = {}
    for folder in folders:
        Progress.at = 0
        found[folder] = [*attempt(lambda f=folder: one(f)), Progress.at]
    return found


class Progress:
    at = 0


def inodes(folder, most):
    count = 0
    try:
        while count < int(most):
            os.close(os.open(f"{folder}/{count}", os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError as error:
        return {"files": count, "error": errno.errorcode[error.errno]}
    return {"files": count, "error": None}


def shared_memory():
    def anonymous():
        mmap.mmap(-1, 64 * MIB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS).close()

    def zero():
        with open("/dev/zero", "r+b") as file:
            mmap.mmap(file.fileno(), 64 * MIB, mmap.MAP_SHARED).close()

    return {"anonymous": attempt(anonymous), "zero": attempt(zero)}


def memory(amount):
    held = []
    try:
        for _ in range(int(amount)):
            held.append(bytearray(b"x") * MIB)
    except MemoryError:
        return {"mib": len(held), "error": "MemoryError"}
    return {"mib": len(held), "error": None}


def hoard(processes, amount):
    for _ in range(int(processes)):
        if os.fork() == 0:
            held = [bytearray(b"x") * MIB for _ in range(int(amount))]
            time.sleep(60)
            os._exit(len(held) * 0)
    print("started", flush=True)
    time.sleep(60)


def daemons(count):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(int(count)):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in range(3):
                    os.close(number)
                time.sleep(300)
            os._exit(0)
    return {"pid": os.getpid(), "daemons": int(count)}


def flood(stream, amount):
    file = sys.stdout.buffer if stream == "stdout" else sys.stderr.buffer
    for _ in range(int(amount)):
        file.write(b"y" * (MIB - 1) + b"\n")
    file.flush()


def sleep(seconds):
    print("asleep", flush=True)
    time.sleep(float(seconds))


def sessions(most):
    """How many sessions can be started."""
    started = 0
    for _ in range(int(most)):
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
            except OSError:
                os._exit(1)
            os._exit(0)
        started += os.waitpid(pid, 0)[1] == 0
    return {"sessions": started}


def crowd(most):
    """The priority of one of many processes, once it has changed."""
    ready, before = os.pipe(), os.getpriority(os.PRIO_PROCESS, 0)
    for _ in range(int(most)):
        if os.fork() == 0:
            os.close(ready[1])
            os.read(ready[0], 1)
            os._exit(0)
    ends = time.monotonic() + 30
    while (now := os.getpriority(os.PRIO_PROCESS, 0)) == before and time.monotonic() < ends:
        time.sleep(0.05)
    return {"before": before, "after": now, "policy": os.sched_getscheduler(0)}


def spin():
    while True:
        pass


def curious():
    """Everything that the sandbox observes, once."""
    home = os.path.expanduser("~")

    def reach(family, address, kind=socket.SOCK_STREAM):
        with socket.socket(family, kind) as sock:
            return sock.sendto(b"x", address) if kind == socket.SOCK_DGRAM else sock.connect(address)

    return {
        "address": attempt(lambda: reach(socket.AF_INET, ("192.0.2.7", 443))),
        "mapped": attempt(lambda: reach(socket.AF_INET6, ("::ffff:192.0.2.8", 80))),
        "datagram": attempt(lambda: reach(socket.AF_INET, ("192.0.2.9", 514), socket.SOCK_DGRAM)),
        "message": attempt(lambda: socket.socket(2, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("192.0.2.10", 515))),
        "own port": attempt(lambda: reach(socket.AF_INET, ("127.0.0.1", 40000 + os.getpid()))),
        "socket": attempt(lambda: reach(socket.AF_UNIX, "/var/run/docker.sock")),
        "name": attempt(lambda: socket.getaddrinfo("exfil.example.com", 443)),
        "program": attempt(lambda: os.execve("/usr/bin/curl", ["curl", "http://x"], {})),
        "own program": attempt(lambda: os.posix_spawn(f"{home}/dropped", ["dropped"], {})),
        "write": attempt(lambda: open("/etc/cron.d/job", "w")),
        "relative": attempt(lambda: open("../etc/passwd", "r+")),
        "own": attempt(lambda: open("/tmp/mine", "w").close()),
        "key": attempt(lambda: open(f"{home}/.ssh/id_rsa").close()),
        "listing": attempt(lambda: os.listdir(f"{home}/.aws")),
        "start-up": attempt(lambda: open(f"{home}/.bashrc", "a").write("x")),
        "own setting": attempt(lambda: open(f"{home}/.config/mine.json", "w").close()),
    }


def knocking(times):
    for number in range(int(times)):
        attempt(lambda n=number: os.close(os.open(f"/nowhere/{n % 100}x", os.O_CREAT | os.O_WRONLY)))
    return {"times": int(times)}


def interfaces():
    found = {name: open(f"/sys/class/net/{name}/address").read() for name in ()}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        udp = attempt(lambda: sock.sendto(b"x", ("192.0.2.1", 53)))
    with open("/proc/net/dev") as file:
        names = [line.split(":")[0].strip() for line in file.readlines()[2:]]
    return {"interfaces": names, "udp": udp, **found}


def who():
    status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
    wanted = ("Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Groups")
    executables = []
    for folder, _, files in os.walk("/usr"):
        executables += [f"{folder}/{f}" for f in files if f in {"sh", "bash", "dash", "busybox", "env"}]
    setuid = []
    for folder, _, files in os.walk("/", onerror=lambda _: None):
        if folder.startswith("/proc"):
            continue
        setuid += [f for f in files if os.lstat(f"{folder}/{f}").st_mode & 0o6000]
    return {
        "status": {k: status[k].strip() for k in wanted},
        "shells": executables,
        "setuid": setuid,
        "machine": struct.calcsize("P"),
    }


if __name__ == "__main__":
    found = globals()[sys.argv[1]](*sys.argv[2:])
    if found is not None:
        print(json.dumps(found), flush=True)
    if sys.argv[1] in {"daemons"}:
        time.sleep(60)
