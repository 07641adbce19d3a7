"""Opens sockets of every family that reaches the kernel or the host beside IP: packets, rings, virtual machines."""

import socket

from attack_stage import attempt

AT = "call"
FAMILIES = {
    "AX25": 3, "IPX": 4, "X25": 9, "PACKET": 17, "RDS": 21, "LLC": 26, "CAN": 29, "TIPC": 30,
    "BLUETOOTH": 31, "ALG": 38, "NFC": 39, "VSOCK": 40, "KCM": 41, "QIPCRTR": 42, "SMC": 43, "XDP": 44, "MCTP": 45,
}  # fmt: skip


def open_one(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()
    return "opened"


def attack():
    found = {}
    for name, number in FAMILIES.items():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            found[f"{name} {kind}"] = attempt(open_one, number, kind)
    for name, protocol in {"ICMP": 1, "TCP": 6, "RAW": 255}.items():
        found[f"raw {name}"] = attempt(open_one, socket.AF_INET, socket.SOCK_RAW, protocol)
        found[f"raw {name} 6"] = attempt(open_one, socket.AF_INET6, socket.SOCK_RAW, protocol)
    return found
