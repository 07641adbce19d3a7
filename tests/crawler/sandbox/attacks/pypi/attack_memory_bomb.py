"""Takes memory until the machine has none."""

from attack_stage import MIB

AT = "start"


def attack():
    held = []
    while True:
        held.append(bytearray(b"x") * (16 * MIB))
