package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
	"toolhost/testdata/support/conform"
)

// provocation is how a test brings a tool to show its capabilities.
type provocation struct {
	tool  string
	plain string // an input that works, and is sent twice
	large string // one with much output
	slow  string // one that takes long; empty: a call with the plain input that waits for another call
}

// underWay is what the slow call of a tool says that tells progress.
const underWay = "it is under way"

// userToken is a credential in the environment of the host.
const userToken = "a-token-of-the-user"

// provoker runs provocations in one session. JOB, ENDED and DEAF in an input are jobs: one that copies its input,
// one that is ended, and one that neither reads its input nor ends by a signal. TICKS is one that prints.
type provoker struct {
	*planter
	jobs     *strings.Replacer
	observed map[string]map[string]bool // by tool and capability
	contents map[string]map[string]bool // by tool: the types of its blocks
}

// TestCapabilitiesAreObserved provokes each capability of each tool: what its execution profile declares is what is seen, whether it is yes or
// no. Blocks of a result are of the types that the declaration lists.
func TestCapabilitiesAreObserved(t *testing.T) {
	conform.Held(t, "AT-261", "AT-262", "AT-295", "AT-450", "AT-451", "AT-452", "AT-454", "AT-455", "AT-456", "AT-457", "AT-458", "AT-459", "AT-460", "AT-461", "AT-462")
	t.Parallel()
	p := newProvoker(t)
	for _, c := range []provocation{
		{"shell", `{"command":"echo x >> log; cat log; env"}`, `{"command":"seq 100000"}`, `{"command":"echo ` + underWay + `; sleep 60"}`},
		{"shell_output", `{"job":"TICKS","wait_ms":500}`, `{"job":"TICKS","cursor":0}`, `{"job":"DEAF","until":"exit","wait_ms":60000}`},
		{"shell_input", `{"job":"JOB","text":"some words\n"}`, `{"job":"JOB","text":"TEXT"}`, `{"job":"DEAF","text":"a word\n","wait_ms":60000}`},
		{"shell_kill", `{"job":"ENDED"}`, `{"job":"ENDED"}`, `{"job":"DEAF","grace_ms":60000}`},
		{"read", `{"path":"small.txt"}`, `{"path":"large.txt","limit":10000}`, ""},
		{"write", `{"path":"made.txt","content":"one\n"}`, `{"path":"new.txt","content":"TEXT"}`, ""},
		{"edit", `{"path":"small.txt","old_string":"one","new_string":"two"}`, `{"path":"small.txt","old_string":"two","new_string":"TEXT"}`, ""},
		{"grep", `{"pattern":"one"}`, `{"pattern":".","path":"large.txt","limit":10000}`, ""},
		{"glob", `{"pattern":"*.txt"}`, `{"pattern":"many/*","limit":10000}`, ""},
	} {
		p.provoke(c)
	}
	var view struct {
		Result struct {
			Declarations []agenttool.Declaration      `json:"declarations"`
			Profiles     []agenttool.ExecutionProfile `json:"execution_profiles"`
		} `json:"result"`
	}
	if err := json.Unmarshal(p.request("surface", obj{}), &view); err != nil || len(view.Result.Profiles) != len(p.observed) {
		t.Fatalf("%d profiles, %d tools, %v", len(view.Result.Profiles), len(p.observed), err)
	}
	for i, d := range view.Result.Declarations {
		x, seen := view.Result.Profiles[i], p.observed[d.Name]
		for capability, declared := range map[string]bool{
			"progress": x.SupportsProgress, "cancel": x.SupportsCancel, "timeout": x.SupportsTimeout, "retries": x.SupportsRetries,
			"partial results": x.SupportsPartialResults, "background": x.SupportsBackground, "result persistence": x.SupportsResultPersistence,
			"artifacts": x.SupportsArtifacts, "context modifiers": x.SupportsContextModifiers, "sandboxed": x.Sandboxed,
			"credential delegation": x.SupportsCredentialDelegation, "offline": x.SupportsOffline,
		} {
			if seen[capability] != declared {
				t.Errorf("%s: %s: declared %v, observed %v", d.Name, capability, declared, seen[capability])
			}
		}
		for kind := range p.contents[d.Name] {
			if !slices.Contains(d.OutputContract.ContentTypes, kind) {
				t.Errorf("%s: a result has a block of type %s, which its declaration %v lacks", d.Name, kind, d.OutputContract.ContentTypes)
			}
		}
	}
}

