"""Uses the one kind of netlink socket that is there: finds another network with it, and changes its own."""

import socket
import struct

from attack_stage import attempt, must

AT = "call"
NETLINK, SOL_NETLINK = 16, 270
REQUEST, DUMP = 0x1, 0x301
ERROR, DONE = 2, 3
NAME, TARGET_NAMESPACE, NET_NS_PID = 3, 46, 19
LINK = struct.pack("<BxHiII", 0, 0, 1, 1, 1)  # struct ifinfomsg of the first interface, up
ANY = bytes(16)


def attribute(kind, value):
    return struct.pack("<HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def ask(kind, body, flags=REQUEST, to=0):
    """The messages that answer one question; raises OSError with what the kernel says."""
    with socket.socket(NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0) as held:
        held.settimeout(2)
        flags = flags if flags == DUMP else flags | 4  # asks for an acknowledgement
        held.sendto(struct.pack("<IHHII", 16 + len(body), kind, flags, 1, 0) + body, (to, 0))
        found = []
        while True:
            answer, at = held.recv(1 << 20), 0
            while at < len(answer):
                length, answered = struct.unpack_from("<IH", answer, at)
                if answered == ERROR and (code := struct.unpack_from("<i", answer, at + 16)[0]):
                    raise OSError(-code, "netlink")
                if answered in {ERROR, DONE}:
                    return found
                found.append(answer[at + 16 : at + length])
                at += (length + 3) & ~3


def others(kind):
    """Interfaces, addresses, routes, neighbours and the like of anything but lo, by their index."""
    indexes = {struct.unpack_from("<i", row, 4)[0] for row in ask(kind, ANY, DUMP)} - {1}
    return must(indexes, indexes)


def join(group):
    with socket.socket(NETLINK, socket.SOCK_RAW, 0) as held:
        return held.setsockopt(SOL_NETLINK, 1, group)


def attack():
    peer = attribute(NET_NS_PID, struct.pack("<I", 1))
    renamed = attribute(NAME, b"mine\0")
    elsewhere = attribute(TARGET_NAMESPACE, struct.pack("<i", 0))
    found = {f"{name} of others": others(kind) for name, kind in {"links": 18, "addresses": 22}.items()}
    changes = {
        "take lo down": (19, LINK), "rename lo": (19, LINK + renamed), "hand lo over": (19, LINK + peer),
        "remove lo": (17, LINK), "make a link": (16, LINK[:4] + bytes(12) + renamed),
        "look into another network": (18, ANY + elsewhere),
        "add an address": (20, struct.pack("<BBBBI", 2, 8, 0, 0, 1)),
        "add a route": (24, struct.pack("<BBBBBBBBI", 2, 0, 0, 0, 254, 4, 0, 1, 0)), "add a neighbour": (28, ANY[:12]),
        "add a rule": (32, ANY[:12]), "add a queue": (36, ANY + ANY[:4]), "name a network": (88, ANY[:4]),
    }  # fmt: skip
    for name, (kind, body) in changes.items():
        found[name] = attempt(ask, kind, body)
    found["talk to another process"] = attempt(ask, 18, ANY, DUMP, 4711)
    found["hear everybody"] = attempt(join, 1)
    for protocol in range(1, 32):
        found[f"protocol {protocol}"] = attempt(lambda n=protocol: socket.socket(NETLINK, socket.SOCK_RAW, n))
    return found
