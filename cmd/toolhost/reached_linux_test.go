package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

// exchange is a server that reads as many bytes as it was told, answers with a number of its own, and closes the connection.
func exchange(t *testing.T, reads, answers int) (host string, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, c, int64(reads)); err == nil {
				_, _ = io.WriteString(c, strings.Repeat("a", answers))
			}
			c.Close()
		}
	}()
	at := l.Addr().(*net.TCPAddr)
	return at.IP.String(), at.Port
}

// through is a script that sends bytes to a host through the proxy, and reads all that comes back.
func through(host string, port, bytes int) string {
	return fmt.Sprintf(`proxy=${http_proxy##*@}; auth=$(printf %%s ${http_proxy#http://} | cut -d@ -f1 | tr -d '\n' | base64 -w0)
exec 9<>/dev/tcp/${proxy%%:*}/${proxy#*:}
printf 'CONNECT %[1]s:%[2]d HTTP/1.1\r\nHost: %[1]s:%[2]d\r\nProxy-Authorization: Basic %%s\r\n\r\n' "$auth" >&9
while read -r line <&9 && [ "$line" != $'\r' ]; do echo "$line"; done
head -c %[3]d /dev/zero | tr '\0' x >&9; cat <&9 | wc -c; exec 9>&-
`, host, port, bytes)
}

// visited are the hosts in a record of a call.
type visited []struct {
	Host     string
	Port     int
	Allowed  *bool
	Sent     int64 `json:"bytes_sent"`
	Received int64 `json:"bytes_received"`
}

func (r visited) String() string {
	var lines []string
	for _, h := range r {
		lines = append(lines, fmt.Sprint(h.Host, " ", h.Port, " ", *h.Allowed, " ", h.Sent, " ", h.Received))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestHostsOfCommands: the record of a command has the hosts that it reached, with the bytes both ways, and those that it was refused; the
// last record of a job has all that it reached while it ran.
func TestHostsOfCommands(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write(userSettings, `{"wall": {"wait": "0s"}}`)
	host, open := exchange(t, 1000, 5000)
	_, closed := exchange(t, 1, 1)
	h := a.serving(true, "--allow", "Shell(bash *)", "--allow", fmt.Sprintf("Network(%s:%d)", host, open)).confinedBy()
	a.write("ws/step.sh", through(host, open, 1000)+through(host, open, 1000)+through(host, closed, 1))
	a.write("ws/later.sh", through(host, open, 1000)+"echo up > up; until [ -e go ]; do sleep .01; done\n"+through(host, open, 1000))
	r := h.shell("bash step.sh").result()
	wanted := []string{fmt.Sprint(host, " ", open, " true 2000 10000"), fmt.Sprint(host, " ", closed, " false 0 0")}
	slices.Sort(wanted) // the kernel chooses the ports
	want := strings.Join(wanted, "\n")
	m := h.make("shell", fields{"command": "bash later.sh", "run_in_background": true})
	m.result()
	eventually(t, "the job has reached the host once", func() bool { return exists(a, "ws/up") })
	a.write("ws/go", "")
	var result, last visited
	eventually(t, "the job's end is recorded", func() bool {
		for _, rec := range h.records() {
			if rec.Data.Result.Call == r.Invocation.InvocationID {
				result = rec.Data.Result.Content.Hosts
			}
			if rec.Data.Progress.Status == "completed" {
				last = rec.Data.Progress.Hosts
			}
		}
		return last != nil
	})
	if got := result.String(); got != want {
		t.Errorf("the result has the hosts\n%s\nwant\n%s\n%s", got, want, r.says())
	}
	if got, want := last.String(), fmt.Sprintf("%s %d true 2000 10000", host, open); got != want {
		t.Errorf("the last record of the job has the hosts\n%s\nwant\n%s", got, want)
	}
	said, _ := a.said(a.command(a.toolhost, "log", "show", h.met.Session, "--call", m.id))
	if want := fmt.Sprintf("%s:%d (sent 2.0 KiB, received 9.8 KiB)", host, open); !strings.Contains(said, want) {
		t.Errorf("log show --call does not say %q:\n%s", want, said)
	}
	said, _ = a.said(a.command(a.toolhost, "log", "show", h.met.Session, "--network"))
	for _, want := range []string{fmt.Sprintf("%s:%d (sent 2.0 KiB, received 9.8 KiB)", host, open), fmt.Sprintf("%s:%d (kept from it)", host, closed)} {
		if !strings.Contains(said, want) {
			t.Errorf("log show --network does not say %q:\n%s", want, said)
		}
	}
}

// effectsRecord is the part of a record that says what a call reached.
type effectsRecord struct {
	Data struct {
		Result struct {
			Call    string `json:"invocation_id"`
			Content struct {
				Hosts   visited
				Changed fileChanges `json:"changed_files"`
			} `json:"structured_content"`
		}
		Progress struct {
			Status  string
			Hosts   visited
			Changed fileChanges `json:"changed_files"`
		}
	}
}

// records are those of the session's log.
func (h *approvalsHost) records() (all []effectsRecord) {
	h.t.Helper()
	said, code := h.a.said(h.a.command(h.a.toolhost, "log", "show", h.met.Session, "--json"))
	if code != 0 {
		h.t.Fatal(said)
	}
	for _, line := range strings.Split(strings.TrimSpace(said), "\n") {
		var r struct{ Event effectsRecord }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			h.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, r.Event)
	}
	return all
}
