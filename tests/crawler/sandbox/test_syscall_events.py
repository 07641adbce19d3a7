"""System calls of a simulated process and the recorded behaviour."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field

import pytest

from crawler.sandbox.monitoring.syscall_events import SyscallEvents, clean_text, parse_dns_question
from evidence.kinds.behaviour import MAX_ENTRIES, MAX_LENGTH, Contact


@dataclass
class Memory:
    """A process whose memory is what was put there."""

    pieces: dict[int, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def put(self, data: bytes) -> int:
        address = 0x10000 * (len(self.pieces) + 1)
        self.pieces[address] = data
        return address

    def memory(self, address: int, size: int) -> bytes:
        for base, data in self.pieces.items():
            if base <= address < base + len(data):
                return data[address - base :][:size]
        raise OSError("no such address")

    def link(self, name: str) -> str:
        return self.links[name]


def query(name: str, *, flags: int = 0x0100, questions: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 7, flags, questions, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)


def inet(address: str, port: int) -> bytes:
    return struct.pack("<H", 2) + struct.pack(">H", port) + socket.inet_aton(address) + b"\0" * 8


def noted(call: str, *arguments: int, process: Memory) -> SyscallEvents:
    events = SyscallEvents()
    events.record_call(call, (*arguments, 0, 0, 0, 0, 0, 0)[:6], process)
    return events


@pytest.mark.parametrize(("datagram", "name"), [
    (query("api.Example.com"), "api.example.com"),
    (query("api.example.com", flags=0x8180), ""),  # an answer
    (query("api.example.com", questions=2), ""),
    (query("a b.example"), ""),
    (query("id-1234567890.example.com"), "id-*.example.com"),
    (query("x")[:-5], ""),
    (b"\0" * 12 + b"\xff" * 200, ""),
    (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", ""),
    (b"", ""),
])  # fmt: skip
def test_name_is_read_from_a_query_and_from_nothing_else(datagram: bytes, name: str) -> None:
    assert parse_dns_question(datagram) == name


def test_the_resolver_is_no_contact_but_its_queries_are_recorded() -> None:
    process = Memory()
    where = process.put(inet("127.0.0.1", 53))
    events = noted("connect", 3, where, 16, process=process)
    data = process.put(query("one.example"))
    events.record_call("sendto", (3, data, 29, 0, 0, 0), process)
    vector = process.put(struct.pack("<QQ", process.put(query("two.example")), 29))
    header = struct.pack("<QI4xQQ", 0, 0, vector, 1) + b"\0" * 32
    events.record_call("sendmmsg", (3, process.put(header + header), 2, 0, 0, 0), process)
    assert (events.contacts, events.names) == (set(), {"one.example", "two.example"})


def test_foreign_resolver_is_both() -> None:
    process = Memory()
    where, data = process.put(inet("8.8.8.8", 53)), process.put(query("one.example"))
    events = noted("sendto", 3, data, 29, 0, where, 16, process=process)
    assert (events.contacts, events.names) == ({Contact("8.8.8.8", 53)}, {"one.example"})


def test_asking_for_a_route_is_no_contact() -> None:
    process = Memory()
    assert noted("connect", 3, process.put(inet("192.0.2.1", 0)), 16, process=process).contacts == set()


@pytest.mark.parametrize(("path", "writes"), [
    ("/etc/passwd", {"/etc/passwd"}), ("/tmp/x", set()), ("/tmp/../etc/x", {"/etc/x"}), ("/dev/null", set()),
    ("//etc/x", {"/etc/x"}), ("notes", {"/project/notes"}), ("/proc/17/oom_score_adj", {"/proc/*/oom_score_adj"}),
    ("/tmpfile", {"/tmpfile"}),
])  # fmt: skip
def test_writes_outside_the_scratch_space_are_recorded(path: str, writes: set[str]) -> None:
    process = Memory(links={"cwd": "/project"})
    address = process.put(path.encode() + b"\0")
    at_cwd = (1 << 64) - 100
    assert noted("openat", at_cwd, address, 1, process=process).writes == writes
    assert noted("open", address, 1, process=process).writes == writes


def test_path_below_an_open_folder_is_resolved() -> None:
    process = Memory(links={"fd/5": "/etc"})
    assert noted("openat", 5, process.put(b"shadow\0"), 2, process=process).writes == {"/etc/shadow"}


@pytest.mark.parametrize("arguments", [(0, 0, 0), (3, 1 << 63, 16), (3, 0xDEAD, 1 << 60)])
@pytest.mark.parametrize("call", ["connect", "sendto", "sendmsg", "sendmmsg", "execve", "execveat", "openat", "creat"])
def test_nonsense_is_left_out(call: str, arguments: tuple[int, ...]) -> None:
    assert noted(call, *arguments, process=Memory()) == SyscallEvents()


def test_hostile_text_is_kept_in_one_short_line() -> None:
    kept = clean_text("/a\x1b[31m\n\u202e" + "b/" * 5000)
    assert kept.isprintable()
    assert len(kept) == MAX_LENGTH
    assert clean_text("/tmp/run-1732287431/9f86d081884c7d65") == "/tmp/run-*/*"
    assert clean_text("/app/x.json.12345ac263e34a1f67890aa22baab0ba.tmp") == "/app/x.json.*.tmp"
    assert clean_text("/app/f47ac10b-58cc-4372-a567-0e02b2c3d479.tmp") == "/app/*.tmp"
    assert clean_text("/app/feedback/deadbeef-cafe") == "/app/feedback/deadbeef-cafe"
    assert "hunter2" not in clean_text("/x?password=hunter2hunter2")


def test_memory_of_a_flood_is_bounded() -> None:
    process, events = Memory(), SyscallEvents()
    for number in range(1000):
        address = process.put(f"/usr/bin/p{number}\0".encode())
        events.record_call("execve", (address, 0, 0, 0, 0, 0), process)
    assert len(events.programs) == 2 * MAX_ENTRIES
    assert events.cut
    assert events.to_behaviour(None).cut
