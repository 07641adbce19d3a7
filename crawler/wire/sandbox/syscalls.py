"""System call numbers that the seccomp filter names, for x86_64 and the generic table (aarch64)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# AUDIT_ARCH_* of linux/audit.h: machine | 64 bit | little endian.
AUDIT_ARCH: Mapping[str, int] = MappingProxyType({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})

# Numbers above this one did not exist when the table was reviewed (462 is mseal, Linux 6.10).
NEWEST_REVIEWED = 462


@dataclass(frozen=True, slots=True)
class Syscall:
    """A system call and its number on each machine; None where the machine does not have it."""

    name: str
    x86_64: int | None
    aarch64: int | None

    def number(self, machine: str) -> int | None:
        """Its number on `machine`."""
        return self.x86_64 if machine == "x86_64" else self.aarch64


# Calls that no server needs and that reach kernel code with a history of holes, other processes, or memory
# that the resource limits do not see.
DENIED: tuple[Syscall, ...] = (
    Syscall("acct", 163, 89),
    Syscall("add_key", 248, 217),
    Syscall("adjtimex", 159, 171),
    Syscall("afs_syscall", 183, None),
    Syscall("bpf", 321, 280),
    Syscall("chroot", 161, 51),
    Syscall("clock_adjtime", 305, 266),
    Syscall("clock_settime", 227, 112),
    Syscall("create_module", 174, None),
    Syscall("delete_module", 176, 106),
    Syscall("fanotify_init", 300, 262),
    Syscall("fanotify_mark", 301, 263),
    Syscall("finit_module", 313, 273),
    Syscall("fsconfig", 431, 431),
    Syscall("fsmount", 432, 432),
    Syscall("fsopen", 430, 430),
    Syscall("fspick", 433, 433),
    Syscall("get_kernel_syms", 177, None),
    Syscall("get_mempolicy", 239, 236),
    Syscall("init_module", 175, 105),
    Syscall("io_uring_enter", 426, 426),
    Syscall("io_uring_register", 427, 427),
    Syscall("io_uring_setup", 425, 425),
    Syscall("ioperm", 173, None),
    Syscall("iopl", 172, None),
    Syscall("kcmp", 312, 272),
    Syscall("kexec_file_load", 320, 294),
    Syscall("kexec_load", 246, 104),
    Syscall("keyctl", 250, 219),
    Syscall("listmount", 458, 458),
    Syscall("lookup_dcookie", 212, 18),
    Syscall("mbind", 237, 235),
    Syscall("memfd_create", 319, 279),
    Syscall("memfd_secret", 447, 447),
    Syscall("migrate_pages", 256, 238),
    Syscall("modify_ldt", 154, None),
    Syscall("mount", 165, 40),
    Syscall("mount_setattr", 442, 442),
    Syscall("move_mount", 429, 429),
    Syscall("move_pages", 279, 239),
    Syscall("mq_getsetattr", 245, 185),
    Syscall("mq_notify", 244, 184),
    Syscall("mq_open", 240, 180),
    Syscall("mq_timedreceive", 243, 183),
    Syscall("mq_timedsend", 242, 182),
    Syscall("mq_unlink", 241, 181),
    Syscall("msgctl", 71, 187),
    Syscall("msgget", 68, 186),
    Syscall("msgrcv", 70, 188),
    Syscall("msgsnd", 69, 189),
    Syscall("name_to_handle_at", 303, 264),
    Syscall("nfsservctl", 180, 42),
    Syscall("open_by_handle_at", 304, 265),
    Syscall("open_tree", 428, 428),
    Syscall("perf_event_open", 298, 241),
    Syscall("personality", 135, 92),
    Syscall("pidfd_getfd", 438, 438),
    Syscall("pivot_root", 155, 41),
    Syscall("process_madvise", 440, 440),
    Syscall("process_mrelease", 448, 448),
    Syscall("process_vm_readv", 310, 270),
    Syscall("process_vm_writev", 311, 271),
    Syscall("ptrace", 101, 117),
    Syscall("query_module", 178, None),
    Syscall("quotactl", 179, 60),
    Syscall("quotactl_fd", 443, 443),
    Syscall("reboot", 169, 142),
    Syscall("request_key", 249, 218),
    Syscall("security", 185, None),
    Syscall("semctl", 66, 191),
    Syscall("semget", 64, 190),
    Syscall("semop", 65, 193),
    Syscall("semtimedop", 220, 192),
    Syscall("set_mempolicy", 238, 237),
    Syscall("set_mempolicy_home_node", 450, 450),
    Syscall("setdomainname", 171, 162),
    Syscall("sethostname", 170, 161),
    Syscall("setns", 308, 268),
    Syscall("settimeofday", 164, 170),
    Syscall("shmat", 30, 196),
    Syscall("shmctl", 31, 195),
    Syscall("shmdt", 67, 197),
    Syscall("shmget", 29, 194),
    Syscall("statmount", 457, 457),
    Syscall("swapoff", 168, 225),
    Syscall("swapon", 167, 224),
    Syscall("sysfs", 139, None),
    Syscall("syslog", 103, 116),
    Syscall("tuxcall", 184, None),
    Syscall("umount2", 166, 39),
    Syscall("unshare", 272, 97),
    Syscall("uselib", 134, None),
    Syscall("userfaultfd", 323, 282),
    Syscall("ustat", 136, None),
    Syscall("vhangup", 153, 58),
    Syscall("vmsplice", 278, 75),
    Syscall("vserver", 236, None),
)

# Calls that are judged by an argument, or answered with an errno of their own.
CLONE = Syscall("clone", 56, 220)
CLONE3 = Syscall("clone3", 435, 435)
IOCTL = Syscall("ioctl", 16, 29)
MMAP = Syscall("mmap", 9, 222)
SOCKET = Syscall("socket", 41, 198)
SOCKETPAIR = Syscall("socketpair", 53, 199)
