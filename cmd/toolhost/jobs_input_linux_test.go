package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
)

// input answers a job.
func (h *jobHost) input(job string, more ...fields) *jobView {
	h.t.Helper()
	r := h.typed(job, more...)
	if r.Result.Status != "succeeded" {
		h.t.Fatalf("shell_input %s %v: %s: %s", job, more, r.Result.Status, r.says())
	}
	return r.view()
}

// typed is input that may be refused.
func (h *jobHost) typed(job string, more ...fields) *jobReply {
	h.t.Helper()
	input := fields{"job": job}
	for _, m := range more {
		for name, value := range m {
			input[name] = value
		}
	}
	return h.call("shell_input", input)
}

// waits starts a job that waits for input and returns it as it is when that was recognised.
func (h *jobHost) waits(command string, more ...fields) *jobView {
	h.t.Helper()
	begun := time.Now()
	r := h.run(command, more...)
	v := r.view()
	if r.Result.Status != "partial_succeeded" || r.Result.IsError {
		h.t.Fatalf("%s: %s: %s", command, r.Result.Status, r.says())
	}
	if v.State == "running" { // in the background
		v = h.output(v.Job, fields{"wait_ms": 50_000, "until": "exit"})
		v.Stdout = r.view().Stdout + v.Text
	} else if !strings.Contains(r.says(), "input") || !strings.Contains(r.says(), v.Job) {
		h.t.Errorf("%s: the text does not say that it waits: %s", command, r.says())
	}
	if v.State != "waiting_for_input" || v.WaitsFor == nil || v.WaitsFor.PID <= 0 || v.WaitsFor.Command == "" {
		h.t.Fatalf("%s: state %q, waits for %+v: %s", command, v.State, v.WaitsFor, r.says())
	}
	within(h.t, command+" waits", time.Since(begun), time.Second, patience)
	if j := h.job(v.Job); j == nil || j.State != "waiting_for_input" || j.WaitsFor == nil {
		h.t.Errorf("%s: status says %+v", command, j)
	}
	return v
}

var (
	onTTY = fields{"tty": true}
	aside = fields{"run_in_background": true}
)

// TestWaitsForInput: a job that waits for input is reported within a second, by what its processes do and not by what it
// said, and goes on with what it is given.
func TestWaitsForInput(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "perl")
	r := jobTools(t)
	const password = `read -p Password: word; echo "got [$word]"`
	type waiter struct {
		name, command string
		how           fields
		on, prompt    string
	}
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		inTurn(t, a, []waiter{
			{"read on a terminal", password, onTTY, "terminal", "Password:"},
			{"read on a terminal in the background", password, fields{"tty": true, "run_in_background": true}, "terminal", "Password:"},
			{"read in the foreground", password, nil, "stdin", ""},
			{"read in the background", password, aside, "stdin", ""},
			{"silent read on a terminal", `read -s -p Password: word; echo "got [$word]"`, onTTY, "terminal", "Password:"},
			{"read by a child", `bash -c 'read word; echo "got [$word]"; exit 0'; true`, aside, "stdin", ""},
			{"python", `python3 -c 'print("got [%s]" % input("Password:"))'`, onTTY, "terminal", "Password:"},
			{"python in the background", `python3 -c 'print("got [%s]" % input("Password:"))'`, aside, "stdin", ""},
			{"getpass", `python3 -c 'import getpass; print("got [%s]" % getpass.getpass())'`, onTTY, "terminal", "Password:"},
			{"from /dev/tty", `read -r word </dev/tty; echo "got [$word]"`, onTTY, "terminal", ""},
			{"a pipeline", `head -n1 | sed 's/.*/got [&]/'`, onTTY, "terminal", ""},
			{"perl", `perl -e '$|=1; print "?"; $_ = <STDIN>; chomp; print "got [$_]\n"'`, aside, "stdin", "?"},
			{"by poll", `python3 -c '
import os, select
p = select.poll(); p.register(0, select.POLLIN); p.poll()
print("got [%s]" % os.read(0, 99).decode().strip())'`, onTTY, "terminal", ""},
		}, func(c waiter) string { return c.name }, func(t *testing.T, h *jobHost, c waiter) {
			v := h.waits(c.command, c.how)
			if v.WaitsFor.On != c.on {
				t.Errorf("it waits on %q, want %q", v.WaitsFor.On, c.on)
			}
			if !strings.Contains(v.Stdout, c.prompt) {
				t.Errorf("it said %q", v.Stdout)
			}
			answer := fields{"text": "seCret\n", "wait_ms": 50_000}
			if c.on == "terminal" {
				answer = fields{"text": "seCret", "keys": []string{"enter"}, "wait_ms": 50_000}
			}
			got := h.input(v.Job, answer)
			if got.State != "ended" {
				got.Text += h.output(v.Job, fields{"until": "exit"}).Text
			}
			if !strings.Contains(got.Text, "got [seCret]") {
				t.Errorf("the answer: %+v", got)
			}
			if end := h.output(v.Job, fields{"until": "exit", "cursor": 0}); end.State != "ended" || end.ExitCode == nil || *end.ExitCode != 0 {
				t.Errorf("at its end: %+v", end)
			}
		})
	})
}

