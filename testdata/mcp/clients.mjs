// Drives `toolhost serve` with the client of the MCP project's TypeScript SDK, and prints one line for each check.
//
//   node clients.mjs MODE NODE_MODULES REPO TOOLHOST     MODE: legacy (initialize) or modern (it finds out)
//   node clients.mjs MODE NODE_MODULES REPO URL          of a server that runs in REPO; TOOLHOST_TOKEN is its token
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [mode, modules, repo, server] = process.argv.slice(2);
const overHTTP = server.startsWith('http:');
const label = `${overHTTP ? 'http' : 'stdio'}, ${mode}`;
const require = createRequire(pathToFileURL(path.join(path.resolve(modules), 'x.js')));
const load = name => import(pathToFileURL(require.resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

let failures = 0;
const checks = [];
const check = (name, run) => checks.push([name, run]);
const say = (ok, name, why) => {
  console.log(`${ok ? 'ok   ' : 'FAIL '} ${label}: ${name}${why ? `: ${why}` : ''}`);
  failures += ok ? 0 : 1;
};
const holds = (condition, what) => {
  if (!condition) throw new Error(typeof what === 'string' ? what : JSON.stringify(what)?.slice(0, 600));
};
const text = result => result.content.map(block => block.text ?? '').join('\n') + (result.structuredContent?.text ?? '');
const within = (ms, promise, what) => Promise.race([promise, new Promise((_, no) => setTimeout(() => no(new Error(`${what}: nothing within ${ms} ms`)), ms).unref())]);
const pause = ms => new Promise(done => setTimeout(done, ms));

// answer is what the person at this client says to the next prompts.
let answer = () => ({ action: 'decline' });
let asked = [];
const newClient = (capabilities, modern) => new Client({ name: 'toolhost-checks', version: '1' }, {
  capabilities, versionNegotiation: { mode: mode === 'modern' ? modern : 'legacy' },
});
const client = newClient({ elicitation: { form: {} }, experimental: { 'dev.toolhost/results': { structured: true, meta: true } } }, 'auto');
client.setRequestHandler('elicitation/create', request => {
  asked.push(request.params);
  return answer(request.params);
});
const newTransport = () => overHTTP
  ? new StreamableHTTPClientTransport(new URL(server), { requestInit: { headers: { Authorization: `Bearer ${process.env.TOOLHOST_TOKEN}` } } })
  : new StdioClientTransport({
    command: server, args: ['serve'], cwd: repo, stderr: 'pipe',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: process.env.XDG_STATE_HOME },
  });
const transport = newTransport();
let complaints = '';
transport.stderr?.on('data', part => { complaints += part; });
const errors = [];
client.onerror = error => {
  // Over HTTP the stream of a call has to end, also of one that was cancelled: with an answer that nobody waits for.
  if (!overHTTP || !/unknown message ID/.test(error.message)) errors.push(error.message);
};

const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const inRepo = name => path.join(repo, name);

check('agrees on a revision', async () => {
  await within(60_000, client.connect(transport), 'connect');
  const want = mode === 'modern' ? '2026-07-28' : '2025-11-25';
  holds(client.getNegotiatedProtocolVersion() === want, `got ${client.getNegotiatedProtocolVersion()}, want ${want}`);
  holds(client.getServerVersion()?.name === 'toolhost', client.getServerVersion());
});

check('lists the tools, with annotations and schemas', async () => {
  const list = await client.listTools();
  const names = list.tools.map(tool => tool.name);
  for (const name of ['read', 'grep', 'glob', 'shell', 'write', 'edit']) holds(names.includes(name), names);
  for (const tool of list.tools) {
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
      holds(typeof tool.annotations?.[hint] === 'boolean', `${tool.name} has no ${hint}`);
    }
    holds(tool.inputSchema.type === 'object' && tool.description && tool.title, `${tool.name} lacks something`);
  }
  const size = Buffer.byteLength(JSON.stringify(list));
  holds(size <= 10_000, `tools/list takes ${size} bytes`);
});

