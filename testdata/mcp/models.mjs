// Stand-ins for models on loopback that have made up their minds: each turn makes the next call of a list, the last one says farewell. It
// speaks the Messages API, the Responses API, Chat Completions and Gemini's, streamed or not. The tool of a call is the one of toolhost with
// that name, as the client offers it.
//
//   node models.mjs CALLS.json GIVEN.json      prints the port
//
// GIVEN.json has what the model was given: offered, the names of all tools, and outputs, the text of each call's result.
import fs from 'node:fs';
import http from 'node:http';

const [callsFile, givenFile] = process.argv.slice(2);
const calls = JSON.parse(fs.readFileSync(callsFile, 'utf8'));

// text joins the parts of a content.
const text = content => typeof content === 'string' ? content : (content ?? []).map(part => part.text ?? `[${part.type}]`).join('\n');

const sse = events => events.map(([event, data]) => `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('');

// Each protocol: offered and outputs read a request, reply writes an answer with a call or a text.
const messages = {
  offered: body => (body.tools ?? []).map(tool => tool.name),
  outputs: body => body.messages.flatMap(m => Array.isArray(m.content) ? m.content : []).filter(p => p.type === 'tool_result').map(p => text(p.content)),
  reply(body, call, id) {
    const block = call ? { type: 'tool_use', id, name: call.name, input: call.arguments } : { type: 'text', text: 'done' };
    const stop = call ? 'tool_use' : 'end_turn';
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: body.model, content: [block], stop_reason: stop, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    if (!body.stream) return message;
    const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) } : { type: 'text_delta', text: 'done' };
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    return sse(events.map(e => [e.type, e]));
  },
};

const responses = {
  offered: body => (body.tools ?? []).flatMap(tool => tool.type === 'namespace' ? tool.tools.map(t => `${tool.name}\n${t.name}`) : [tool.name ?? tool.type]),
  outputs: body => body.input.filter(item => item.type === 'function_call_output').map(item => text(item.output)),
  reply(body, call, id) {
    const [namespace, name] = call?.name.includes('\n') ? call.name.split('\n') : [undefined, call?.name];
    const item = call
      ? { type: 'function_call', id: `fc_${id}`, call_id: id, namespace, name, arguments: JSON.stringify(call.arguments) }
      : { type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text: 'done' }] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return sse([
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id, usage } },
    ].map(e => [e.type, e]));
  },
};

const completions = {
  offered: body => (body.tools ?? []).map(tool => tool.function.name),
  outputs: body => body.messages.filter(m => m.role === 'tool').map(m => text(m.content)),
  reply(body, call, id) {
    const head = { id: `chat_${id}`, created: 1, model: body.model };
    const made = call && [{ index: 0, id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }];
    const message = call ? { role: 'assistant', content: null, tool_calls: made } : { role: 'assistant', content: 'done' };
    const finish = call ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!body.stream) return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage };
    const chunk = choices => ['', { ...head, object: 'chat.completion.chunk', choices }];
    return sse([
      chunk([{ index: 0, delta: message, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: finish }]),
      ['', { ...head, object: 'chat.completion.chunk', choices: [], usage }],
      ['', '[DONE]'],
    ]);
  },
};

const gemini = {
  offered: body => (body.tools ?? []).flatMap(tool => tool.functionDeclarations ?? []).map(f => f.name),
  outputs: body => body.contents.flatMap(c => c.parts ?? []).filter(p => p.functionResponse).map(p => {
    const r = p.functionResponse.response;
    return r.output ?? r.error ?? text(r.content) ?? JSON.stringify(r);
  }),
  reply(body, call) {
    const part = call ? { functionCall: { name: call.name, args: call.arguments } } : { text: 'done' };
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    return body.stream ? sse([['', answer]]) : answer;
  },
};

// protocol finds the one that a path belongs to.
function protocol(path, body) {
  if (path.endsWith('/messages')) return messages;
  if (path.endsWith('/responses')) return responses;
  if (path.endsWith('/chat/completions')) return completions;
  if (/:(stream)?[gG]enerateContent$/.test(path)) {
    body.stream = path.endsWith(':streamGenerateContent');
    return gemini;
  }
  return undefined;
}

// answer is what a request gets. A request that offers no tools of toolhost is a side matter of the client, and gets a word.
function answer(path, body) {
  const p = protocol(path, body);
  if (!p) return /count/i.test(path) ? { input_tokens: 1, totalTokens: 1 } : undefined;
  const offered = p.offered(body);
  if (!offered.some(name => name.includes('toolhost'))) return p.reply(body, undefined, 'side');
  const outputs = p.outputs(body);
  fs.writeFileSync(givenFile, JSON.stringify({ offered, outputs }));
  const next = calls[outputs.length];
  const name = next && offered.find(o => o.includes('toolhost') && o.endsWith(next.tool) && !/[a-z]/.test(o.at(-next.tool.length - 1)));
  return p.reply(body, name && { name, arguments: next.arguments }, `call_${outputs.length + 1}`);
}

const server = http.createServer((request, response) => {
  let received = '';
  request.on('data', part => { received += part; });
  request.on('end', () => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const said = request.method === 'POST' && answer(pathname, JSON.parse(received || '{}'));
    if (process.env.MODELS_LOG) fs.appendFileSync(process.env.MODELS_LOG, `${request.method} ${request.url} ${received.length}\n`);
    if (!said) return response.writeHead(404).end();
    const stream = typeof said === 'string';
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    return response.end(stream ? said : JSON.stringify(said));
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
