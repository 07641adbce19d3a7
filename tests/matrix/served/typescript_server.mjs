// A small server on version 2 of the TypeScript SDK: typescript_server.mjs TRANSPORT PORT.
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.cwd()}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer, createMcpHandler } = await load('@modelcontextprotocol/server');
const { NodeStreamableHTTPServerTransport, toNodeHandler } = await load('@modelcontextprotocol/node');
const { z } = await load('zod');

const [transport, port] = [process.argv[2], Number(process.argv[3])];
const sessions = new Map();

process.on('SIGUSR2', () => {
  writeFileSync(`${process.env.MATRIX_COUNT}.new`, String(sessions.size));
  renameSync(`${process.env.MATRIX_COUNT}.new`, process.env.MATRIX_COUNT);
});

function build() {
  const server = new McpServer({ name: 'small', version: '1.2.3' });
  const inputSchema = z.object({ first: z.number().int(), second: z.number().int() });
  const description = 'Adds two whole numbers and returns their sum.';
  server.registerTool('add', { description, inputSchema }, async ({ first, second }) => ({
    content: [{ type: 'text', text: String(first + second) }],
  }));
  return server;
}

// With sessions: only the legacy era has them.
async function stateful(request, response) {
  const known = sessions.get(request.headers['mcp-session-id']);
  if (known) return known.handleRequest(request, response);
  const one = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, one),
  });
  one.onclose = () => sessions.delete(one.sessionId);
  await build().connect(one);
  return one.handleRequest(request, response);
}

const answer = transport === 'stateless' ? toNodeHandler(createMcpHandler(build)) : stateful;
createServer((request, response) => {
  Promise.resolve(answer(request, response)).catch((error) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500).end();
  });
}).listen(port, '127.0.0.1');
