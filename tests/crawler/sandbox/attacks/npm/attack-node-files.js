// Reads what belongs to the host and its users, by name and through /proc.
"use strict";
const fs = require("fs");
const { aims, attempts } = require("attack-stage");

const FOLDERS = ["/root", "/home", "/var", "/sys", "/run/secrets", "/proc/1/root/root", "/../root", aims.folder];
const FILES = ["/etc/shadow", "/root/.npmrc", "/root/.ssh/id_ed25519", "/proc/kcore", "/etc/machine-id", aims.secret];

function shows(folder) {
  const found = fs.readdirSync(folder);
  if (!found.length) throw { code: "EMPTY" };
  return found;
}

async function attack() {
  return { ...(await attempts(shows, FOLDERS)), ...(await attempts((one) => fs.readFileSync(one), FILES)) };
}

module.exports = { at: "list", attack };
