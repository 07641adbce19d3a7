// A small server on tmcp, which shares no code with the official SDKs: node tmcp_server.mjs PORT
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { ValibotJsonSchemaAdapter } from '@tmcp/adapter-valibot';
import { HttpTransport } from '@tmcp/transport-http';
import { McpServer } from 'tmcp';
import * as v from 'valibot';

const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } };
const server = new McpServer(
  { name: 'tmcp-small', version: '1.2.3', description: 'Adds numbers.' },
  { adapter: new ValibotJsonSchemaAdapter(), capabilities },
);
const schema = v.object({ first: v.number(), second: v.number() });
server.tool({ name: 'add', description: 'Adds two numbers and returns their sum.', schema }, async ({ first, second }) => ({
  content: [{ type: 'text', text: String(first + second) }],
}));
const uri = 'memo://welcome';
server.resource({ name: 'welcome', description: 'The text that newcomers read first.', uri }, async () => ({
  contents: [{ uri, text: 'Welcome' }],
}));
server.prompt({ name: 'summarise', description: 'Summarises a text.' }, async () => ({
  messages: [{ role: 'user', content: { type: 'text', text: 'Summarise.' } }],
}));

const transport = new HttpTransport(server);
createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = parts.length ? Buffer.concat(parts) : undefined;
  const answer = await transport.respond(
    new Request(`http://${request.headers.host}${request.url}`, { method: request.method, headers: request.headers, body }),
  );
  response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []));
  if (answer?.body) Readable.fromWeb(answer.body).on('error', () => response.end()).pipe(response);
  else response.end();
}).listen(Number(process.argv[2]), '127.0.0.1');