// on is the attempt for a subtest: a session of its own in the same place.
func (a *escapeAttempt) on(t testing.TB) *escapeAttempt {
	b := *a
	b.t = t
	return &b
}

// TestDoesNotWait: what looks like a prompt is none, and who computes, sleeps or waits for a child does not wait for input.
func TestDoesNotWait(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	r := jobTools(t)
	type asker struct {
		name, command, want string
		how                 fields
	}
	var rows []asker
	for _, c := range []struct{ name, command, want string }{
		{"a line that ends in >", `printf 'enter >'; sleep 1.2; echo done`, "enter >done"},
		{"a line that ends in $ and a space", `printf 'host$ '; sleep 1.2; echo done`, "host$ done"},
		{"a question", `printf 'Password: '; sleep 1.2; echo done`, "Password: done"},
		{"a prompt of python", `printf '>>> '; sleep 1.2; echo done`, ">>> done"},
		{"computing", `python3 -c 'import time; print("? ", end="", flush=True); e = time.time() + 1.2
while time.time() < e: pass
print("done")'`, "? done"},
		{"a socket", `python3 -c 'import select, socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
select.select([s], [], [], 1.2); print("done")'`, "done"},
		{"a pipe between children", `(sleep 1.2; echo done) | cat`, "done"},
	} {
		rows = append(rows, asker{c.name, c.command, c.want, nil}, asker{c.name + " on a terminal", c.command, c.want, onTTY},
			asker{c.name + " in the background", c.command, c.want, aside})
	}
	inTurn(t, r.jobArena(t, self, sandbox.Full), rows, func(c asker) string { return c.name }, func(t *testing.T, h *jobHost, c asker) {
		got := h.run(c.command, c.how)
		v := got.view()
		if c.how["run_in_background"] != nil {
			if end := h.output(v.Job, fields{"until": "exit"}); end.State != "ended" || !strings.Contains(v.Stdout+end.Text, c.want) {
				t.Errorf("%+v", end)
			}
			return
		}
		if got.Result.Status != "succeeded" || v.State != "ended" || strings.TrimSpace(v.Stdout) != c.want {
			t.Errorf("%s, %s: %q: %s", got.Result.Status, v.State, v.Stdout, got.says())
		}
	})
}

