"""Connects to the host's loopback and services, the metadata address, neighbours and the world, by TCP and UDP."""

import socket

from attack_stage import AIMS, attempts

AT = "call"
PLACES = (
    "169.254.169.254:80", "169.254.170.2:80", "100.100.100.200:80", "fd00:ec2::254:80", "127.0.0.1:22",
    "127.0.0.1:2375", "127.0.0.1:5432", "127.0.0.1:6379", "0.0.0.0:80", "10.0.0.1:443", "172.17.0.1:2375",
    "192.168.0.1:80", "1.1.1.1:443", "192.0.2.1:443", "::1:80", "fe80::1:80", "2606:4700:4700::1111:443",
    "::ffff:127.0.0.1:22",
)  # fmt: skip


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def connect(place):
    host, _, port = place.rpartition(":")
    with socket.socket(family_of(host), socket.SOCK_STREAM) as sock:
        sock.settimeout(2)
        sock.connect((host, int(port)))
    return "connected"


def send(place):
    host, _, port = place.removeprefix("udp ").rpartition(":")
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"x", (host, int(port)))


def broadcast(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        return sock.sendto(b"x", (address, 5353))


def attack():
    host = f"127.0.0.1:{AIMS['port']}"
    return {
        **attempts(connect, host, f"{AIMS['address']}:{AIMS['port']}", *PLACES),
        **attempts(send, "udp 8.8.8.8:53", "udp 169.254.169.254:80", "udp 2001:4860:4860::8888:53"),
        **attempts(broadcast, "255.255.255.255", "224.0.0.251", "239.255.255.250"),
    }
