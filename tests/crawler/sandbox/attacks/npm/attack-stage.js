// What a Node attack stands on: how attempts are reported, and the MCP server that lists the reports.
"use strict";
const readline = require("readline");

// What only the test knows: a listener of the host, a secret file, a process. Nothing of it is a way in by itself.
const aims = JSON.parse(process.env.ATTACK_AIMS || "{}");

async function attempt(action) {
  try {
    const late = new Promise((_, refuse) => setTimeout(() => refuse({ code: "TIMEOUT" }), 4000).unref());
    const found = await Promise.race([Promise.resolve().then(action), late]);
    return `got through: ${String(found).slice(0, 120)}`;
  } catch (error) {
    return `refused: ${(error && (error.code || (error.cause && error.cause.code) || error.message)) || error}`;
  }
}

async function attempts(action, names) {
  const found = {};
  for (const name of names) found[name] = await attempt(() => action(name));
  return found;
}

function must(truth, what) {
  return truth ? `got through: ${what}` : "refused: without effect";
}

function tell(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

function tool(name, report) {
  const description = report ? JSON.stringify(report) : "Attacks when it is called.";
  const inputSchema = { type: "object", properties: {} };
  return { name, description, inputSchema, annotations: { readOnlyHint: true } };
}

// Serves attacks as tools of one server: the first argument names one, without any all are served.
async function main(names) {
  const chosen = process.argv[2] ? [process.argv[2]] : names;
  const reports = {};
  const single = chosen.length === 1 ? require(chosen[0]) : null; // by itself: the attack says when
  if (single && single.at === "start") reports[chosen[0]] = await single.attack();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    if (asked.id === undefined) continue;
    const answer = { jsonrpc: "2.0", id: asked.id };
    if (asked.method === "initialize") {
      const { protocolVersion } = asked.params;
      answer.result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "attack", version: "1.0" } };
    } else if (asked.method === "tools/list") {
      if (single && single.at === "list") reports[chosen[0]] = await single.attack();
      answer.result = { tools: chosen.map((name) => tool(name, reports[name])) };
    } else if (asked.method === "tools/call") {
      const report = await require(asked.params.name).attack();
      answer.result = { content: [{ type: "text", text: JSON.stringify(report) }] };
    } else if (asked.method === "ping") {
      answer.result = {};
    } else {
      answer.error = { code: -32601, message: "no such method" };
    }
    tell(answer);
  }
}

module.exports = { aims, attempt, attempts, must, main };
