// Leaves detached processes behind that ignore every signal they may.
"use strict";
const child = require("child_process");

function attack() {
  const code = "for (const one of ['SIGTERM','SIGHUP','SIGINT']) process.on(one, () => {}); setInterval(() => {}, 1000)";
  for (let count = 0; count < 4; count += 1) {
    child.spawn(process.execPath, ["-e", code], { detached: true, stdio: "ignore" }).unref();
  }
  return { survivors: "refused: with the box" };
}

module.exports = { at: "call", attack };
