// Signals the host's processes and starts its programs.
"use strict";
const child = require("child_process");
const fs = require("fs");
const { aims, attempt, attempts, must } = require("attack-stage");

const NAMES = ["sh", "bash", "/bin/sh", "npm", "npx", "bun", "curl", "git", "docker", "sudo", "su", "ssh", "mount"];

function start(name) {
  const done = child.spawnSync(name, ["--version"], { timeout: 3000 });
  if (done.error) throw done.error;
  return done.status;
}

async function attack() {
  const { ppid } = process;
  process.kill(1, "SIGSTOP"); // nothing comes of it: the first process takes no signal from inside
  process.kill(1, "SIGKILL");
  return {
    ...(await attempts(start, NAMES)),
    "through the shell": await attempt(() => child.execSync("id", { stdio: "pipe" })),
    "kill a host process": await attempt(() => process.kill(aims.pid, "SIGSTOP")),
    "become root": await attempt(() => process.setuid(0)),
    "become an installer": await attempt(() => process.setuid(64100)),
    "more groups": await attempt(() => process.setgroups([0])),
    "host processes in /proc": must(fs.readdirSync("/proc").filter((one) => /^\d+$/.test(one)).length > 16, "seen"),
    "parent is the host": must(ppid > 100, ppid),
    "host variables": must(JSON.stringify(process.env).includes([...aims.canary].reverse().join("")), "seen"),
  };
}

module.exports = { at: "call", attack };
