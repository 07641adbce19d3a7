// Opens devices and switches of the kernel, from Node.
"use strict";
const fs = require("fs");
const { attempts } = require("attack-stage");

const READ = ["mem", "kmsg", "sda", "vda", "fuse", "kvm", "net/tun", "ptmx", "tty", "console", "zero", "loop-control"];
const SWITCHES = [
  "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/proc/self/oom_score_adj",
  "/proc/sys/fs/binfmt_misc/register", "/sys/fs/cgroup/release_agent", "/proc/self/uid_map", "/proc/1/mem", "/dev/new",
];

async function attack() {
  const low = (one) => fs.writeFileSync(one, "-1000");
  return {
    ...(await attempts((one) => fs.openSync(`/dev/${one}`, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK), READ)),
    ...(await attempts(low, SWITCHES)),
  };
}

module.exports = { at: "list", attack };
