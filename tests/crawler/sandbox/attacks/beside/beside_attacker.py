"""Takes, locks, watches or exhausts what a neighbour may need, and holds it; the second call says what it saw since."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

from attack_stage import AIMS, LIBC, MIB, attempt, call

AT = "call"
FILES = (os.path.realpath(sys.executable), os.__file__, os.path.abspath(__file__), "/etc/passwd")
FOLDERS = ("/", "/usr/bin", "/app", os.path.dirname(os.__file__), os.path.dirname(os.path.abspath(__file__)))
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
SETLEASE, NOTIFY, SETPIPE_SZ, OFD_SETLK = 1024, 1026, 1031, 37
ALL_EVENTS = 0xFFF
held, watching = [], {}


def opened(path, flags=os.O_RDONLY):
    held.append(os.open(path, flags))
    return held[-1]


def until_refused(action, most=200_000):
    for count in range(most):
        try:
            held.append(action())
        except (OSError, RuntimeError, MemoryError, ValueError):
            return count
    return most


def child(action):
    """A process that does it and then waits."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            action()
        time.sleep(600)
        os._exit(0)
    return pid


def ready_child(action):
    """The same, once it has done it."""
    theirs, ours = os.pipe()

    def work():
        action()
        os.write(ours, b"x")

    pid = child(work)
    os.close(ours)
    os.set_blocking(theirs, False)
    select.select([theirs], [], [], 10)
    os.close(theirs)
    return pid


def forever(action):
    def work():
        while True:
            action()

    return child(work)


def lock(paths, flags=os.O_RDONLY, kind=fcntl.LOCK_EX):
    for path in paths:
        fcntl.flock(opened(path, flags), kind | fcntl.LOCK_NB)


def record(kind, command=fcntl.F_SETLK):
    return lambda path, flags: fcntl.fcntl(opened(path, flags), command, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))


def lock_files():
    lock(FILES)


def lock_folders():
    lock(FOLDERS)


def lock_devices():
    lock(DEVICES)


def record_locks_of_files():
    for path in FILES:
        record(fcntl.F_RDLCK)(path, os.O_RDONLY)


def record_locks_of_devices():
    record(fcntl.F_WRLCK)("/dev/null", os.O_RDWR)


def open_file_locks_of_files():
    for path in FILES:
        record(fcntl.F_RDLCK, OFD_SETLK)(path, os.O_RDONLY)


def open_file_locks_of_devices():
    record(fcntl.F_WRLCK, OFD_SETLK)("/dev/null", os.O_RDWR)


def leases(kind):
    return {path: attempt(fcntl.fcntl, opened(path), SETLEASE, kind) for path in (*FILES, *DEVICES)}


def read_leases():
    return leases(fcntl.F_RDLCK)


def write_leases():
    return leases(fcntl.F_WRLCK)


def file_notices():
    return {path: attempt(fcntl.fcntl, opened(path), NOTIFY, 0x8000003F) for path in FOLDERS}


def watch(paths):
    """Events of what a neighbour does: the opening of a file it reads is ours to see only when inodes are shared."""
    number = LIBC.inotify_init1(os.O_NONBLOCK)
    held.append(number)
    for path in paths:
        LIBC.inotify_add_watch(number, path.encode(), ALL_EVENTS)

    def seen():
        try:
            return f"got through: {len(os.read(number, 1 << 20))} bytes of events"
        except OSError:
            return "refused: it saw nothing"

    with contextlib.suppress(OSError):
        os.read(number, 1 << 20)
    watching[f"watch of {paths[0]}"] = seen


def watch_files():
    watch(FILES)


def watch_folders():
    watch(FOLDERS)


def watch_devices():
    watch(DEVICES)


def watch_instances():
    def one():
        number = LIBC.inotify_init1(0)
        if number < 0:
            raise OSError
        return number

    until_refused(one)


def watches_of_everything():
    number = LIBC.inotify_init1(0)
    held.append(number)
    for folder, names, files in os.walk("/"):
        if folder.startswith("/proc"):
            names.clear()
        for name in (*names, *files):
            LIBC.inotify_add_watch(number, os.path.join(folder, name).encode(), ALL_EVENTS)