// TestPrograms that people talk to are talked to.
func TestPrograms(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	type program struct {
		name, command string
		how           fields
		say, want     string
		leave         fields
	}
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		inTurn(t, a, []program{
			{"python3", "python3 -q", onTTY, "1+1", "\n2", fields{"text": "exit()", "keys": []string{"enter"}}},
			{"python3 without a terminal", "python3 -i -q -u", aside, "1+1", "2", fields{"eof": true}},
			{"bash", "bash --norc", onTTY, "echo $((40+2))", "\n42", fields{"keys": []string{"ctrl-d"}}},
			{"node", "node", onTTY, "1+1", "2", fields{"keys": []string{"ctrl-d"}}},
			{"sqlite3", "sqlite3", onTTY, "select 1+1;", "\n2", fields{"text": ".quit", "keys": []string{"enter"}}},
			{"bc", "bc -q", onTTY, "1+1", "\n2", fields{"eof": true}},
			{"cat", "cat -u", onTTY, "hello", "hello\nhello", fields{"eof": true}},
			{"perl", `perl -e '$|=1; print "<$_>" while <STDIN>'`, aside, "hello", "<hello\n>", fields{"eof": true}},
			{"gdb", "gdb -q -nx", onTTY, "print 1+1", "$1 = 2", fields{"text": "quit", "keys": []string{"enter"}}},
		}, func(c program) string { return c.name }, func(t *testing.T, h *jobHost, c program) {
			needs(t, strings.Fields(c.command)[0])
			v := h.waits(c.command, c.how)
			line := fields{"text": c.say, "keys": []string{"enter"}, "wait_ms": 50_000}
			if c.how["tty"] == nil {
				line = fields{"text": c.say + "\n", "wait_ms": 50_000}
			}
			got := h.input(v.Job, line)
			said := got.Text
			h.until("it answers", func() bool {
				said += h.output(v.Job, fields{"wait_ms": 200}).Text
				return strings.Contains(said, c.want)
			})
			if got.State != "waiting_for_input" {
				if got = h.output(v.Job, fields{"until": "exit", "wait_ms": 50_000}); got.State != "waiting_for_input" {
					t.Errorf("after its answer: %+v", got)
				}
			}
			h.input(v.Job, c.leave)
			if end := h.output(v.Job, fields{"until": "exit"}); end.State != "ended" {
				t.Errorf("it does not leave: %+v", end)
			}
		})
	})
}

