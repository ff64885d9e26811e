// A model on loopback that has made up its mind: it answers the Responses API, each turn with the next call of a list, at last
// with a word of farewell. What it was given back is written to a file, one JSON value for each call.
//
//   node model.mjs CALLS.json RESULTS.json      prints the port
import fs from 'node:fs';
import http from 'node:http';

const [callsFile, resultsFile] = process.argv.slice(2);
const calls = JSON.parse(fs.readFileSync(callsFile, 'utf8'));
let turn = 0;

// outputs are the results of the calls so far, as the model reads them.
function outputs(input) {
  return input.filter(item => item.type === 'function_call_output').map(item =>
    typeof item.output === 'string' ? item.output : item.output.map(part => part.text ?? `[${part.type}]`).join('\n'));
}

// tools are what the model could call: the names of each name space.
function tools(body) {
  return Object.fromEntries(body.tools.filter(t => t.type === 'namespace').map(t => [t.name, t.tools.map(tool => tool.name)]));
}

const server = http.createServer((request, response) => {
  let text = '';
  request.on('data', part => { text += part; });
  request.on('end', () => {
    if (request.method !== 'POST' || !request.url.endsWith('/responses')) {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(text);
    const call = calls[turn++];
    const id = `resp_${turn}`;
    fs.writeFileSync(resultsFile, JSON.stringify({ tools: tools(body), outputs: outputs(body.input) }));
    const item = call
      ? { type: 'function_call', id: `fc_${turn}`, call_id: `call_${turn}`, namespace: call.namespace, name: call.name, arguments: JSON.stringify(call.arguments) }
      : { type: 'message', id: `msg_${turn}`, role: 'assistant', content: [{ type: 'output_text', text: 'done' }] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } },
    ]) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
