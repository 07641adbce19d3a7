// A small server on version 2 of the TypeScript SDK: node typescript_server.mjs PORT
import { createServer } from 'node:http';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { z } from 'zod';

function build() {
  const server = new McpServer({ name: 'typescript-small', version: '1.2.3' }, { instructions: 'Add numbers.' });
  server.registerTool(
    'add',
    {
      description: 'Adds two whole numbers and returns their sum.',
      inputSchema: z.object({ first: z.number().int(), second: z.number().int() }),
      annotations: { readOnlyHint: true },
    },
    async ({ first, second }) => ({ content: [{ type: 'text', text: String(first + second) }] }),
  );
  return server;
}

const handler = toNodeHandler(createMcpHandler(build));
const http = createServer((request, response) => handler(request, response));
http.listen(Number(process.argv[2]), '127.0.0.1');