check('reads', async () => {
  const result = await call('read', { path: 'notes.txt' });
  holds(!result.isError && text(result).includes('the needle is here'), result);
  holds(asked.length === 0, 'it asked');
});

check('searches, with structured content', async () => {
  const result = await call('grep', { pattern: 'needle' });
  holds(!result.isError && text(result).includes('notes.txt') && result.structuredContent, result);
});

check('runs a command that only reads, unasked', async () => {
  const result = await call('shell', { command: 'wc -l notes.txt' });
  holds(!result.isError && text(result).includes('3 notes.txt') && asked.length === 0, result);
});

check('has the ids and the status in _meta', async () => {
  const { _meta } = await call('glob', { pattern: '*.txt' });
  holds(_meta?.['dev.toolhost/invocation_id'] && _meta['dev.toolhost/status'] === 'succeeded', _meta);
});

check('a failure is a result', async () => {
  const result = await call('read', { path: 'absent.txt' });
  holds(result.isError && text(result).includes('absent.txt') && !result.structuredContent, result);
});

check('bad arguments are a result', async () => {
  const result = await call('read', { path: 7 });
  holds(result.isError && text(result).includes('path'), result);
});

check('an unknown tool is an error that names the others', async () => {
  const error = await call('rm_rf', {}).then(() => null, e => e);
  holds(error?.code === -32602 && /read/.test(error.message), `${error?.code} ${error?.message}`);
});

check('asks, and runs when it is allowed', async () => {
  asked = [];
  answer = () => ({ action: 'accept', content: { answer: 'allow_once' } });
  const result = await call('shell', { command: 'touch made' });
  holds(!result.isError && fs.existsSync(inRepo('made')), result);
  holds(asked.length === 1 && asked[0].message.includes('touch made') && asked[0].requestedSchema?.properties?.answer, asked);
});

check('asks, and does not run when it is denied', async () => {
  asked = [];
  answer = () => ({ action: 'decline' });
  const result = await call('shell', { command: 'touch never' });
  holds(result.isError && !fs.existsSync(inRepo('never')) && asked.length === 1, result);
});

check('does not run when the prompt is dismissed', async () => {
  asked = [];
  answer = () => ({ action: 'cancel' });
  const result = await call('shell', { command: 'touch never' });
  holds(result.isError && !fs.existsSync(inRepo('never')) && asked.length === 1, result);
});

if (overHTTP) check('without the token, nobody is asked to log in', async () => {
  const paths = [];
  let redirected = false;
  const provider = {
    redirectUrl: 'http://127.0.0.1:9/', clientMetadata: { client_name: 'toolhost-checks', redirect_uris: ['http://127.0.0.1:9/'] },
    clientInformation: () => undefined, saveClientInformation: () => {}, tokens: () => undefined, saveTokens: () => {},
    redirectToAuthorization: () => { redirected = true; }, saveCodeVerifier: () => {}, codeVerifier: () => 'v',
  };
  const spying = async (url, options) => {
    const response = await fetch(url, options);
    paths.push([new URL(url).pathname, response.status, response.headers.get('www-authenticate')]);
    return response;
  };
  const stranger = newClient({}, 'auto');
  const failed = await within(30_000, stranger.connect(new StreamableHTTPClientTransport(new URL(server), { authProvider: provider, fetch: spying })), 'connect').then(() => null, error => error);
  holds(failed && /token of this server|registers no clients|its token/.test(failed.message), failed?.message ?? 'it connected');
  holds(paths[0][0] === '/mcp' && paths[0][1] === 401 && paths[0][2]?.startsWith('Bearer'), paths);
  holds(paths.length > 1 && paths.every(([path, status, challenge]) => path === '/mcp' || status === 404 && !challenge), paths);
  holds(!redirected, 'it was sent to log in');
});

check('is not asked again for what the session has allowed', async () => {
  asked = [];
  answer = () => ({ action: 'accept', content: { answer: 'allow_session' } });
  for (let i = 0; i < 2; i++) {
    const result = await call('shell', { command: 'touch again' });
    holds(!result.isError, result);
  }
  holds(asked.length === 1, `asked ${asked.length} times`);
});

