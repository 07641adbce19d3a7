"""Never reads what it is asked, and sleeps for ever."""

import time

AT = "start"


def attack():
    time.sleep(1000)
