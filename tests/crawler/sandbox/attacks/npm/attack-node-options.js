// Starts Node again with options that load other code, open a debugger, or lift its limits.
"use strict";
const child = require("child_process");
const { attempt, must } = require("attack-stage");

function node(options, code) {
  const environment = { ...process.env, NODE_OPTIONS: "" };
  const done = child.spawnSync(process.execPath, [...options, "-e", code], { timeout: 15000, env: environment });
  if (done.status !== 0) throw { code: String(done.signal || done.status) };
  return String(done.stdout).trim();
}

async function attack() {
  const files = "require('fs').readdirSync('/root')";
  return {
    "a child without our options": await attempt(() => node([], files)),
    "a child that reaches out": await attempt(() =>
      node([], "require('net').connect(53,'1.1.1.1').on('error',()=>process.exit(3)).on('connect',()=>process.exit(0))")
    ),
    "a native module": await attempt(() => {
      require("fs").writeFileSync("/tmp/x.node", "\x7fELF");
      process.dlopen({ exports: {} }, "/tmp/x.node");
    }),
    "a module of the host": await attempt(() => require("/usr/lib/node_modules/npm")),
    "options from the host": must(/require|inspect|loader/.test(process.env.NODE_OPTIONS || ""), process.env.NODE_OPTIONS),
  };
}

module.exports = { at: "call", attack };
