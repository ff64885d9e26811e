package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/redacttest"
)

// planter plants secrets in the channels of one session. Each channel has secrets of its own, so that none is found because another channel
// gave it away.
type planter struct {
	*serving
	dir, hooks string // the workspace, and where the hooks of the session have their answers
	seed       uint64
	all        []redacttest.Secret
	calls      int
	heard      [][]byte          // notifications, but for prompts
	hears      func(line []byte) // of each of them when it comes; nil: nobody asks
	prompt     []byte            // the last one
	decide     string            // the answer to prompts, with DECISION for the id
}

// secrets are new ones, of all kinds. oneLine leaves keys of several lines out.
func (p *planter) secrets(oneLine bool) []redacttest.Secret {
	p.seed++
	made := redacttest.Secrets(1000 + p.seed)
	p.all = append(p.all, made...)
	if oneLine {
		made = slices.DeleteFunc(slices.Clone(made), func(s redacttest.Secret) bool { return strings.Contains(s.Value, "\n") })
	}
	return made
}

// answer sends a request and returns the response. Prompts that come meanwhile are answered.
func (p *planter) answer(id string, line string) []byte {
	p.t.Helper()
	p.send(line)
	for p.out.Scan() {
		b := slices.Clone(p.out.Bytes())
		var m struct {
			ID     json.RawMessage
			Params struct {
				Event struct {
					Type agenttool.EventType `json:"event_type"`
					Data struct{ Decision agenttool.Decision }
				}
			}
		}
		if err := json.Unmarshal(b, &m); err != nil {
			p.t.Fatalf("%s: %v", b, err)
		}
		switch event := m.Params.Event; {
		case string(m.ID) == id:
			return b
		case event.Type == agenttool.EventPermissionRequested:
			p.prompt = b
			p.send(strings.ReplaceAll(p.decide, "DECISION", string(event.Data.Decision.DecisionID)))
		case m.ID == nil:
			p.heard = append(p.heard, b)
			if p.hears != nil {
				p.hears(b)
			}
		}
	}
	p.t.Fatalf("no answer to %.200s", line)
	return nil
}