def fanotify():
    return {"fanotify": attempt(call, "fanotify_init", 0, 0)}


def interpreter():
    file = opened(FILES[0])
    size = os.fstat(file).st_size
    area = mmap.mmap(file, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    held.append(area)
    return file, size, ctypes.addressof(ctypes.c_char.from_buffer(area))


def answer(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def ask_which_pages_are_in_memory():
    file, size, address = interpreter()
    pages, buffer = ctypes.create_string_buffer(size // 4096 + 1), [bytearray(4096)]

    def resident():
        return answer(LIBC.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), pages))

    return {
        "mincore": attempt(resident),
        "only from memory": attempt(lambda: os.preadv(file, buffer, 0, 8)),
        "cachestat": attempt(call, "cachestat", file, bytes(16), bytes(40), 0),
    }


def drop_pages_of_files():
    file, size, address = interpreter()
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)

    def advise(advice):
        return answer(LIBC.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), advice))

    return {str(advice): attempt(advise, advice) for advice in (20, 21)}


def merge_equal_pages():
    area = mmap.mmap(-1, MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.append(area)
    return {"merged": attempt(lambda: area.madvise(12))}


def flush_the_disks():
    forever(os.sync)


def keys():
    with open("/proc/keys") as file, open("/proc/key-users") as users:
        shown = file.read() + users.read()
    found = {"keys": f"got through: {shown}" if shown else "refused: none is shown"}
    return {**found, "keyring": attempt(call, "add_key", b"user", b"beside", b"x", 1, -4)}


def locks_of_others():
    def seen():
        with open("/proc/locks") as file:
            shown = file.read()
        return f"got through: {shown[:80]}" if shown else "refused: none is shown"

    watching["locks"] = seen


def processes():
    until_refused(lambda: child(lambda: None), 100)


def threads():
    def one():
        thread = threading.Thread(target=time.sleep, args=(600,), daemon=True)
        thread.start()
        return thread

    until_refused(one, 100)


def epoll_watches():
    """Pairs of descriptors, since each number of an epoll file may watch each other descriptor once."""

    def many():
        ends = os.pipe()
        copies = [os.dup(ends[0]) for _ in range(450)]
        for _ in range(450):
            poll = select.epoll()
            held.append(poll)
            for copy in copies:
                poll.register(copy, select.EPOLLIN)

    for _ in range(8):
        ready_child(lambda: until_refused(many, 1))


def pipes():
    def many():
        until_refused(os.pipe)

    for _ in range(8):
        ready_child(many)


def large_pipes():
    return {"size": attempt(fcntl.fcntl, os.pipe()[0], SETPIPE_SZ, MIB)}


def pending_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    info = struct.pack("iiiiiiq", signal.SIGRTMIN, 0, -1, 0, os.getpid(), os.getuid(), 0) + bytes(96)
    until_refused(lambda: call("rt_sigqueueinfo", os.getpid(), int(signal.SIGRTMIN), info), 100_000)


def locked_memory():
    def one():
        area = mmap.mmap(-1, 16384, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if LIBC.mlock(ctypes.byref(ctypes.c_char.from_buffer(area)), ctypes.c_size_t(16384)) != 0:
            raise OSError
        return area

    until_refused(one)


def message_queues():
    return {"queue": attempt(call, "mq_open", b"beside", 0o102, 0o600, 0)}


def segments():
    return {"segment": attempt(call, "shmget", 0x4841, 4096, 0o1666)}


def semaphores():
    return {"semaphores": attempt(call, "semget", 0x4841, 1, 0o1666)}


def messages():
    return {"messages": attempt(call, "msgget", 0x4841, 0o1666)}


def shared_names():
    with open("/dev/shm/beside", "wb") as file:
        file.write(b"here")


def abstract_sockets():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        one = socket.socket(socket.AF_UNIX, kind)
        one.bind(f"\0beside-{int(kind)}")
        held.append(one)


def ports():
    listener = socket.create_server(("0.0.0.0", 8123))
    listener.setblocking(False)
    held.append(listener)

    def seen():
        try:
            listener.accept()
        except BlockingIOError:
            return "refused: nobody came"
        return "got through: a visitor"

    watching["port"] = seen


def descriptors_in_flight():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    held.extend((ours, theirs))
    until_refused(lambda: socket.send_fds(ours, [b"x"], [0] * 200), 100)
    for _ in range(30):
        pair = socket.socketpair()
        pair[0].setblocking(False)
        held.extend(pair)
        until_refused(lambda one=pair[0]: socket.send_fds(one, [b"x"], [0] * 200), 100)


def open_files():
    for _ in range(20):
        ready_child(lambda: until_refused(lambda: os.open("/dev/null", os.O_RDONLY)))


def spinning():
    for _ in range(50):
        forever(int)


def spinning_sessions():
    for _ in range(50):

        def work():
            with contextlib.suppress(OSError):
                os.setsid()
            while True:
                pass

        child(work)


def spinning_on_one_processor():
    def work():
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {0})
        with contextlib.suppress(OSError):
            os.nice(-20)
        while True:
            pass

    for _ in range(50):
        child(work)


def real_time():
    return {"real time": attempt(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50))}


