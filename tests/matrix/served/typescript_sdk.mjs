// A small server on version 1 of the TypeScript SDK, in the form of its own examples: typescript_sdk.mjs TRANSPORT PORT.
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// This file lies outside of the folder that has the packages.
const require = createRequire(`${process.cwd()}/`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}.js`)));

const [transport, port] = [process.argv[2], Number(process.argv[3])];
const { Server } = await load('server/index');
const { CallToolRequestSchema, ListToolsRequestSchema } = await load('types');
const sessions = new Map();

process.on('SIGUSR2', () => {
  writeFileSync(`${process.env.MATRIX_COUNT}.new`, String(sessions.size));
  renameSync(`${process.env.MATRIX_COUNT}.new`, process.env.MATRIX_COUNT);
});

function build() {
  const server = new Server({ name: 'small', version: '1.2.3' }, { capabilities: { tools: {} } });
  const number = { type: 'integer' };
  const inputSchema = { type: 'object', properties: { first: number, second: number }, required: ['first', 'second'] };
  const description = 'Adds two whole numbers and returns their sum.';
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: 'add', description, inputSchema }] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    if (params.name !== 'add') throw new Error(`Unknown tool: ${params.name}`);
    return { content: [{ type: 'text', text: String(params.arguments.first + params.arguments.second) }] };
  });
  return server;
}

async function read(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

function refuse(response, status, code, message) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

async function serveStreamable(StreamableHTTPServerTransport) {
  const more = transport === 'json' ? { enableJsonResponse: true } : {};
  return async (request, response) => {
    let body;
    if (request.method === 'POST') {
      try {
        body = await read(request);
      } catch {
        return refuse(response, 400, -32700, 'Parse error');
      }
    }
    if (transport === 'stateless') {
      if (request.method !== 'POST') return refuse(response, 405, -32000, 'Method not allowed.');
      const [server, one] = [build(), new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })];
      response.on('close', () => void (one.close(), server.close()));
      await server.connect(one);
      return one.handleRequest(request, response, body);
    }
    const known = sessions.get(request.headers['mcp-session-id']);
    if (known) return known.handleRequest(request, response, body);
    if (request.method !== 'POST' || request.headers['mcp-session-id'] || body?.method !== 'initialize')
      return refuse(response, 400, -32000, 'Bad Request: No valid session ID provided');
    const one = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, one),
      ...more,
    });
    const server = build();
    server.onclose = () => sessions.delete(one.sessionId); // old versions replace that of the transport
    await server.connect(one);
    return one.handleRequest(request, response, body);
  };
}

async function serveSse(SSEServerTransport) {
  return async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const one = new SSEServerTransport('/messages', response);
      sessions.set(one.sessionId, one);
      response.on('close', () => sessions.delete(one.sessionId));
      return build().connect(one);
    }
    const known = sessions.get(url.searchParams.get('sessionId'));
    if (request.method === 'POST' && url.pathname === '/messages' && known) return known.handlePostMessage(request, response);
    return refuse(response, request.method === 'POST' ? 400 : 404, -32000, 'Not found');
  };
}

if (transport === 'stdio') {
  const { StdioServerTransport } = await load('server/stdio');
  await build().connect(new StdioServerTransport());
} else {
  const answer =
    transport === 'sse'
      ? await serveSse((await load('server/sse')).SSEServerTransport)
      : await serveStreamable((await load('server/streamableHttp')).StreamableHTTPServerTransport);
  createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      if (!response.headersSent) refuse(response, 500, -32603, 'Internal server error');
    });
  }).listen(port, '127.0.0.1');
}
