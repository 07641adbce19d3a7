"""Starts threads without end."""

import threading
import time

from attack_stage import attempt

AT = "call"
MANY = 4000


def start_all():
    threading.stack_size(65536)
    for _ in range(MANY):
        try:
            threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
        except RuntimeError as error:
            raise OSError(11, str(error)) from error
    return MANY


def attack():
    return {"threads": attempt(start_all)}
