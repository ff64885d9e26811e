// Drives a server over HTTP with many clients of the MCP project's TypeScript SDK at once, and prints one line for each way.
//
//   node crowd.mjs MODE NODE_MODULES URL CLIENTS CALLS     MODE: legacy or modern; TOOLHOST_TOKEN is the server's token
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [mode, modules, server] = process.argv.slice(2);
const [many, calls] = process.argv.slice(5).map(Number);
const require = createRequire(pathToFileURL(path.join(path.resolve(modules), 'x.js')));
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client')));

const failed = new Map(); // the words of an error: how often
const fails = error => {
  const words = `${error.message} ${error.cause?.code ?? ''}`.slice(0, 160);
  failed.set(words, (failed.get(words) ?? 0) + 1);
};
const clients = Array.from({ length: many }, (_, i) => {
  const client = new Client({ name: `crowd-${i}`, version: '1' }, { versionNegotiation: { mode: mode === 'modern' ? 'auto' : 'legacy' } });
  client.onerror = fails;
  return client;
});
await Promise.all(clients.map(client => client.connect(new StreamableHTTPClientTransport(new URL(server), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOOLHOST_TOKEN}` } },
})).catch(fails)));

let answered = 0;
const call = async (client, i) => {
  try {
    const result = await client.callTool({ name: 'read', arguments: { path: 'notes.txt' } });
    if (result.isError || !JSON.stringify(result).includes('the needle is here')) throw new Error(`wrong: ${JSON.stringify(result)}`);
    answered++;
  } catch (error) {
    fails(error);
  }
};
const one = async client => { for (let i = 0; i < calls; i++) await call(client, i); };
const all = client => Promise.all(Array.from({ length: calls }, (_, i) => call(client, i)));
let wrong = false;
for (const [name, run] of [['each client one call after the other', one], ['all calls at once', all]]) {
  answered = 0;
  failed.clear();
  const began = performance.now();
  await Promise.all(clients.map(run));
  const took = Math.round(performance.now() - began);
  const bad = failed.size > 0 || answered !== many * calls;
  wrong ||= bad;
  console.log(`${bad ? 'FAIL ' : 'ok   '} ${mode}: ${many} clients, ${calls} calls each, ${name}: ${answered} of ${many * calls} answered, ${took} ms`);
  for (const [words, n] of failed) console.log(`      ${n} × ${words}`);
}
await Promise.all(clients.map(client => client.close().catch(() => {})));
process.exit(wrong ? 1 : 0);