func newProvoker(t *testing.T) *provoker {
	t.Helper()
	dir := t.TempDir()
	p := &provoker{planter: &planter{dir: dir}, observed: map[string]map[string]bool{}, contents: map[string]map[string]bool{}}
	p.serving = startServing(t, dir, t.TempDir(), []string{"env", "SERVICE_TOKEN=" + userToken}, "--allow", "Shell", "--allow", "Write")
	p.file("small.txt", "one\n")
	p.file("large.txt", strings.Repeat("a line of some words\n", 20_000))
	for i := range 3000 {
		p.file(filepath.Join("many", fmt.Sprintf("%0100d", i)), "")
	}
	p.request("hello", obj{"client": obj{"name": "provoker"}, "events": "all"})
	p.jobs = strings.NewReplacer("JOB", p.job("tee -a copied"), "ENDED", p.job("true"), "TICKS", p.job("for ((i = 0; i < 3000; i++)); do echo $i; sleep 0.02; done"), "DEAF", p.job("trap '' TERM INT; while :; do sleep 0.2; done"),
		"TEXT", strings.Repeat(`some more words\n`, 4000))
	return p
}

// file writes a file of the workspace, in a directory that may be missing.
func (p *provoker) file(name, content string) {
	if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o700); err != nil {
		p.planter.t.Fatal(err)
	}
	p.planter.file(name, content)
}

// job starts a job.
func (p *provoker) job(command string) string {
	p.t.Helper()
	return p.call("shell", obj{"command": command, "run_in_background": true}).Structured.Job
}

// provoked is how a call ended.
type provoked struct {
	host.Completion
	Structured struct {
		Job     string `json:"job"`
		Sandbox level  `json:"sandbox"`
	}
}

func (p *provoker) call(tool string, input any) provoked {
	p.t.Helper()
	return p.read(p.invoke(tool, input))
}

// smallClient makes a call as a client that shows little of a result, and returns what the log has of it.
func (p *provoker) smallClient(tool string, input json.RawMessage) provoked {
	p.t.Helper()
	p.calls++
	id := fmt.Sprintf("small%d", p.calls)
	p.answer(fmt.Sprint(p.calls), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"callId":%q,`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},`+
		`"io.modelcontextprotocol/clientInfo":{"name":"codex-mcp-client","version":"1"}}}}`, p.calls, tool, input, id))
	c, logged := readLogAccount(p.planter.t.(*testing.T), p.log()).calls[id]
	if !logged {
		p.t.Fatalf("%s is not in the log", id)
	}
	return provoked{Completion: host.Completion{Invocation: c.Invocation, Result: c.Result, Persistence: c.Persistence}}
}

func (p *provoker) read(answer []byte) (got provoked) {
	p.t.Helper()
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	var c rebuilt
	if err := json.Unmarshal(answer, &m); err != nil || json.Unmarshal(m.Result, &c) != nil {
		p.t.Fatalf("%.500s: %v", answer, err)
	}
	got.Completion = host.Completion{Invocation: c.Invocation, Result: c.Result, Persistence: c.Persistence}
	_ = json.Unmarshal(got.Result.StructuredContent, &got.Structured) // failed calls have none
	return got
}

// provoke brings one tool to show what it does.
func (p *provoker) provoke(c provocation) {
	p.t.Helper()
	seen := map[string]bool{}
	p.observed[c.tool], p.contents[c.tool] = seen, map[string]bool{}
	before := p.workspace()
	first := p.take(c.tool, p.call(c.tool, p.input(c.plain)))
	once := p.workspace()
	second := p.take(c.tool, p.call(c.tool, p.input(c.plain)))
	seen["offline"] = first.Result.Status == agenttool.ResultSucceeded // no host can be reached
	if !seen["offline"] || !p.contents[c.tool]["text"] || len(first.Result.StructuredContent) == 0 {
		p.t.Errorf("%s: a call that works has no text, or no structured content: %+v", c.tool, first.Result)
	}
	seen["retries"] = second.Result.Status == first.Result.Status && p.workspace() == once && (before != once || texts(first) == texts(second))
	seen["credential delegation"] = strings.Contains(texts(first), userToken)
	large := p.take(c.tool, p.smallClient(c.tool, p.input(c.large)))
	if c.tool == "read" && large.Persistence.Strategy != agenttool.NeverPersist {
		p.t.Errorf("a page of a file is placed by %s", large.Persistence.Strategy)
	}
	seen["result persistence"] = large.Persistence.Strategy == agenttool.PreviewAndPersist || large.Persistence.Strategy == agenttool.RefOnly
	p.take(c.tool, p.interrupted(c, `"timeout_ms":500,`, nil))
	p.take(c.tool, p.interrupted(c, "", func(id string) {
		p.send(`{"jsonrpc":"2.0","id":"cancel","method":"agenttool/cancel","params":{"id":"` + id + `"}}`)
	}))
	if c.tool == "shell" {
		p.take(c.tool, p.call("shell", obj{"command": "mkdir -p sub && cd sub"}))
		p.take(c.tool, p.call("shell", obj{"command": "cd .."}))
		p.take(c.tool, p.call("shell", obj{"command": "echo so far; sleep 60", "timeout_ms": 1000}))
	}
}

