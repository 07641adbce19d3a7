"""Takes hold of the whole machine: modules, another kernel, swap, accounting, clocks, the host's name, ports."""

from attack_stage import attempts, calls, read, write

AT = "call"
SWITCHES = (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/drop_caches", "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/sys/kernel/ns_last_pid",
    "/proc/irq/default_smp_affinity", "/proc/bus/pci/00/00.0", "/proc/scsi/scsi", "/proc/asound/card0",
    "/proc/acpi/wakeup", "/proc/mtrr", "/sys/kernel/uevent_helper", "/sys/power/state",
)  # fmt: skip
SECRETS = (
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/kpagecount",
    "/proc/vmallocinfo",
    "/proc/slabinfo",
    "/proc/1/stack",
    "/dev/kmsg",
)


def attack():
    return {
        **calls(
            init_module=(b"x", 1, b""),
            finit_module=(0, b"", 0),
            delete_module=(b"x", 0),
            kexec_load=(0, 0, 0, 0),
            kexec_file_load=(0, 0, 0, b"", 0),
            reboot=(0xFEE1DEAD, 672274793, 0, 0),
            swapon=(b"/tmp", 0),
            swapoff=(b"/tmp",),
            acct=(b"/tmp/acct",),
            syslog=(3, bytes(64), 64),
            settimeofday=(bytes(16), 0),
            clock_settime=(0, bytes(16)),
            clock_adjtime=(0, b"\1" + bytes(255)),
            sethostname=(b"host", 4),
            iopl=(3,),
            ioperm=(0, 1, 1),
        ),
        **attempts(write, *SWITCHES),
        **attempts(read, *SECRETS),
    }
