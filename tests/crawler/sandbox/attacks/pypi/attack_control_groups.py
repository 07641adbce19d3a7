"""Leaves its control group or makes one whose release agent the host would run as root."""

from attack_stage import attempt, attempts, call, must, shows, write

AT = "call"
PLACES = ("/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified")


def attack():
    with open("/proc/self/cgroup") as file:
        groups = {line.rstrip("\n").split(":", 2)[2] for line in file}
    return {
        **attempts(shows, *PLACES),
        **attempts(write, *(f"{place}/release_agent" for place in PLACES), *(f"{p}/cgroup.procs" for p in PLACES)),
        **{
            f"mount {kind}": attempt(call, "mount", b"x", b"/tmp", kind.encode(), 0, b"rdma")
            for kind in ("cgroup", "cgroup2")
        },
        "another control group namespace": attempt(call, "unshare", 0x2000000),
        "names of groups of the host": must(any("hallmark" in group or ".." in group for group in groups), groups),
    }
