package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// smallRounds is how often the searches of a small tree are measured: they are short.
const smallRounds = 100

// measureSmall measures the real program over its stdio against starting ripgrep for each search.
func (r *race) measureSmall() (string, error) {
	p, err := r.serve()
	if err != nil {
		return "", err
	}
	defer p.end()
	var b strings.Builder
	b.WriteString("| small, the real program over stdio | rg, ms | ours, ms | ratio | bound |\n|---|---|---|---|---|\n")
	for _, c := range []struct{ name, tool, input, found string }{
		{"grep", "grep", `{"pattern":"func Compare"}`, "func Compare"},
		{"glob", "glob", `{"pattern":"**/*.go"}`, ".go"},
	} {
		args := r.ripgrep("func Compare")
		if c.tool == "glob" {
			args = []string{r.rg, "--no-config", "--files", "-g", "*.go"}
		}
		var ours, theirs times
		for range max(smallRounds, r.rounds) {
			rival, err := spawn(r.dir, args, nil)
			if err != nil {
				return "", err
			}
			mine, err := p.call(c.tool, c.input, c.found)
			if err != nil {
				return "", err
			}
			ours, theirs = append(ours, mine), append(theirs, rival)
		}
		rival, mine := theirs.median().wall, ours.median().wall
		fmt.Fprintf(&b, "| %s | %s | %s | **%.3f** | 0.05, and 0.2 ms |\n", c.name, millis(rival), millis(mine), mine.Seconds()/rival.Seconds())
	}
	return b.String(), nil
}

// program is the real one, serving one client.
type program struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	state string
	id    int
}

func (r *race) serve() (*program, error) {
	state, err := os.MkdirTemp("", "toolhost-race-")
	if err != nil {
		return nil, err
	}
	p := &program{cmd: exec.Command(r.toolhost, "serve", "--workspace", r.dir), state: state}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), "XDG_STATE_HOME="+state), os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	_, _, err = p.request("agenttool/hello", `{"client":{"name":"race","version":"1"}}`)
	return p, err
}

// request sends one and returns the line that comes back, and the time between the two. A client that asked for no
// events gets nothing but replies.
func (p *program) request(method, params string) (line []byte, took time.Duration, err error) {
	p.id++
	text := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.id, method, params)
	begin := time.Now()
	if _, err := p.in.Write(text); err != nil {
		return nil, 0, err
	}
	if line, err = p.out.ReadBytes('\n'); err != nil {
		return nil, 0, err
	}
	took = time.Since(begin)
	var reply struct {
		ID int `json:"id"`
	}
	if err := json.Unmarshal(line, &reply); err != nil || reply.ID != p.id {
		return nil, 0, fmt.Errorf("no reply to request %d: %s (%v)", p.id, line, err)
	}
	return line, took, nil
}

// call has a tool called, whose result must hold some text.
func (p *program) call(tool, input, found string) (cost, error) {
	reply, took, err := p.request("agenttool/invoke", fmt.Sprintf(`{"id":"c%d","tool":%q,"input":%s}`, p.id, tool, input))
	if err == nil && !strings.Contains(string(reply), found) {
		err = errors.New(tool + " found nothing: " + string(reply))
	}
	return cost{wall: took}, err
}

func (p *program) end() {
	p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
	os.RemoveAll(p.state)
}