// TestKeys: each key sends what a terminal sends, and those that are signals are signals.
func TestKeys(t *testing.T) {
	t.Parallel()
	needs(t, "perl")
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	v := h.waits(`perl -e 'system "stty raw -echo"; $| = 1; print "up\r\n";
while (sysread STDIN, $c, 1) { last if $c eq "!"; $s .= unpack "H*", $c } print "$s\r\n"'`, onTTY)
	keys := []struct{ name, want string }{
		{"enter", "0d"}, {"tab", "09"}, {"escape", "1b"}, {"space", "20"}, {"backspace", "7f"}, {"delete", "1b5b337e"},
		{"up", "1b(5b|4f)41"}, {"down", "1b(5b|4f)42"}, {"right", "1b(5b|4f)43"}, {"left", "1b(5b|4f)44"},
		{"home", "1b(5b48|4f48|5b317e)"}, {"end", "1b(5b46|4f46|5b347e)"}, {"page-up", "1b5b357e"}, {"page-down", "1b5b367e"},
		{"f1", "1b(4f50|5b31317e)"}, {"f4", "1b(4f53|5b31347e)"}, {"f5", "1b5b31357e"}, {"f12", "1b5b32347e"},
		{"ctrl-a", "01"}, {"ctrl-c", "03"}, {"ctrl-z", "1a"}, {`ctrl-\`, "1c"},
	}
	want, names := "^up\nc3a90a", []string{}
	for _, k := range keys {
		want, names = want+k.want, append(names, k.name)
	}
	h.input(v.Job, fields{"text": "é\n", "keys": names, "wait_ms": 200})
	h.input(v.Job, fields{"text": "!"})
	if got := h.output(v.Job, fields{"cursor": 0, "until": "exit"}).Text; !regexp.MustCompile(want + "\n$").MatchString(got) {
		t.Errorf("the keys sent %q, want %s", got, want)
	}
	for name, c := range map[string]struct{ script, key, want string }{
		"interrupt": {`trap 'echo interrupted; exit 5' INT; echo up; while :; do sleep 0.1; done`, "ctrl-c", "interrupted"},
		"quit":      {`trap 'echo quit; exit 5' QUIT; echo up; while :; do sleep 0.1; done`, `ctrl-\`, "quit"},
		"eof":       {`echo up; cat; echo after`, "ctrl-d", "after"},
	} {
		v := h.background(c.script, onTTY)
		h.output(v.Job, fields{"until": "match:up", "cursor": 0})
		h.input(v.Job, fields{"keys": []string{c.key}})
		if end := h.output(v.Job, fields{"until": "exit", "cursor": 0}); end.State != "ended" || !strings.Contains(end.Text, c.want) {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// TestTerminal: a job on a terminal has one, of the size that was asked for, and nobody else's.
func TestTerminal(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		v := h.ran("test -t 0 && test -t 1 && test -t 2 && stty size && echo err >&2 && echo over >/dev/tty", fields{"tty": true, "columns": 101, "rows": 33})
		if v.Stdout != "33 101\nerr\nover\n" || v.Stderr != "" {
			t.Errorf("on a terminal: %q, %q", v.Stdout, v.Stderr)
		}
		if got := h.run("test -t 0 || test -t 1 || test -t 2 || { : </dev/tty; } 2>/dev/null"); got.Result.Status != "failed" {
			t.Errorf("without one: %s", got.says())
		}
		v = h.waits(`trap 'stty size' WINCH; while :; do read -t 0.1 x; [ "$x" = q ] && exit; [ -n "$once" ] || { echo up; once=1; read -r y; }; done`, onTTY)
		h.input(v.Job, fields{"columns": 55, "rows": 22, "keys": []string{"enter"}})
		h.until("it sees the new size", func() bool { return strings.Contains(h.output(v.Job, fields{"cursor": 0}).Text, "22 55") })
		h.kill(v.Job)
	})
}

// TestNoStdin: a job without an input says so, and what to do.
func TestNoStdin(t *testing.T) {
	t.Parallel()
	needs(t, "perl", "python3")
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	job := h.run("sleep 30", fields{"timeout_ms": 100}).view().Job
	got := h.typed(job, fields{"text": "x\n"})
	e := got.Result.Error
	helps := strings.Contains(e.Message, "tty") && strings.Contains(e.Message, "run_in_background")
	if e.Class != "invalid_arguments" || e.Code != "no_stdin" || !helps {
		t.Errorf("%s: %+v", job, e)
	}
	h.kill(job)
	if v := h.ran("readlink /proc/self/fd/0"); v.Stdout != "/dev/null\n" {
		t.Errorf("stdin in the foreground: %q", v.Stdout)
	}
	v := h.background(`perl -e 'print while <STDIN>; print "closed\n"'`)
	h.input(v.Job, fields{"text": "x\n", "eof": true})
	if end := h.output(v.Job, fields{"until": "exit", "cursor": 0}); end.Text != "x\nclosed\n" {
		t.Errorf("closed: %+v", end)
	}
	if got := h.typed(v.Job, fields{"text": "y\n"}); got.Result.Status == "succeeded" && got.view().State != "ended" {
		t.Errorf("input for what has ended: %s", got.says())
	}
	v = h.background("python3 -c 'import os, time; os.close(0); time.sleep(330)'")
	got = h.typed(v.Job, fields{"text": strings.Repeat("y\n", 200_000), "wait_ms": 100})
	within(t, "input that nobody reads", got.took, 20*time.Second, patience)
	v = h.background("python3 -c 'import time; time.sleep(340)'") // has a pipe, and does not read it
	got = h.typed(v.Job, fields{"text": strings.Repeat("y\n", 200_000), "wait_ms": 100})
	within(t, "input that is not read", got.took, 20*time.Second, patience)
	h.kill(v.Job)
}

// TestInputIsDecided: what is typed to a shell is decided like a command, what is typed to another interpreter is not
// understood, and all else is data.
func TestInputIsDecided(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	type talk struct {
		name, command string
		how           fields
		input         []fields // the last is what it is about
		asks          bool
	}
	inTurn(t, jobTools(t).jobArena(t, self, sandbox.Full), []talk{
		{"a reading command", "bash --norc", onTTY, []fields{{"text": "ls", "keys": []string{"enter"}}}, false},
		{"a reading command and its end of line", "bash --norc", onTTY, []fields{{"text": "ls -l file\n"}}, false},
		{"a removal", "bash --norc", onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a removal after a reading command", "bash --norc", onTTY, []fields{{"text": "ls\nrm -rf tree\n"}}, true},
		{"a write", "bash --norc", onTTY, []fields{{"text": "echo x > file\n"}}, true},
		{"a program that reads", "bash --norc", onTTY, []fields{{"text": "sh tree/file\n"}}, true},
		{"without a terminal", "bash", aside, []fields{{"text": "rm -rf tree\n"}}, true},
		{"reading without a terminal", "bash", aside, []fields{{"text": "cat file\n"}}, false},
		{"in two pieces", "bash --norc", onTTY, []fields{{"text": "echo x | tee "}, {"text": "ls\n"}}, true},
		{"a word in two pieces", "bash --norc", onTTY, []fields{{"text": "echo pristine > fil"}, {"text": "e\n"}}, true},
		{"continued", "bash --norc", onTTY, []fields{{"text": "echo x | tee \\\n"}, {"text": "ls\n"}}, true},
		{"from the history", "bash --norc", onTTY, []fields{{"text": "rm -rf tree/none\n"}, {"keys": []string{"up", "enter"}}}, true},
		{"searched for", "bash --norc", onTTY, []fields{
			{"text": "rm -rf tree/none\n"}, {"keys": []string{"ctrl-r"}}, {"text": "rm", "keys": []string{"enter"}},
		}, true},
		{"completed", "bash --norc", onTTY, []fields{{"text": "cat fi", "keys": []string{"tab", "enter"}}}, true},
		{"raw control characters", "bash --norc", onTTY, []fields{{"text": "\x1b[A\n"}}, true},
		{"an interrupt", "bash --norc", onTTY, []fields{{"keys": []string{"ctrl-c"}}}, false},
		{"an end", "bash --norc", onTTY, []fields{{"keys": []string{"ctrl-d"}}}, false},
		{"sh", "sh", onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a shell under another name", "exec -a cat bash --norc", onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"python", "python3 -q", onTTY, []fields{{"text": "1+1\n"}}, true},
		{"an interpreter in a shell", "bash --norc", onTTY, []fields{{"text": "python3 -q\n", "wait_ms": 50_000}, {"text": "ls\n"}}, true},
		{"cat", "cat", onTTY, []fields{{"text": "rm -rf tree\n"}}, false},
		{"head", "head -n 3", onTTY, []fields{{"text": "rm -rf tree\n"}}, false},
		{"a shell behind a program that hands on", "head -n 5 | bash", onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a shell in a substitution", `cat > >(bash)`, onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a shell behind a file", `mkfifo p; bash < p & cat > p`, onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a line that evaluates later", `read -r l; bash -c "$l"`, onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a program of the workspace by the name of one that asks", `cp "$(command -v bash)" cat; ./cat`, onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a line that evaluates what it reads", `while read -r l; do eval "$l"; done`, onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a line that runs what it reads", `. /dev/stdin`, onTTY, []fields{{"text": "rm -rf tree\n"}}, true},
		{"a line that asks", `read -r l; echo "$l"`, onTTY, []fields{{"text": "rm -rf tree\n"}}, false},
		{"a shell at the end of a pipe", "cat | bash", aside, []fields{{"text": "rm -rf tree\n"}}, true},
	}, func(c talk) string { return c.name }, func(t *testing.T, h *jobHost, c talk) {
		h.answers("allow")
		v := h.waits(c.command, c.how)
		for _, before := range c.input[:len(c.input)-1] {
			h.input(v.Job, before)
		}
		h.answers("deny")
		got := h.typed(v.Job, c.input[len(c.input)-1])
		if asked := h.asked(got) > 0; asked != c.asks {
			t.Errorf("asked: %v, want %v: %s", asked, c.asks, got.says())
		}
		if c.asks == (got.Result.Status == "succeeded") {
			t.Errorf("%s: %s", got.Result.Status, got.says())
		}
		a := h.a
		if b, err := os.ReadFile(a.path("ws/tree/file")); err != nil || string(b) != "pristine\n" || a.read("ws/file") != "pristine\n" || exists(a, "ws/ls") {
			t.Error("what was refused was done")
		}
		h.kill(v.Job, fields{"grace_ms": 0})
	})
}

// TestPagerIsNoShell: what a pager can do besides showing is not done unasked, though the command that starts it only reads.
func TestPagerIsNoShell(t *testing.T) {
	t.Parallel()
	needs(t, "less", "more")
	r := jobTools(t)
	type keys struct{ name, command, text string }
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		a.write("ws/long", strings.Repeat("a line\n", 4000))
		inTurn(t, a, []keys{
			{"a command", "less long", "!touch made\n"},
			{"a pipe", "less long", "|^touch made\n"},
			{"a save", "cat long | less", "smade\n"},
			{"another file", "less long", ":e ../outside/file\n"},
			{"an editor", "less long", "v"},
			{"a command of more", "more long", "!touch made\n"},
		}, func(c keys) string { return c.name }, func(t *testing.T, h *jobHost, c keys) {
			h.answers("allow")
			v := h.waits(c.command, onTTY)
			h.answers("deny")
			got := h.typed(v.Job, fields{"text": c.text, "wait_ms": 700})
			if exists(a, "ws/made") || strings.Contains(got.says(), "pristine") {
				t.Errorf("it was done, asked %d times: %s", h.asked(got), cut.Characters(got.says(), 500))
			}
			h.kill(v.Job, fields{"grace_ms": 0})
		})
	})
}

// TestAnswersNameNothing: an answer that says what is read or written is asked for: whoever approved the question did not know it.
func TestAnswersNameNothing(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	type question struct{ name, command, text string }
	inTurn(t, r.jobArena(t, self, sandbox.None), []question{
		{"a file to write", `read -r x; echo y > "$x"`, "made\n"},
		{"a file to read", `read -r x; cat "$x"`, "../outside/file\n"},
		{"a place to look", `read -r x; cd "$x"; cat file`, "../outside\n"},
		{"a file to remove", `read -r x; rm -rf "$x"`, "tree\n"},
		{"a program", `read -r x; $x`, "touch made\n"},
		{"a subscript", `read -r x; echo $((x))`, "a[$(touch made)]\n"},
		{"a name of a key", "ssh-keygen -t ed25519 -N ''", "made\n"},
	}, func(c question) string { return c.name }, func(t *testing.T, h *jobHost, c question) {
		needs(t, "ssh-keygen")
		h.answers("allow")
		v := h.waits(c.command, onTTY)
		h.answers("deny")
		got := h.typed(v.Job, fields{"text": c.text, "wait_ms": 700})
		if h.asked(got) == 0 || exists(h.a, "ws/made") || !exists(h.a, "ws/tree/file") || strings.Contains(got.says(), "pristine") {
			t.Errorf("asked %d times: %s", h.asked(got), cut.Characters(got.says(), 500))
		}
		h.kill(v.Job, fields{"grace_ms": 0})
	})
}

// TestInputByRule: a rule for an interpreter starts it unasked; what is typed to it is asked for. Deny rules hold for what is
// typed to a shell.
func TestInputByRule(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.Full)
	h := a.jobHost("--allow", "Shell(python3 *)", "--allow", "Shell(bash *)", "--allow", "Shell(touch *)", "--allow", "Write(made)")
	h.answers("deny")
	started := h.run("python3 -q", onTTY)
	if started.view().State != "waiting_for_input" || h.asked(started) != 0 {
		t.Fatalf("python3 was asked for %d times: %s", h.asked(started), started.says())
	}
	if got := h.typed(started.view().Job, fields{"text": "1+1\n"}); h.asked(got) != 1 {
		t.Errorf("input to python3 was asked for %d times: %s", h.asked(got), got.says())
	}
	shell := h.run("bash --norc", onTTY)
	if got := h.typed(shell.view().Job, fields{"text": "touch made\n", "wait_ms": 2000}); h.asked(got) != 0 || got.Result.Status != "succeeded" {
		t.Errorf("what a rule allows was asked for %d times: %s", h.asked(got), got.says())
	}
	h.until("it was done", func() bool { return exists(a, "ws/made") })
	if got := h.typed(shell.view().Job, fields{"text": "touch other; rm -rf tree\n"}); h.asked(got) != 1 || exists(a, "ws/other") {
		t.Errorf("what no rule covers was asked for %d times: %s", h.asked(got), got.says())
	}
}
