// Changes the layer, Node itself, and what other starts would load.
"use strict";
const fs = require("fs");
const { attempt, attempts } = require("attack-stage");

const PLACES = [
  __filename, `${__dirname}/package.json`, "/app/node_modules/new", "/app/node_modules/attack-stage/index.js", "/app/new",
  "/usr/bin/node", "/proc/self/exe", "/etc/hosts", "/usr/lib/new", "/root/.npmrc", "/opt/tools/bun", "/cache/new",
];

async function attack() {
  fs.rmSync("/tmp/link", { force: true });
  fs.symlinkSync(__filename, "/tmp/link");
  return {
    ...(await attempts((one) => fs.writeFileSync(one, "owned"), PLACES)),
    "through a link": await attempt(() => fs.writeFileSync("/tmp/link", "owned")),
    "a hard link": await attempt(() => (fs.linkSync(__filename, "/tmp/hard"), fs.writeFileSync("/tmp/hard", "owned"))),
    "another mode": await attempt(() => fs.chmodSync(__filename, 0o777)),
    "another name": await attempt(() => fs.renameSync(__filename, "/tmp/taken")),
    "away with it": await attempt(() => fs.rmSync(__dirname, { recursive: true })),
  };
}

module.exports = { at: "start", attack };