def forks_and_exits():
    def one():
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    for _ in range(8):
        forever(one)


def switches():
    def one():
        there, back = os.pipe(), os.pipe()

        def partner():
            while os.read(there[0], 1):
                os.write(back[1], b"x")

        child(partner)
        while True:
            os.write(there[1], b"x")
            os.read(back[0], 1)

    for _ in range(8):
        child(one)


def memory():
    held.append(bytearray(400 * MIB))


def files_read():
    def one():
        for folder, names, files in os.walk("/usr"):
            for name in files:
                with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                    while file.read(MIB):
                        pass
            del names

    forever(one)


def full_tmp():
    with contextlib.suppress(OSError), open("/tmp/full", "wb", buffering=0) as file:
        while True:
            file.write(bytes(31 * MIB))


def full_shared_memory():
    with contextlib.suppress(OSError), open("/dev/shm/full", "wb", buffering=0) as file:
        while True:
            file.write(bytes(MIB))


def many_files():
    until_refused(lambda: os.close(os.open(f"/tmp/{len(held)}-{time.monotonic_ns()}", os.O_CREAT)), 1500)


def signals_to_everyone():
    signal.signal(signal.SIGCONT, signal.SIG_IGN)
    for pid in range(3, 400):
        if pid != os.getpid():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def calls_that_are_observed():
    def one():
        with contextlib.suppress(OSError):
            os.open("/etc/new", os.O_WRONLY | os.O_CREAT)

    for _ in range(4):
        forever(one)


def errors_written():
    def one():
        os.write(2, b"x" * 1000 + b"\n")
        time.sleep(0.001)

    forever(one)


def sockets():
    until_refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 400)


def rings():
    return {"ring": attempt(call, "io_uring_setup", 8, bytes(120))}


def terminals():
    return {"terminal": attempt(os.open, "/dev/ptmx", os.O_RDWR)}


def disk_figures():
    def figures():
        with open("/proc/self/mountinfo") as file:
            places = [line.split()[4] for line in file]
        return {place: os.statvfs(place).f_bfree for place in places if place in ("/tmp", "/dev/shm")}

    before = figures()

    def seen():
        changed = figures() != before
        return "got through: a neighbour's files are counted" if changed else "refused: they are the box's own"

    watching["disk figures"] = seen


def timers():
    def one():
        number = LIBC.timerfd_create(1, 0)
        if number < 0:
            raise OSError
        LIBC.timerfd_settime(number, 0, struct.pack("qqqq", 0, 100_000, 0, 1), None)
        return number

    until_refused(one, 500)


NAMES = tuple(
    name for name, what in dict(globals()).items()
    if callable(what) and getattr(what, "__module__", "") == __name__ and what.__code__.co_argcount == 0
    and name not in ("attack", "interpreter")
)  # fmt: skip
"""All attacks, in the order of this file."""
done = []


def attack():
    if done:
        return {name: seen() for name, seen in watching.items()} or {"seen": "refused: nothing to see"}
    report = {}
    for name in AIMS["hold"]:
        done.append(name)
        try:
            report |= globals()[name]() or {name: "refused: held"}
        except OSError as error:
            report[name] = f"refused: {error}"
    return report
