"""Leaves processes behind: forked twice, in sessions of their own, deaf to signals, with other names."""

import os
import signal
import time

AT = "call"


def attack():
    for number in range(8):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
                    signal.signal(one, signal.SIG_IGN)
                if number % 2:
                    for handle in range(3):
                        os.close(handle)
                os.chdir("/")
                while True:
                    time.sleep(300)
            os._exit(0)
    return {"survivors": "refused: with the box"}