func (p *provoker) input(text string) json.RawMessage { return json.RawMessage(p.jobs.Replace(text)) }

// texts is what a model reads of a call.
func texts(c provoked) string {
	var all strings.Builder
	for _, b := range c.Result.Content {
		all.WriteString(b.Text + b.Diff + "\n")
	}
	return all.String()
}

// workspace is all files of the workspace.
func (p *provoker) workspace() string {
	p.t.Helper()
	var all strings.Builder
	for _, name := range []string{"log", "small.txt", "made.txt", "new.txt", "copied"} {
		text, _ := os.ReadFile(filepath.Join(p.dir, name))
		fmt.Fprintf(&all, "%s %q\n", name, text)
	}
	return all.String()
}

// take notes what the result of a call shows.
func (p *provoker) take(tool string, got provoked) provoked {
	p.t.Helper()
	if e := got.Result.Error; e != nil && (e.Class == agenttool.SchemaValidationFailed || e.Class == agenttool.ApprovalRejected) {
		p.t.Errorf("%s: the call shows nothing: %+v", tool, e)
	}
	seen := p.observed[tool]
	for capability, shown := range map[string]bool{
		"artifacts": len(got.Result.ArtifactRefs) > 0, "context modifiers": got.Result.Extra["context_modifiers"] != nil,
		"background": got.Invocation.Status == agenttool.StatusYielded, "partial results": got.Result.Status == agenttool.ResultPartialSucceeded,
		"timeout": got.Result.Status == agenttool.ResultTimedOut, "cancel": got.Result.Status == agenttool.ResultCanceled,
		"sandboxed": got.Structured.Sandbox.Level != "" && got.Structured.Sandbox.Level != "none",
	} {
		seen[capability] = seen[capability] || shown
	}
	for _, b := range got.Result.Content {
		p.contents[tool][b.Type] = true
	}
	for _, line := range p.heard {
		var m struct {
			Params struct {
				Event agenttool.Event `json:"event"`
			} `json:"params"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			p.t.Fatal(err)
		}
		var data struct {
			Progress agenttool.Progress `json:"progress"`
		}
		if e := m.Params.Event; e.EventType == agenttool.EventProgress && e.InvocationID == got.Invocation.InvocationID && json.Unmarshal(e.Data, &data) == nil {
			seen["progress"] = seen["progress"] || data.Progress.Status == "running"
		}
	}
	return got
}

// interrupted runs a call that takes long and does not come to its end by itself: it has params of its own, or is disturbed after a while, one
// that tells progress when it has told some.
func (p *provoker) interrupted(c provocation, params string, disturb func(id string)) provoked {
	p.t.Helper()
	input, goes := c.slow, ""
	if input == "" {
		input = c.plain
		p.calls++
		goes = fmt.Sprintf("goes%d", p.calls) // it may touch anything, and so runs alone
		p.send(invocation(p.calls, "shell", fmt.Sprintf(`{"command":"eval \"$NOTHING\"; until [ -e %s ]; do sleep 0.02; done"}`, goes)))
	}
	p.calls++
	id := fmt.Sprintf("c%d", p.calls)
	if disturb != nil && strings.Contains(input, underWay) {
		once := sync.OnceFunc(func() { disturb(id) })
		p.hears = func(line []byte) {
			if bytes.Contains(line, []byte(`"tool.invocation.progress"`)) && bytes.Contains(line, []byte(underWay)) {
				once()
			}
		}
		defer func() { p.hears = nil }()
	} else if disturb != nil {
		time.AfterFunc(500*time.Millisecond, func() { disturb(id) })
	}
	line := strings.Replace(invocation(p.calls, c.tool, string(p.input(input))), `"tool"`, params+`"tool"`, 1)
	got := p.read(p.answer(fmt.Sprint(p.calls), line))
	if goes != "" {
		p.file(goes, "")
	}
	return got
}