// request makes a native request and returns the response.
func (p *planter) request(method string, params any) []byte {
	p.t.Helper()
	p.calls++
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.answer(fmt.Sprint(p.calls), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"agenttool/%s","params":%s}`, p.calls, method, raw))
}

// invoke makes a native call and returns the answer.
func (p *planter) invoke(tool string, input any) []byte {
	p.t.Helper()
	return p.request("invoke", obj{"id": fmt.Sprintf("c%d", p.calls+1), "tool": tool, "input": input})
}

// sees reports the secrets that an answer lacks.
func (p *planter) sees(channel string, answer []byte, secrets []redacttest.Secret) {
	p.t.Helper()
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		p.t.Fatal(err)
	}
	text := strings.Join(stringsIn(nil, v), "\n")
	for _, s := range secrets {
		if !strings.Contains(text, s.Value) {
			p.t.Errorf("%s: the model does not read the %s %q in %.1500s", channel, s.Kind, s.Value, text)
			return
		}
	}
}

// obj is a JSON object.
type obj map[string]any

func stringsIn(found []string, v any) []string {
	switch v := v.(type) {
	case string:
		found = append(found, v)
	case []any:
		for _, e := range v {
			found = stringsIn(found, e)
		}
	case map[string]any:
		for name, e := range v {
			found = stringsIn(append(found, name), e)
		}
	}
	return found
}

// some are every nth of the secrets.
func some(secrets []redacttest.Secret, n int) (chosen []redacttest.Secret) {
	for i := 0; i < len(secrets); i += n {
		chosen = append(chosen, secrets[i])
	}
	return chosen
}

// each writes a format once for each secret, with SECRET and NUMBER replaced.
func each(secrets []redacttest.Secret, format string) string {
	var b strings.Builder
	for i, s := range secrets {
		b.WriteString(strings.NewReplacer("SECRET", s.Value, "NUMBER", fmt.Sprint(i)).Replace(format))
	}
	return b.String()
}

func (p *planter) file(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// TestSecretsOfAllChannels plants 42 secrets of 38 kinds in each of the ways by which text comes into a session. The model and the person read
// them all; no part of one is in a stored byte, in an event, or in the output of the log commands.
func TestSecretsOfAllChannels(t *testing.T) {
	conform.Held(t, "AT-394")
	home, state := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(state, "cache"))
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(state, "run"))
	p := &planter{serving: &serving{t: t}, dir: t.TempDir(), hooks: home}
	variable := p.secrets(true)
	for i, s := range variable {
		t.Setenv(fmt.Sprintf("GIVEN_%d", i), s.Value)
	}
	p.setHooks()
	p.serving = startServing(t, p.dir, state, nil, "--sandbox", "none", "--allow", "Shell", "--allow", "Write", "--ask", "Shell(askme *)")
	greeting := p.secrets(true)
	p.request("hello", obj{"client": obj{"name": greeting[0].Value, "version": greeting[1].Value}, "events": "all", "approvals": true})
	for _, plant := range channels {
		plant(p)
	}
	_ = p.in.Close()
	for p.out.Scan() {
		p.heard = append(p.heard, slices.Clone(p.out.Bytes()))
	}
	p.checkLeaks(state)
}

// setHooks has hooks answer with the files of p.hooks: one after each glob, and one that denies each read of denied.txt.
func (p *planter) setHooks() {
	p.t.Helper()
	settings := fmt.Sprintf(`{"hooks":{"post_tool_use":[{"matcher":{"tool":"glob"},"command":["/bin/cat","%[1]s/after"]}],
		"pre_tool_use":[{"matcher":{"tool":"read","input":"Read(denied.txt)"},"command":["/bin/sh","-c","cat %[1]s/why >&2; exit 2"]}]}}`, p.hooks)
	file := filepath.Join(p.hooks, ".config/toolhost/settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// checkLeaks looks for secrets in everything that is stored, in events, and in the output of commands about the log.
func (p *planter) checkLeaks(state string) {
	p.t.Helper()
	leaks := redacttest.NewLeaks(p.all)
	found, err := leaks.Below(state)
	found = slices.DeleteFunc(found, func(place string) bool { // files as they were, and their names, for undo: nobody is shown them
		return strings.Contains(place, filepath.Join(state, "toolhost/copies"))
	})
	if err != nil {
		p.t.Error(err)
	}
	for _, b := range p.heard {
		found = append(found, leaks.In("an event", b)...)
	}
	log, err := os.ReadFile(p.log())
	images := encodedBytes.FindAllSubmatch(log, -1)
	if err != nil || len(images) == 0 {
		p.t.Errorf("the log has no image, %v", err)
	}
	for _, image := range images {
		data, err := base64.StdEncoding.DecodeString(string(image[1]))
		if err != nil || !bytes.HasPrefix(data, []byte(pngHead)) {
			p.t.Errorf("%.100q, %v", data, err)
		}
		found = append(found, leaks.In("an image", data)...)
	}
	for _, args := range []string{"show", "show --json", "show --diff --output --why", "show --call c5", "grep .", "grep --json .", "stats", "verify"} {
		cmd := exec.Command(p.cmd.Path, append([]string{"log"}, strings.Fields(args)...)...)
		cmd.Env, cmd.Dir = p.cmd.Env, p.dir
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) == 0 {
			p.t.Errorf("log %s: %v, %s", args, err, out)
		}
		found = append(found, leaks.In("log "+args, out)...)
	}
	for i, place := range found {
		if i == 20 {
			p.t.Fatalf("and %d more", len(found)-i)
		}
		p.t.Error(place)
	}
}

// pngHead begins an image.
const pngHead = "\x89PNG\r\n\x1a\n"

// pngWith returns an image of one pixel with the secrets in its comments, which stand behind the header.
func pngWith(t testing.TB, secrets []redacttest.Secret) string {
	var pixel bytes.Buffer
	if err := png.Encode(&pixel, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	const header = len(pngHead) + 4 + len("IHDR") + 13 + 4
	b := bytes.Clone(pixel.Bytes()[:header])
	for _, s := range secrets {
		text := "tEXtComment\x00" + s.Value + "\n"
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(text)-len("tEXt"))), text...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(text)))
	}
	return string(append(b, pixel.Bytes()[header:]...))
}

// encodedBytes are the bytes of an image in a record.
var encodedBytes = regexp.MustCompile(`"type":"image"[^{}]*"data":"([A-Za-z0-9+/=]*)"`)

var channels = []func(p *planter){
	func(p *planter) { // images have words in them
		s := p.secrets(true)
		p.file("image.png", pngWith(p.t, s))
		got := encodedBytes.FindSubmatch(p.invoke("read", obj{"path": "image.png"}))
		if got == nil {
			p.t.Fatal("the model reads no image")
		}
		data, _ := base64.StdEncoding.DecodeString(string(got[1]))
		for _, one := range s {
			if !bytes.Contains(data, []byte(one.Value)) {
				p.t.Errorf("image: the model does not read the %s", one.Kind)
			}
		}
	},
	func(p *planter) {
		s := p.secrets(false)
		p.sees("words", p.invoke("shell", obj{"command": "printf '%s\\n' " + each(s, " 'SECRET'")}), s)
		s = p.secrets(true)
		p.sees("options", p.invoke("shell", obj{"command": "echo " + each(s, " --opt=SECRET -HNUMBER:SECRET x=SECRET,")}), s)
	},
	func(p *planter) {
		s := p.secrets(false)
		p.sees("environment", p.invoke("shell", obj{"command": each(s, "V_NUMBER='SECRET' ") + "env"}), s)
	},
	func(p *planter) {
		s := p.secrets(false)
		p.sees("here-document", p.invoke("shell", obj{"command": "cat <<'END'\n" + each(s, "SECRET\n") + "END"}), s)
	},
	func(p *planter) {
		s := p.secrets(false)
		p.file("read.txt", each(s, "a line\nSECRET\n"))
		p.sees("file", p.invoke("shell", obj{"command": "cat read.txt"}), s)
		s = p.secrets(true)
		p.file("read2.txt", each(s, "key: SECRET\n"))
		p.sees("file", p.invoke("read", obj{"path": "read2.txt"}), s)
	},
	func(p *planter) {
		s := p.secrets(true)
		p.file("hits.txt", each(s, "needle SECRET\n"))
		p.sees("grep", p.invoke("grep", obj{"pattern": "needle", "output_mode": "content"}), s)
		s = p.secrets(true)
		for _, one := range s {
			p.invoke("grep", obj{"pattern": regexp.QuoteMeta(one.Value)})
		}
	},
	func(p *planter) {
		s := p.secrets(false)
		p.invoke("write", obj{"path": "new.txt", "content": each(s, "SECRET\n")})
		p.sees("write", p.invoke("write", obj{"path": "new2.txt", "content": each(s, "SECRET\n")}), s[:5])
		s = p.secrets(false)
		p.file("edit.txt", each(s, "line NUMBER\n"))
		var edits []obj
		for i, one := range s {
			edits = append(edits, obj{"old_string": fmt.Sprintf("line %d\n", i), "new_string": one.Value + "\n"})
		}
		p.sees("edit", p.invoke("edit", obj{"path": "edit.txt", "edits": edits}), s[:5])
	},
	func(p *planter) {
		s := slices.DeleteFunc(p.secrets(true), func(s redacttest.Secret) bool { return strings.Contains(s.Value, "/") || len(s.Value) > 200 })
		for i, one := range s {
			p.file(one.Value, "x")
			if i%4 == 0 {
				p.invoke("write", obj{"path": "sub/" + one.Value, "content": "x"})
				p.invoke("read", obj{"path": one.Value})
			}
		}
		p.sees("glob", p.invoke("glob", obj{"pattern": "*"}), s)
		p.sees("ls", p.invoke("shell", obj{"command": "ls"}), s)
	},
	func(p *planter) {
		s := p.secrets(true)
		p.sees("URLs", p.invoke("shell", obj{"command": "echo " + each(s, " 'https://user:SECRET@example.com/aNUMBER?token=SECRET&b=1#SECRET'")}), s)
	},
	func(p *planter) {
		s := p.secrets(true)
		p.sees("stderr", p.invoke("shell", obj{"command": "cat" + each(s, " ./no-SECRET")}), s)
		for _, one := range p.secrets(true) {
			p.sees("missing file", p.invoke("read", obj{"path": "no/" + one.Value}), []redacttest.Secret{one})
		}
		for _, one := range p.secrets(true) {
			p.sees("unknown tool", p.invoke(one.Value, obj{}), []redacttest.Secret{one})
		}
		for _, one := range p.secrets(true) {
			p.invoke("read", obj{one.Value: 1})
		}
	},
	func(p *planter) {
		for i, one := range some(p.secrets(true), 3) {
			id := fmt.Sprintf("m%d", i)
			got := p.answer(`"`+id+`"`, `{"jsonrpc":"2.0","id":"`+id+`","method":"tools/call","params":{"name":"shell","arguments":{"command":"echo `+one.Value+`"},`+
				`"_meta":{"theirs":"`+one.Value+`","threadId":"`+one.Value+`","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
			p.sees("MCP", got, []redacttest.Secret{one})
		}
	},
	func(p *planter) {
		s := p.secrets(true)
		var b strings.Builder
		for i, one := range s {
			n := len(one.Value)
			if i%6 > 0 {
				fmt.Fprintf(&b, "printf %%s '%s'; printf '%%s\\n' '%s'\n", one.Value[:n/2], one.Value[n/2:])
				continue
			}
			fmt.Fprintf(&b, "printf %%s '%s'; sleep 0.004; printf %%s '%s'; sleep 0.004; printf '%%s\\n' '%s'\n", one.Value[:n/3], one.Value[n/3:n*3/4], one.Value[n*3/4:])
		}
		p.file("chunks.sh", b.String())
		p.sees("chunks", p.invoke("shell", obj{"command": "bash chunks.sh"}), s)
		s = p.secrets(true)
		p.file("slow.sh", "printf %s '"+s[0].Value[:30]+"'; sleep 0.3; printf '%s\\n' '"+s[0].Value[30:]+"'")
		p.sees("slow", p.invoke("shell", obj{"command": "bash slow.sh"}), s[:1])
	},
	func(p *planter) { // hooks
		s := p.secrets(false)
		context, message := []string{}, p.secrets(true)
		for _, one := range s {
			context = append(context, one.Value)
		}
		raw, _ := json.Marshal(obj{"additional_context": context, "message": each(message, "SECRET ")})
		if err := os.WriteFile(filepath.Join(p.hooks, "after"), raw, 0o600); err != nil {
			p.t.Fatal(err)
		}
		p.sees("context", p.invoke("glob", obj{"pattern": "*.none"}), s)
		s = p.secrets(true)
		if err := os.WriteFile(filepath.Join(p.hooks, "why"), []byte(each(s[:20], "not with SECRET\n")), 0o600); err != nil {
			p.t.Fatal(err)
		}
		p.file("denied.txt", "x")
		p.sees("denial", p.invoke("read", obj{"path": "denied.txt"}), s[:20])
	},
	func(p *planter) { // prompts, and what people answer
		s, said, changed := p.secrets(true), p.secrets(true), p.secrets(true)
		raw, _ := json.Marshal(each(said[:20], "SECRET "))
		p.decide = fmt.Sprintf(`{"jsonrpc":"2.0","id":"d","method":"agenttool/decide","params":{"decision_id":"DECISION","behavior":"deny","feedback":%s}}`, raw)
		p.sees("feedback", p.invoke("shell", obj{"command": "askme " + each(s, " SECRET")}), said[:20])
		p.sees("prompt", p.prompt, s)
		raw, _ = json.Marshal("echo " + each(changed, " SECRET"))
		p.decide = fmt.Sprintf(`{"jsonrpc":"2.0","id":"d","method":"agenttool/decide","params":{"decision_id":"DECISION","behavior":"allow","updated_input":{"command":%s}}}`, raw)
		p.sees("change", p.invoke("shell", obj{"command": "askme"}), changed)
	},
	func(p *planter) { // names, ids and references that a client makes up
		for _, s := range some(p.secrets(true), 2) {
			p.request("invoke", obj{"id": s.Value, "tool": "glob", "input": obj{"pattern": "x"}, "actor": s.Value, "batch": s.Value,
				"trace": obj{"traceparent": s.Value}, "mapping": obj{"tool_call_id": s.Value}})
			p.request("cancel", obj{"id": s.Value, "reason": "because of " + s.Value})
			p.request("search", obj{"query": s.Value})
			p.request("load", obj{"names": []string{s.Value}})
			p.request("read_result", obj{"ref": s.Value})
			p.request("surface", obj{"scope": "turn", "role": s.Value})
		}
	},
	func(p *planter) { // jobs: their input, and output that is read in parts and searched
		s := p.secrets(true)
		var started struct {
			Result struct {
				Result struct {
					Structured struct{ Job string } `json:"structured_content"`
				}
			}
		}
		if err := json.Unmarshal(p.invoke("shell", obj{"command": "cat; echo over", "run_in_background": true}), &started); err != nil {
			p.t.Fatal(err)
		}
		job := started.Result.Result.Structured.Job
		s = some(s, 9)
		for i, one := range s {
			p.invoke("shell_input", obj{"job": job, "text": one.Value + "\n"})
			if i%3 == 0 {
				p.invoke("shell_output", obj{"job": job, "cursor": 0, "wait_ms": 1, "until": "match:" + regexp.QuoteMeta(one.Value)})
			}
		}
		p.invoke("shell_input", obj{"job": job, "end": true})
		p.sees("output", p.invoke("shell_output", obj{"job": job, "until": "exit", "cursor": 0}), s)
	},
	func(p *planter) { // output that is cut, and stored
		s := p.secrets(false)
		p.file("long.txt", each(s, strings.Repeat("filler\n", 300)+"SECRET\n"))
		p.sees("end", p.invoke("shell", obj{"command": "cat long.txt"}), s[len(s)-1:])
		p.invoke("shell", obj{"command": "tr '\\n' ' ' < long.txt"})
		p.invoke("grep", obj{"pattern": ".", "path": "long.txt", "output_mode": "content", "limit": 20000})
	},
}
