// Writes without end and without waiting, so that its own buffers grow too.
"use strict";

function attack() {
  const line = "y".repeat(65535) + "\n";
  const write = () => {
    while (process.stdout.write(line));
    process.stdout.once("drain", write);
  };
  write();
  return new Promise(() => {});
}

module.exports = { at: "start", attack };
