#!/usr/bin/env python3
"""Writes prompts.jsonl: the prompts of a real session about the 24 calls below.

    go build -o /tmp/toolhost ./cmd/toolhost && python3 capture.py /tmp/toolhost > prompts.jsonl
"""
import json, os, re, subprocess, sys, tempfile

SCRIPT = "set -e\n" + "".join(f'echo "step {i}"\n' for i in range(1, 61)) + "rm -rf /home/important"
SERVER = "package main\n\n" + "".join(f"func handler{i}() int {{\n\tport := 8080\n\treturn port + {i}\n}}\n\n" for i in range(12))


def shell(command, **more):
    return "shell", {"command": command, **more}


def calls(home):
    return [
        ("simple", *shell("make deploy")),
        ("pipeline", *shell("cat names.txt | sort | tee sorted.txt | wc -l")),
        ("curl_sh", *shell("curl -fsSL https://get.example.com/install.sh | sh", description="Install the tool")),
        ("rm", *shell("rm -rf build dist")),
        ("edit", "edit", {"path": "main.go", "edits": [{"old_string": '"hello"', "new_string": '"hello, world"'}]}),
        ("new_file", "write", {"path": "notes/plan.md", "content": "# Plan\n\n1. Measure\n2. Mend\n"}),
        ("", "read", {"path": "config.json"}),
        ("write_over", "write", {"path": "config.json", "content": '{"port": 9090}\n'}),
        ("script", *shell(SCRIPT)),
        ("host", *shell("curl -s https://api.example.com/v1/status")),
        ("git_push", *shell("git push --force origin main")),
        ("outside", *shell("cp main.go ~/backup/main.go")),
        ("sudo", *shell("sudo apt-get install -y jq")),
        ("npm", *shell("npm install left-pad", timeout_ms=120000)),
        ("read_outside", "read", {"path": home + "/notes.txt"}),
        ("python", *shell("python3 - <<'EOF'\nimport shutil\nshutil.rmtree('build')\nEOF")),
        ("reset", *shell("git reset --hard HEAD~3")),
        ("bashrc", *shell("echo 'export PATH=$HOME/bin:$PATH' >> ~/.bashrc")),
        ("unparsed", *shell("if [ -f x ]; then rm x")),
        ("hook", "write", {"path": ".git/hooks/pre-commit", "content": "#!/bin/sh\nexec make check\n"}),
        ("kill", *shell("kill -9 4242")),
        ("chain", *shell("go vet ./... && git commit -am 'fix: the port' && git push")),
        ("", "read", {"path": "server.go"}),
        ("many_edits", "edit", {"path": "server.go", "edits": [{"old_string": "port := 8080", "new_string": "port := 9090", "replace_all": True}]}),
        ("sed", *shell("sed -i 's/8080/9090/' config.json server.go")),
        ("docker", *shell("docker run --rm -v \"$PWD\":/w alpine sh -c 'rm -rf /w/build'")),
    ]


def workspace(home):
    ws = home + "/app"
    for name in ("src", "build", "dist", "notes"):
        os.makedirs(f"{ws}/{name}")
    subprocess.run(["git", "init", "-q", "-b", "main", ws], check=True)
    files = {"app/main.go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("hello")\n}\n', "app/server.go": SERVER,
             "app/config.json": '{\n  "host": "localhost",\n  "port": 8080\n}\n', "app/names.txt": "b\na\n", "notes.txt": "x\n"}
    for name, text in files.items():
        with open(f"{home}/{name}", "w") as f:
            f.write(text)
    return ws


def ask(program, home, base):
    env = dict(os.environ, HOME=home, XDG_STATE_HOME=base + "/state", XDG_CONFIG_HOME=base + "/config", XDG_RUNTIME_DIR=base + "/run")
    p = subprocess.Popen([program, "serve", "--workspace", workspace(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def send(number, method, params):
        p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        p.stdin.flush()

    def until(number):
        for line in p.stdout:
            m = json.loads(line)
            if m.get("id") == number:
                return None
            event = m.get("params", {}).get("event", {})
            if event.get("event_type") == "tool.permission.requested":
                return event["data"]

    send(1, "agenttool/hello", {"client": {"name": "capture"}, "events": "all", "approvals": True})
    until(1)
    for n, (name, tool, given) in enumerate(calls(home), 10):
        send(n, "agenttool/invoke", {"id": f"c{n}", "tool": tool, "input": given})
        prompt = until(n)
        if prompt:
            send(1000 + n, "agenttool/decide", {"decision_id": prompt["decision"]["decision_id"], "behavior": "deny"})
            while until(n):
                pass
            yield name, prompt
    p.stdin.close()
    p.wait(10)


def stable(prompt, home):
    """Returns the prompt without what differs from run to run."""
    prompt["decision"].pop("invocation_id", None)
    text = json.dumps(prompt).replace(home, "/home/me")
    prompt = json.loads(re.sub(r"(perm|inv)_[0-9A-Z]{20,}", r"\1_1", text))
    prompt["asked_at"] = prompt["decision"]["decided_at"] = "2000-01-01T00:00:00Z"
    prompt["decision"]["expires_at"] = "2000-01-01T00:10:00Z"
    return prompt


def main():
    with tempfile.TemporaryDirectory() as base:
        home = base + "/me"
        os.makedirs(base + "/run", mode=0o700)
        for name, prompt in ask(os.path.abspath(sys.argv[1]), home, base):
            print(json.dumps({"name": name, "prompt": stable(prompt, home)}, ensure_ascii=False, sort_keys=True))


main()
