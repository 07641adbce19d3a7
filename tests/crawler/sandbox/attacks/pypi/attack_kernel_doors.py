"""Knocks at the calls that reach kernel code with a history of holes."""

from attack_stage import calls

AT = "import"


def knock():
    return calls(
        bpf__map=(0, b"\1\0\0\0" + bytes(68), 72),
        bpf__program=(5, bytes(72), 72),
        io_uring_setup=(8, bytes(120)),
        io_uring_enter=(0, 1, 1, 0, 0, 0),
        io_uring_register=(0, 0, 0, 0),
        userfaultfd=(0,),
        userfaultfd__user_only=(1,),
        perf_event_open=(bytes(112), 0, -1, -1, 0),
        fanotify_init=(0, 0),
        keyctl__session=(0, -3, 0),
        keyctl__new=(1, b"x", 0, 0, 0),
        add_key=(b"user", b"x", b"y", 1, -3),
        request_key=(b"user", b"x", b"y", -3),
        memfd_create=(b"x", 0),
        memfd_secret=(0,),
        modify_ldt=(0, 0, 0),
        personality=(0x0040000,),
        name_to_handle_at=(-100, b"/", bytes(136), bytes(4), 0),
        open_by_handle_at=(-100, bytes(136), 0),
        vmsplice=(1, 0, 0, 0),
        quotactl=(0, 0, 0, 0),
        unknown=(),
    )


REPORT = knock()


def attack():
    return REPORT
