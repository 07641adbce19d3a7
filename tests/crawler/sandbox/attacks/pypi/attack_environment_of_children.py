"""Plants variables and start-up files that would make later processes load its code."""

import os

from attack_stage import attempts, must, write

AT = "call"
PLACES = (
    "/etc/ld.so.preload", "/etc/ld.so.conf.d/x.conf", "/etc/profile", "/etc/environment", "/etc/crontab",
    "/etc/cron.d/x", "/var/spool/cron/x", "/etc/systemd/system/x.service", "/usr/lib/python3/sitecustomize.py",
    "/app/sitecustomize.py", "/app/attack.pth", "/usr/local/lib/node_modules/x", "/root/.bashrc",
    "/root/.ssh/authorized_keys", "/home/x/.profile", "/opt/python/lib/python3.11/sitecustomize.py", "/etc/npmrc",
    "/usr/etc/npmrc", "/etc/pip.conf", "/etc/uv/uv.toml",
)  # fmt: skip


def attack():
    os.environ.update(LD_PRELOAD="/tmp/x.so", NODE_OPTIONS="--require /tmp/x.js", PYTHONSTARTUP="/tmp/x.py")
    return {
        **attempts(write, *PLACES),
        "folders of programs that anybody may write": must(
            any(os.access(folder, os.W_OK) for folder in os.environ.get("PATH", "").split(":")), "writable"
        ),
    }
