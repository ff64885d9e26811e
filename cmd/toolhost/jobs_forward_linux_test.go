package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolhost/sandbox"
)

// forwarding is toolhost jobs forward, which runs.
type forwarding struct {
	cmd *exec.Cmd
	url string
}

var forwardedAt = regexp.MustCompile(`^(http://127\.0\.0\.1:\d+) leads to port`)

// forward runs toolhost jobs forward in another terminal.
func (a *escapeAttempt) forward(args ...string) *forwarding {
	a.t.Helper()
	f := &forwarding{cmd: a.jobsCommand(append([]string{"forward"}, args...)...)}
	out, err := f.cmd.StdoutPipe()
	if err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(f.end)
	line, err := bufio.NewReader(out).ReadString('\n')
	found := forwardedAt.FindStringSubmatch(line)
	if found == nil {
		a.t.Fatalf("forward %v says %q: %v", args, line, err)
	}
	f.url = found[1]
	return f
}

func (f *forwarding) end() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// fetch is the body at a URL, or the error.
func fetch(url string) string {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// serverJob starts a web server of the workspace and returns its job and port.
func (h *jobHost) serverJob(address string) (job string, port int) {
	h.t.Helper()
	job = h.background("exec python3 -m http.server --bind " + address + " 0").Job
	h.until("the server listens", func() bool {
		if j := h.job(job); j != nil && len(j.Ports) > 0 {
			port = j.Ports[0].Port
		}
		return port > 0
	})
	return job, port
}

// TestJobsForward: a port of a job's sandbox is reached from the machine while a person forwards it, and not otherwise.
func TestJobsForward(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "curl")
	r := jobTools(t)
	for _, who := range accounts(t) {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			a := r.jobArena(t, who, sandbox.Full)
			h := a.jobHost()
			a.write("ws/page", "PAGE\n")
			job, port := h.serverJob("127.0.0.1")
			if v := h.run(fmt.Sprintf("curl -sS http://localhost:%d/page", port)); !strings.Contains(v.says(), "PAGE") {
				t.Fatalf("a command does not reach it: %s", v.says())
			}
			of := "--session=" + h.session
			direct := fmt.Sprintf("http://127.0.0.1:%d/page", port)
			if strings.Contains(fetch(direct), "PAGE") {
				t.Fatal("the machine reaches it without a forward")
			}
			f := a.forward(job, of)
			for range 3 {
				if got := fetch(f.url + "/page"); got != "PAGE\n" {
					t.Errorf("%s: %s", f.url, got)
				}
			}
			if said, _ := a.said(a.jobsCommand("list", of)); !strings.Contains(said, strings.TrimPrefix(f.url, "http://")+"->") {
				t.Errorf("jobs does not show the forward: %s", said)
			}
			second := a.forward(fmt.Sprint(job, ":", port), "--as", freePort(t), of)
			if got := fetch(second.url + "/page"); got != "PAGE\n" || second.url == f.url {
				t.Errorf("%s: %s", second.url, got)
			}
			f.end()
			eventually(t, "the forward ends with its command", func() bool { return refusesConnection(f.url) })
			if got := fetch(second.url + "/page"); got != "PAGE\n" {
				t.Errorf("the other one ended, too: %s", got)
			}
			h.kill(job)
			eventually(t, "the forward ends with its job", func() bool { return refusesConnection(second.url) })
			if err := second.cmd.Wait(); err != nil {
				t.Errorf("forward of an ended job: %v", err)
			}
		})
	}
}

// TestJobsForwardRefused: no port is forwarded that the job does not listen on, or by a command of the agent or its client.
func TestJobsForwardRefused(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.Full)
	h := a.jobHost()
	job, port := h.serverJob("::1")
	of := "--session=" + h.session
	for _, c := range []struct{ job, want string }{
		{job + ":1", "does not listen on port 1"}, {job + ":70000", "from 1 to 65535"}, {"j99", "j99"},
	} {
		if said, code := a.said(a.jobsCommand("forward", c.job, of)); code == 0 || !strings.Contains(said, c.want) {
			t.Errorf("forward %s: exit %d: %s", c.job, code, said)
		}
	}
	inner := h.run(fmt.Sprintf("%s jobs forward %s; echo exit $?", a.toolhost, job))
	if strings.Contains(inner.says(), "leads to") || strings.Contains(inner.says(), "exit 0") {
		t.Errorf("a command of the agent forwards: %s", inner.says())
	}
	if err := h.Request("agenttool/forward", fields{"job": job, "port": port}, &struct{}{}, patience); err == nil || !strings.Contains(err.Error(), "only the user") {
		t.Errorf("the client forwards: %v", err)
	}
	f := a.forward(job, of) // of IPv6
	if got := fetch(f.url + "/"); !strings.Contains(got, "Directory listing") {
		t.Errorf("%s: %s", f.url, got)
	}
	h.murder()
	eventually(t, "the forward ends with its host", func() bool { return refusesConnection(f.url) })
}

func refusesConnection(url string) bool {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
	if err == nil {
		c.Close()
	}
	return err != nil
}

// freePort is a port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