check('who cannot be asked is told the rule', async () => {
  const other = newClient({}, { pin: '2026-07-28' });
  await within(60_000, other.connect(newTransport()), 'connect');
  const result = await other.callTool({ name: 'shell', arguments: { command: 'touch unasked' } });
  await other.close();
  holds(result.isError && text(result).includes('Shell(touch') && !fs.existsSync(inRepo('unasked')), result);
});

check('hears progress', async () => {
  const heard = [];
  answer = () => ({ action: 'accept', content: { answer: 'allow_once' } });
  const result = await call('shell', { command: 'for i in 1 2 3 4; do echo line $i; sleep 0.6; done' }, { onprogress: p => heard.push(p.progress) });
  holds(!result.isError && text(result).includes('line 4'), result);
  holds(heard.length > 0, 'no progress came');
  holds(heard.every((value, i) => i === 0 || value > heard[i - 1]), `it does not increase: ${heard}`);
});

check('cancels, and goes on', async () => {
  answer = () => ({ action: 'accept', content: { answer: 'allow_once' } });
  const stop = new AbortController();
  const running = call('shell', { command: 'while :; do echo >> beats; sleep 0.1; done' }, { signal: stop.signal }).then(() => 'ended', () => 'rejected');
  for (let i = 0; i < 600 && !fs.existsSync(inRepo('beats')); i++) await pause(100);
  holds(fs.existsSync(inRepo('beats')), 'it never ran');
  stop.abort('enough');
  holds(await within(60_000, running, 'the cancelled call') === 'rejected', 'it was not rejected');
  const result = await within(60_000, call('read', { path: 'notes.txt' }), 'the next call');
  holds(!result.isError, result);
  const beats = () => fs.statSync(inRepo('beats')).size;
  for (let i = 0, before = -1; before !== beats(); i++) {
    holds(i < 60, 'the command runs on');
    before = beats();
    await pause(1_000);
  }
});

check('many calls at once', async () => {
  const results = await within(60_000, Promise.all(Array.from({ length: 50 }, (_, i) => call('grep', { pattern: i % 2 ? 'needle' : 'first' }))), '50 calls');
  results.forEach((result, i) => holds(text(result).includes(i % 2 ? 'needle' : 'first'), result));
});

check('large output is linked, and read by page', async () => {
  const result = await call('shell', { command: 'cat large.txt' });
  const link = result.content.find(block => block.type === 'resource_link');
  holds(link?.uri, result);
  holds(JSON.stringify(result).length < 100_000, `the result has ${JSON.stringify(result).length} bytes`);
  const page = await client.readResource({ uri: link.uri });
  holds(page.contents[0].text?.startsWith('line 1\n') || page.contents[0].blob, page);
});

check('what is no resource is an error', async () => {
  const error = await client.readResource({ uri: 'toolhost://nothing/here' }).then(() => null, e => e);
  holds([-32602, -32002].includes(error?.code), `${error?.code} ${error?.message}`);
});

check(overHTTP ? 'ends its session' : 'ends when its input does, and nothing was no message', async () => {
  const pid = transport.pid;
  await within(60_000, client.close(), 'close');
  holds(errors.length === 0, errors);
  if (overHTTP) return;
  let alive = true;
  for (let i = 0; i < 600 && alive; i++) {
    try { process.kill(pid, 0); } catch { alive = false; }
    if (alive) await pause(100);
  }
  holds(!alive, `process ${pid} is still there`);
});

for (const [name, run] of checks) {
  try {
    await within(240_000, run(), name);
    say(true, name);
  } catch (error) {
    say(false, name, error.message);
    if (name === checks[0][0]) break; // nothing else can be tried
  }
}
if (failures > 0 && complaints) console.log(complaints.split('\n').slice(-10).map(line => `      ${line}`).join('\n'));
process.exit(failures > 0 ? 1 : 0);
