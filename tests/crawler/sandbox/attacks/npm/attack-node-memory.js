// Takes memory that V8 does not manage, until the machine has none.
"use strict";

function attack() {
  const held = [];
  for (;;) held.push(Buffer.alloc(16 << 20, 1));
}

module.exports = { at: "start", attack };
