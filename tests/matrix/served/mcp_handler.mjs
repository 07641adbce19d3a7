// A small server on mcp-handler, the adapter of Vercel: mcp_handler.mjs TRANSPORT PORT.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';

// This file lies outside of the folder that has the packages.
const require = createRequire(`${process.cwd()}/`);
const { createMcpHandler } = require('mcp-handler');
const { z } = require('zod');

const shape = { first: z.number().int(), second: z.number().int() };
const description = 'Adds two whole numbers and returns their sum.';
const options = { serverInfo: { name: 'small', version: '1.2.3' } };
const register = (inputSchema) => (server) => {
  server.registerTool('add', { description, inputSchema }, async ({ first, second }) => ({
    content: [{ type: 'text', text: String(first + second) }],
  }));
};
const answer = isOnSecondSdk()
  ? createMcpHandler(register(z.object(shape)), options)
  : createMcpHandler(register(shape), options, { basePath: '' });

function isOnSecondSdk() {
  try {
    return Boolean(require.resolve('@modelcontextprotocol/server'));
  } catch {
    return false;
  }
}

// What Next.js, the usual host, does: it outlives rejections, such as that of JSON that is cut off.
process.on('unhandledRejection', (error) => console.error(error));

// And it makes a web request of that of Node, and back.
async function serve(request, response) {
  const left = new AbortController();
  response.on('close', () => left.abort());
  const body = request.method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {};
  const headers = new Headers(Object.entries(request.headers));
  const url = `http://${request.headers.host}${request.url}`;
  const answered = await answer(new Request(url, { method: request.method, headers, signal: left.signal, ...body }));
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  for await (const part of answered.body ?? []) response.write(part);
  response.end();
}

createServer((request, response) => {
  serve(request, response).catch((error) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
}).listen(Number(process.argv[3]), '127.0.0.1');
