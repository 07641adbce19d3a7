"""Changes what is mounted: over, under, away, and by the newer calls that need no path."""

from attack_stage import attempt, call, calls

AT = "start"
REMOUNT_WRITABLE, BIND = 32, 4096


def attack():
    return {
        **calls(
            mount__memory=(b"none", b"/tmp", b"tmpfs", 0, 0),
            mount__proc=(b"proc", b"/tmp", b"proc", 0, 0),
            mount__sysfs=(b"sysfs", b"/tmp", b"sysfs", 0, 0),
            mount__cgroup=(b"cgroup", b"/tmp", b"cgroup", 0, 0),
            mount__devices=(b"devpts", b"/tmp", b"devpts", 0, 0),
            mount__overlay=(b"overlay", b"/tmp", b"overlay", 0, b"lowerdir=/,upperdir=/tmp,workdir=/tmp"),
            mount__writable=(b"none", b"/app", 0, REMOUNT_WRITABLE, 0),
            mount__root_writable=(b"none", b"/", 0, REMOUNT_WRITABLE | BIND, 0),
            mount__shared=(b"none", b"/", 0, 1 << 20, 0),
            umount2__tmp=(b"/tmp", 2),
            umount2__app=(b"/app", 2),
            umount2__proc=(b"/proc", 2),
            fsopen=(b"tmpfs", 0),
            fspick=(-100, b"/app", 0),
            fsmount=(0, 0, 0),
            open_tree=(-100, b"/", 1),
            move_mount=(-100, b"/tmp", -100, b"/app", 0),
            mount_setattr=(-100, b"/app", 0, 0, 0),
            pivot_root=(b"/tmp", b"/tmp"),
            chroot=(b"/tmp",),
        ),
        "again": attempt(call, "mount", b"/proc/1/root", b"/tmp", 0, BIND, 0),
    }
