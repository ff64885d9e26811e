#!/usr/bin/env python3
"""A client of toolhost: hello, a batch, a prompt, a job, a replay.  usage: client.py [TOOLHOST [FLAG...]]"""
import json, queue, subprocess, sys, threading

class Client:
    def __init__(self, command):
        self.host = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last, self.replies, self.events = 0, {}, queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.host.stdout:
            message = json.loads(line)
            if "id" in message:
                self.replies.pop(message["id"]).put(message)
            else:
                self.events.put(message["params"])

    def send(self, method, **params):
        """Sends a request and returns the queue that gets its reply."""
        self.last += 1
        reply = self.replies[self.last] = queue.Queue()
        request = {"jsonrpc": "2.0", "id": self.last, "method": "agenttool/" + method, "params": params}
        self.host.stdin.write(json.dumps(request) + "\n")
        self.host.stdin.flush()
        return reply

    def call(self, method, **params):
        message = self.send(method, **params).get(timeout=60)
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

def text(outcome):
    return "\n".join(block.get("text", "") for block in outcome["result"]["content"])

client = Client((sys.argv[1:2] or ["toolhost"]) + ["serve"] + sys.argv[2:])
hello = client.call("hello", client={"name": "example", "version": "1"}, events="progress", approvals=True)
print("tools:", ", ".join(sorted(tool["name"] for tool in hello["declarations"])))

outcomes = client.call("batch", id="b1", calls=[
    {"id": "c1", "tool": "glob", "input": {"pattern": "*"}},
    {"id": "c2", "tool": "read", "input": {"path": "missing.txt"}}])["results"]
for outcome in outcomes:
    print(outcome["result"]["status"], "-", text(outcome).splitlines()[0])

write = client.send("invoke", id="c3", tool="write", input={"path": "hello.txt", "content": "hello\n"})
while (event := client.events.get(timeout=60)["event"])["event_type"] != "tool.permission.requested":
    pass
decision = event["data"]["decision"]
print("asked:", decision["reason"]["detail"])
client.call("decide", decision_id=decision["decision_id"], behavior="allow", scope="once")
print("answer:", text(write.get(timeout=60)["result"]))

job = client.call("invoke", id="c4", tool="shell", input={"command": "echo working; sleep 1; cat hello.txt", "run_in_background": True})
page = {"job": job["result"]["structured_content"]["job"], "next_cursor": 0, "state": "running"}
while page["state"] == "running" or page["more"]:
    wanted = {"job": page["job"], "cursor": page["next_cursor"], "wait_ms": 20000}
    page = client.call("invoke", id="c5", tool="shell_output", input=wanted)["result"]["structured_content"]
    print("job:", page["state"], repr(page["text"]))

seen = client.call("replay", since_seq=0)["events"]
print("replayed:", sum(e["event"]["event_type"] == "tool.result.created" for e in seen), "results")
client.call("shutdown")
sys.exit(client.host.wait(timeout=60))
