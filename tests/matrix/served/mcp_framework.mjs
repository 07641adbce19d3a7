// A small server on mcp-framework: mcp_framework.mjs TRANSPORT PORT.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

// This file lies outside of the folder that has the packages.
const require = createRequire(`${process.cwd()}/`);
const { MCPServer, MCPTool } = await import(pathToFileURL(`${process.cwd()}/node_modules/mcp-framework/dist/index.js`));
const { z } = await import(pathToFileURL(require.resolve('zod')));

const [transport, port] = [process.argv[2], Number(process.argv[3])];

globalThis.Add = class extends MCPTool {
  name = 'add';
  description = 'Adds two whole numbers and returns their sum.';
  schema = { first: { type: z.number(), description: 'One.' }, second: { type: z.number(), description: 'The other.' } };
  execute = async ({ first, second }) => String(first + second);
};

// The framework finds its tools in a folder.
const basePath = dirname(process.env.MATRIX_COUNT);
mkdirSync(`${basePath}/tools`);
writeFileSync(`${basePath}/package.json`, '{"type":"module"}');
writeFileSync(`${basePath}/tools/Add.js`, 'export default globalThis.Add;\n');

const responseMode = transport === 'json' ? 'batch' : 'stream';
const [type, options] = transport === 'sse' ? ['sse', {}] : ['http-stream', { responseMode }];
const server = new MCPServer({ name: 'small', version: '1.2.3', basePath, transport: { type, options: { port, ...options } } });
await server.start();
