// A small server on the fastmcp package of npm: fastmcp.mjs TRANSPORT PORT.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.cwd()}/`);
const { FastMCP } = await import(pathToFileURL(require.resolve('fastmcp')));
const { z } = await import(pathToFileURL(require.resolve('zod')));

const [transport, port] = [process.argv[2], Number(process.argv[3])];
const server = new FastMCP({ name: 'small', version: '1.2.3' });
server.addTool({
  name: 'add',
  description: 'Adds two whole numbers and returns their sum.',
  parameters: z.object({ first: z.number().int(), second: z.number().int() }),
  execute: async ({ first, second }) => String(first + second),
});
await server.start({
  transportType: 'httpStream',
  httpStream: { port, host: '127.0.0.1', endpoint: '/mcp', stateless: transport === 'stateless' },
});
