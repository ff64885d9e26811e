// A client of toolhost: hello, a batch, a prompt, a job, a replay.  usage: client.mts [TOOLHOST [FLAG...]]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

type Json = any;

class Client {
  readonly host;
  private last = 0;
  private replies = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  private listeners: ((event: Json) => void)[] = [];

  constructor(program: string, args: string[]) {
    this.host = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.host.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      if (message.id === undefined) return this.listeners.forEach((listen) => listen(message.params.event));
      const reply = this.replies.get(message.id)!;
      this.replies.delete(message.id);
      message.error ? reply.reject(new Error(message.error.message)) : reply.resolve(message.result);
    });
  }

  call(method: string, params: Json = {}): Promise<Json> {
    const id = ++this.last;
    this.host.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method: "agenttool/" + method, params }) + "\n");
    return new Promise((resolve, reject) => this.replies.set(id, { resolve, reject }));
  }

  event(type: string): Promise<Json> {
    return new Promise((resolve) => this.listeners.push((event) => event.event_type === type && resolve(event)));
  }
}

const text = (outcome: Json): string => outcome.result.content.map((block: Json) => block.text ?? "").join("\n");
const client = new Client(process.argv[2] ?? "toolhost", ["serve", ...process.argv.slice(3)]);
const hello = await client.call("hello", { client: { name: "example", version: "1" }, events: "progress", approvals: true });
console.log("tools:", hello.declarations.map((tool: Json) => tool.name).sort().join(", "));

const calls = [{ id: "c1", tool: "glob", input: { pattern: "*" } }, { id: "c2", tool: "read", input: { path: "missing.txt" } }];
for (const outcome of (await client.call("batch", { id: "b1", calls })).results)
  console.log(outcome.result.status, "-", text(outcome).split("\n")[0]);

const asked = client.event("tool.permission.requested");
const write = client.call("invoke", { id: "c3", tool: "write", input: { path: "hello.txt", content: "hello\n" } });
const { decision } = (await asked).data;
console.log("asked:", decision.reason.detail);
await client.call("decide", { decision_id: decision.decision_id, behavior: "allow", scope: "once" });
console.log("answer:", text(await write));

const input = { command: "echo working; sleep 1; cat hello.txt", run_in_background: true };
const { job } = (await client.call("invoke", { id: "c4", tool: "shell", input })).result.structured_content;
for (let page: Json = { next_cursor: 0, state: "running" }; page.state === "running" || page.more; ) {
  const wanted = { job, cursor: page.next_cursor, wait_ms: 20000 };
  page = (await client.call("invoke", { id: "c5", tool: "shell_output", input: wanted })).result.structured_content;
  console.log("job:", page.state, JSON.stringify(page.text));
}

const { events } = await client.call("replay", { since_seq: 0 });
console.log("replayed:", events.filter((e: Json) => e.event.event_type === "tool.result.created").length, "results");
await client.call("shutdown");
client.host.on("exit", (code) => process.exit(code ?? 1));
