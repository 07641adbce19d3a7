"""System calls that a contained server may make, with their numbers on x86_64 and in the generic table (aarch64)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

# AUDIT_ARCH_* of linux/audit.h: machine | 64 bit | little endian.
AUDIT_ARCH: Mapping[str, int] = MappingProxyType({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})

# Numbers above this one did not exist when the table was reviewed (462 is mseal, Linux 6.10).
NEWEST_REVIEWED = 462


class Syscall(Struct, frozen=True):
    """A system call and its number on each machine; None where the machine does not have it."""

    name: str
    x86_64: int | None
    aarch64: int | None

    def number(self, machine: str) -> int | None:
        return self.x86_64 if machine == "x86_64" else self.aarch64


# What Node, Python and native servers start and work with. Everything that is not here or judged below is refused.
# Not here on purpose: namespaces and mounts, other processes' memory, BPF, keys, io_uring, memory that no limit counts
# (System V and POSIX queues and segments, memfd, AIO), kernel timers without a descriptor, device nodes, extended
# attributes, NUMA, Landlock and seccomp (they are for programs that contain others), which pages are in memory.
ALLOWED: tuple[Syscall, ...] = (
    # Files, by descriptor or by name.
    Syscall("read", 0, 63),
    Syscall("write", 1, 64),
    Syscall("open", 2, None),
    Syscall("close", 3, 57),
    Syscall("stat", 4, None),
    Syscall("fstat", 5, 80),
    Syscall("lstat", 6, None),
    Syscall("lseek", 8, 62),
    Syscall("pread64", 17, 67),
    Syscall("pwrite64", 18, 68),
    Syscall("readv", 19, 65),
    Syscall("writev", 20, 66),
    Syscall("preadv", 295, 69),
    Syscall("pwritev", 296, 70),
    Syscall("pwritev2", 328, 287),
    Syscall("access", 21, None),
    Syscall("faccessat", 269, 48),
    Syscall("faccessat2", 439, 439),
    Syscall("openat", 257, 56),
    Syscall("creat", 85, None),
    Syscall("newfstatat", 262, 79),
    Syscall("statx", 332, 291),
    Syscall("statfs", 137, 43),
    Syscall("fstatfs", 138, 44),
    Syscall("getdents", 78, None),
    Syscall("getdents64", 217, 61),
    Syscall("getcwd", 79, 17),
    Syscall("chdir", 80, 49),
    Syscall("fchdir", 81, 50),
    Syscall("rename", 82, None),
    Syscall("renameat", 264, 38),
    Syscall("renameat2", 316, 276),
    Syscall("mkdir", 83, None),
    Syscall("mkdirat", 258, 34),
    Syscall("rmdir", 84, None),
    Syscall("link", 86, None),
    Syscall("linkat", 265, 37),
    Syscall("unlink", 87, None),
    Syscall("unlinkat", 263, 35),
    Syscall("symlink", 88, None),
    Syscall("symlinkat", 266, 36),
    Syscall("readlink", 89, None),
    Syscall("readlinkat", 267, 78),
    Syscall("chmod", 90, None),
    Syscall("fchmod", 91, 52),
    Syscall("fchmodat", 268, 53),
    Syscall("fchmodat2", 452, 452),
    Syscall("chown", 92, None),
    Syscall("fchown", 93, 55),
    Syscall("lchown", 94, None),
    Syscall("fchownat", 260, 54),
    Syscall("umask", 95, 166),
    Syscall("utime", 132, None),
    Syscall("utimes", 235, None),
    Syscall("futimesat", 261, None),
    Syscall("utimensat", 280, 88),
    Syscall("truncate", 76, 45),
    Syscall("ftruncate", 77, 46),
    Syscall("fallocate", 285, 47),
    Syscall("fsync", 74, 82),
    Syscall("fdatasync", 75, 83),
    Syscall("sync_file_range", 277, 84),
    Syscall("flock", 73, 32),
    Syscall("dup", 32, 23),
    Syscall("dup2", 33, None),
    Syscall("dup3", 292, 24),
    Syscall("close_range", 436, 436),
    Syscall("sendfile", 40, 71),
    Syscall("copy_file_range", 326, 285),
    Syscall("splice", 275, 76),
    Syscall("getxattr", 191, 8),
    Syscall("lgetxattr", 192, 9),
    Syscall("fgetxattr", 193, 10),
    Syscall("listxattr", 194, 11),
    Syscall("llistxattr", 195, 12),
    Syscall("flistxattr", 196, 13),
    # Waiting for descriptors, and the descriptors that only wait.
    Syscall("poll", 7, None),
    Syscall("ppoll", 271, 73),
    Syscall("select", 23, None),
    Syscall("pselect6", 270, 72),
    Syscall("epoll_create", 213, None),
    Syscall("epoll_create1", 291, 20),
    Syscall("epoll_ctl", 233, 21),
    Syscall("epoll_wait", 232, None),
    Syscall("epoll_pwait", 281, 22),
    Syscall("epoll_pwait2", 441, 441),
    Syscall("eventfd", 284, None),
    Syscall("eventfd2", 290, 19),
    Syscall("signalfd", 282, None),
    Syscall("signalfd4", 289, 74),
    Syscall("timerfd_create", 283, 85),
    Syscall("timerfd_settime", 286, 86),
    Syscall("timerfd_gettime", 287, 87),
    Syscall("inotify_init", 253, None),
    Syscall("inotify_init1", 294, 26),
    Syscall("inotify_add_watch", 254, 27),
    Syscall("inotify_rm_watch", 255, 28),
    Syscall("pipe", 22, None),
    Syscall("pipe2", 293, 59),
    # Memory of its own.
    Syscall("brk", 12, 214),
    Syscall("munmap", 11, 215),
    Syscall("mprotect", 10, 226),
    Syscall("mremap", 25, 216),
    Syscall("msync", 26, 227),
    Syscall("mlock", 149, 228),
    Syscall("mlock2", 325, 284),
    Syscall("munlock", 150, 229),
    Syscall("mlockall", 151, 230),
    Syscall("munlockall", 152, 231),
    Syscall("membarrier", 324, 283),
    Syscall("pkey_alloc", 330, 289),
    Syscall("pkey_free", 331, 290),
    Syscall("pkey_mprotect", 329, 288),
    # Processes, threads and signals of its own process namespace.
    Syscall("fork", 57, None),
    Syscall("vfork", 58, None),
    Syscall("execve", 59, 221),
    Syscall("execveat", 322, 281),
    Syscall("exit", 60, 93),
    Syscall("exit_group", 231, 94),
    Syscall("wait4", 61, 260),
    Syscall("waitid", 247, 95),
    Syscall("kill", 62, 129),
    Syscall("tkill", 200, 130),
    Syscall("tgkill", 234, 131),
    Syscall("pidfd_open", 434, 434),
    Syscall("pidfd_send_signal", 424, 424),
    Syscall("rt_sigaction", 13, 134),
    Syscall("rt_sigprocmask", 14, 135),
    Syscall("rt_sigreturn", 15, 139),
    Syscall("rt_sigsuspend", 130, 133),
    Syscall("rt_sigpending", 127, 136),
    Syscall("rt_sigtimedwait", 128, 137),
    Syscall("rt_sigqueueinfo", 129, 138),
    Syscall("rt_tgsigqueueinfo", 297, 240),
    Syscall("sigaltstack", 131, 132),
    Syscall("restart_syscall", 219, 128),
    Syscall("pause", 34, None),
    Syscall("alarm", 37, None),
    Syscall("futex", 202, 98),
    Syscall("set_tid_address", 218, 96),
    Syscall("set_robust_list", 273, 99),
    Syscall("get_robust_list", 274, 100),
    Syscall("rseq", 334, 293),
    Syscall("arch_prctl", 158, None),
    Syscall("sched_yield", 24, 124),
    Syscall("sched_getaffinity", 204, 123),
    Syscall("sched_setaffinity", 203, 122),
    Syscall("sched_getparam", 143, 121),
    Syscall("sched_getscheduler", 145, 120),
    Syscall("sched_getattr", 315, 275),
    Syscall("sched_get_priority_max", 146, 125),
    Syscall("sched_get_priority_min", 147, 126),
    Syscall("sched_rr_get_interval", 148, 127),
    Syscall("getpid", 39, 172),
    Syscall("gettid", 186, 178),
    Syscall("getppid", 110, 173),
    Syscall("getpgid", 121, 155),
    Syscall("getpgrp", 111, None),
    Syscall("setpgid", 109, 154),
    Syscall("getsid", 124, 156),
    Syscall("setsid", 112, 157),
    Syscall("getuid", 102, 174),
    Syscall("geteuid", 107, 175),
    Syscall("getgid", 104, 176),
    Syscall("getegid", 108, 177),
    Syscall("getresuid", 118, 148),
    Syscall("getresgid", 120, 150),
    Syscall("getgroups", 115, 158),
    Syscall("setuid", 105, 146),
    Syscall("setgid", 106, 144),
    Syscall("setreuid", 113, 145),
    Syscall("setregid", 114, 143),
    Syscall("setresuid", 117, 147),
    Syscall("setresgid", 119, 149),
    Syscall("setfsuid", 122, 151),
    Syscall("setfsgid", 123, 152),
    Syscall("setgroups", 116, 159),
    Syscall("capget", 125, 90),
    Syscall("capset", 126, 91),
    Syscall("getrlimit", 97, 163),
    Syscall("getrusage", 98, 165),
    Syscall("times", 100, 153),
    Syscall("getpriority", 140, 141),
    Syscall("setpriority", 141, 140),
    # Time, and what the machine is.
    Syscall("nanosleep", 35, 101),
    Syscall("clock_nanosleep", 230, 115),
    Syscall("clock_gettime", 228, 113),
    Syscall("clock_getres", 229, 114),
    Syscall("gettimeofday", 96, 169),
    Syscall("time", 201, None),
    Syscall("getitimer", 36, 102),
    Syscall("setitimer", 38, 103),
    Syscall("getrandom", 318, 278),
    Syscall("uname", 63, 160),
    Syscall("sysinfo", 99, 179),
    Syscall("getcpu", 309, 168),
    # Sockets of the families that `socket` lets be made.
    Syscall("connect", 42, 203),
    Syscall("bind", 49, 200),
    Syscall("listen", 50, 201),
    Syscall("accept", 43, 202),
    Syscall("accept4", 288, 242),
    Syscall("getsockname", 51, 204),
    Syscall("getpeername", 52, 205),
    Syscall("getsockopt", 55, 209),
    Syscall("sendto", 44, 206),
    Syscall("sendmsg", 46, 211),
    Syscall("sendmmsg", 307, 269),
    Syscall("recvfrom", 45, 207),
    Syscall("recvmsg", 47, 212),
    Syscall("recvmmsg", 299, 243),
    Syscall("shutdown", 48, 210),
)

# Calls that are judged by an argument.
CLONE = Syscall("clone", 56, 220)
FCNTL = Syscall("fcntl", 72, 25)
IOCTL = Syscall("ioctl", 16, 29)
MADVISE = Syscall("madvise", 28, 233)
MMAP = Syscall("mmap", 9, 222)
PRCTL = Syscall("prctl", 157, 167)
PREADV2 = Syscall("preadv2", 327, 286)
PRLIMIT = Syscall("prlimit64", 302, 261)
SETRLIMIT = Syscall("setrlimit", 160, 164)
SETSOCKOPT = Syscall("setsockopt", 54, 208)
SOCKET = Syscall("socket", 41, 198)
SOCKETPAIR = Syscall("socketpair", 53, 199)

# Calls whose arguments lie in memory, where no filter sees them: libraries take "not implemented" as "use the old one".
REPLACED: tuple[Syscall, ...] = (Syscall("clone3", 435, 435), Syscall("openat2", 437, 437))

# Calls that report success and do nothing: they would flush the disks of the host, or change which pages of files that
# all boxes read are in memory. No result depends on them.
WITHOUT_EFFECT: tuple[Syscall, ...] = (
    Syscall("fadvise64", 221, 223),
    Syscall("readahead", 187, 213),
    Syscall("sync", 162, 81),
    Syscall("syncfs", 306, 267),
)
